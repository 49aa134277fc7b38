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
from calque.experiments.report import recorded, summarise
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
        """The folder of the report, whether it is there yet or not."""
        return self.study.report(self.runs, self.changed)

    def run(self, jobs: int | None = None) -> Path:
        """Compute what is not finished, write the report, and return its folder.

        Args:
            jobs: steps computed in parallel, by default as many as the cores allow. A script that uses more than one
                needs the usual `if __name__ == "__main__"`.
        """
        steps = self.study.steps(self.runs)
        with board(steps) as shown:
            compute(steps, self.study.home(self.runs), jobs, shown.report, watch=shown.watch)
        summarise(self.study, self.runs, self.report)
        return self.report

    def records(self) -> list[dict[str, Any]]:
        """The records of the report."""
        return joined_rows(self.report)


def joined_rows(folder: Path) -> list[dict[str, Any]]:
    """The records of a report, one dict per number, with the fields of the run that each is of: its study, seed,
    objective, start, mixture and the settings of a sweep."""
    _, results = recorded(str(folder), folder)
    rows = []
    for record in results.records:
        run = results.runs[record.run]
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
