"""Studies from Python: `calque.study(...)` and `calque.records(...)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calque.analysis.records.json_rows import as_json
from calque.experiments.names import study
from calque.experiments.override import override
from calque.experiments.progress import board
from calque.experiments.report import read_records, summarise
from calque.experiments.schedule import compute
from calque.experiments.study import Study


@dataclass(frozen=True)
class StudySession:
    """A study with its settings, and the folder for its results."""

    study: Study
    runs: Path
    changed: bool

    @classmethod
    def open(cls, name: str, settings: Sequence[str], runs: Path) -> StudySession:
        """The study of that name, or of that Python file, with `settings` applied."""
        return cls(override(study(name), settings), runs, bool(settings))

    @property
    def report(self) -> Path:
        """The folder of the report, which may not exist yet."""
        return self.study.report(self.runs, self.changed)

    def run(self, jobs: int | None = None) -> Path:
        """Compute unfinished steps, write the report, and return its folder.

        Args:
            jobs: the number of steps to compute in parallel, by default all that fit the cores. A script that uses more
                than one needs the usual `if __name__ == "__main__"`.
        """
        steps = self.study.steps(self.runs)
        with board(steps, title=self.study.name) as shown:
            compute(steps, self.study.home(self.runs), jobs, shown.report, watch=shown.watch)
        summarise(self.study, self.runs, self.report)
        return self.report

    def records(self) -> list[dict[str, Any]]:
        """The records of the report."""
        return joined_rows(self.report)


def joined_rows(folder: Path) -> list[dict[str, Any]]:
    """The records of a report, one dict per number, with fields of its run: study, seed, objective, start, mixture and
    the settings of a sweep."""
    all_runs, records, _ = read_records(folder)
    runs, rows = {run.id: run for run in all_runs}, []
    for record in records:
        run = runs[record.run]
        of_run: dict[str, Any] = {
            "study": run.study,
            "seed": run.seed,
            "objective": run.objective.name if run.objective else "",
            "start": run.start.objective.name if run.start else "",
            "mixture": run.mixture.name if run.mixture else "",
            **run.settings,
        }
        measured = {"language": "", "task": "", "split": "", "layer": None, "step": 0, "count": 0, **as_json(record)}
        rows.append(of_run | measured)
    return rows
