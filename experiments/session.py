"""Studies from Python: `calque.study(...)` and `calque.records(...)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calque.experiments.names import study
from calque.experiments.override import override
from calque.experiments.progress import board
from calque.experiments.report import summarise
from calque.experiments.report_records import joined_rows
from calque.experiments.runs import describe
from calque.experiments.schedule import compute
from calque.experiments.study import Study


@dataclass(frozen=True)
class StudySession:
    """A study with its settings, and the folder for its results."""

    study: Study
    runs: Path
    settings: tuple[str, ...] = ()

    @classmethod
    def open(cls, name: str, settings: Sequence[str], runs: Path) -> StudySession:
        """The study of that name, or of that Python file, with `settings` applied."""
        return cls(override(study(name), settings), runs, tuple(settings))

    @property
    def report(self) -> Path:
        """The folder of the report, which may not exist yet."""
        return self.study.report(self.runs, bool(self.settings))

    def run(self, jobs: int | None = None) -> Path:
        """Compute unfinished steps, write the report, and return its folder. `jobs` steps are computed in parallel, by
        default all that fit the cores; a script with more than one needs the usual `if __name__ == "__main__"`."""
        steps = self.study.steps(self.runs)
        with board(steps, title=self.study.name) as shown:
            compute(steps, self.study.home(self.runs), jobs, shown.report, watch=shown.watch)
        command = f"calque.study({self.study.name!r}, {list(self.settings)}).run()"
        about = describe(self.study, self.runs, self.settings, command=command)
        summarise(self.study, self.runs, self.report, about)
        return self.report

    def records(self) -> list[dict[str, Any]]:
        """The records of the report."""
        return joined_rows(self.report)
