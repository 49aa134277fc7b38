"""The Python interface: `calque.study(...)` and `calque.records(...)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calque.derive.errors import BadInput
from calque.experiments.report.folder import describe, joined_rows, named
from calque.experiments.report.report import summarise, summarise_sweep
from calque.experiments.run.progress import board
from calque.experiments.run.schedule import compute
from calque.experiments.run.shared import note_use
from calque.experiments.run.spent import COMPUTE, total
from calque.experiments.settings.catalogue import study
from calque.experiments.settings.override import override
from calque.experiments.settings.sweep import Sweep
from calque.experiments.study import Study

if TYPE_CHECKING:
    from calque.analysis.checkpoint import Checkpoint

Swept = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class StudySession:
    """A study or sweep, with its settings, results folder and report name."""

    study: Study | Sweep
    runs: Path
    settings: tuple[str, ...] = ()
    name: str = ""

    @classmethod
    def open(cls, name: str, settings: Sequence[str], runs: Path, sweep: Swept, title: str) -> StudySession:
        """Open a study by its name or Python file, with `settings` applied; `title` is its report's name."""
        changed = override(study(name), settings)
        options = [f"{key}={';'.join(map(_written, values))}" for key, values in sweep.items()]
        return cls(Sweep.read(changed, options) if options else changed, runs, tuple(settings), title)

    @property
    def report(self) -> Path:
        """The report's folder, which may not exist yet."""
        if self.name:
            return named(self.runs, self._about(), self.name)
        return self.study.report(self.runs, bool(self.settings))

    def run(self, jobs: int | None = None) -> Path:
        """Compute unfinished steps, write the report, and return its folder. `jobs` steps run in parallel, by
        default on all cores; a script with several jobs needs `if __name__ == "__main__"`."""
        steps, folder, about = self.study.steps(self.runs), self.report, self._about()
        note_use(folder, self.runs, steps)
        with board(steps, title=self.study.name) as shown:
            compute(steps, self.study.home(self.runs), jobs, shown.report, watch=shown.watch)
        about = {**about, COMPUTE: total(steps)}
        if isinstance(self.study, Sweep):
            summarise_sweep(self.study, self.runs, folder, about)
        else:
            summarise(self.study, self.runs, folder, about)
        return folder

    def records(self) -> Any:
        """Return the report's records, as `calque.records` does."""
        return frame(joined_rows(self.report))

    def models(self) -> dict[str, Checkpoint]:
        """Load the trained models by name, such as `trans.inv/MLM/seed-0`, or by folder if several share a
        name, as when a run continues a shorter one. Raises BadInput if a model is not trained yet."""
        from calque.analysis.checkpoint import Checkpoint

        steps = self.study.trained(self.runs)
        if missing := [step.title for step in steps if not step.finished]:
            raise BadInput(f"not computed yet: {missing[0]}; run() computes it")
        titles = [step.title.partition(" ")[2] for step in steps]
        models = {}
        for title, step in zip(titles, steps, strict=True):
            folder = step.folder.relative_to(self.study.home(self.runs)).as_posix()
            name = title if titles.count(title) == 1 else folder
            models[name] = Checkpoint.open(step.folder / "checkpoint")
        return models

    def _about(self) -> Mapping[str, Any]:
        sweep = self.study.options if isinstance(self.study, Sweep) else []
        more = f", sweep={sweep}" if sweep else ""
        command = f"calque.study({self.study.name!r}, {list(self.settings)}{more}).run()"
        return describe(self.study, self.runs, self.settings, sweep, self.name, command)


def _written(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def frame(rows: list[dict[str, Any]]) -> Any:
    """Return the rows as a DataFrame if pandas is installed, otherwise unchanged."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
