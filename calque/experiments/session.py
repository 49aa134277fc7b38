"""Study sessions, through which the command line and `calque.study(...)` run studies."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from calque.derive.errors import BadInput
from calque.experiments.settings.catalogue import named_study, study_time

if TYPE_CHECKING:
    from calque.analysis.checkpoint import Checkpoint
    from calque.experiments.report.folder import About
    from calque.experiments.report.outcome import Outcome
    from calque.experiments.run.slurm import Slurm
    from calque.experiments.run.step import Stage, Step
    from calque.experiments.settings.sweep import Sweep
    from calque.experiments.study import Study

STAGES: tuple[Stage, ...] = ("derive", "pretrain", "evaluate")


@dataclass(frozen=True)
class StudySession:
    """A study or sweep, with its settings, results folder and report name."""

    study: Study | Sweep
    runs: Path
    settings: tuple[str, ...] = ()
    name: str = ""

    @classmethod
    def open(
        cls, name: str, settings: Sequence[str], runs: Path, sweep: Sequence[str] = (), title: str = ""
    ) -> StudySession:
        """Open a study by its name or Python file, and apply `settings`. Entries of `sweep`, such as
        `seeds=0;1`, define variants of the study. `title` is the report's name."""
        named = named_study(name)  # before slow imports, so that an unknown name is reported at once
        from calque.experiments.settings.override import override
        from calque.experiments.settings.sweep import Sweep

        changed = override(named, settings)
        return cls(Sweep.read(changed, sweep) if sweep else changed, runs, tuple(settings), title)

    @cached_property
    def report(self) -> Path:
        from calque.experiments.report.folder import named_report

        if self.name:
            return named_report(self.runs, self.describe())
        return self.study.report(self.runs, bool(self.settings))

    @property
    def steps(self) -> list[Step]:
        return self.study.steps(self.runs)

    def describe(self, command: str = "") -> About:
        """Describe the report by its configuration and provenance; `command` defaults to the command line."""
        from calque.experiments.report.folder import describe

        return describe(self.study, self.runs, self.settings, self.name, command)

    def compute(
        self,
        stages: Sequence[Stage] = STAGES,
        jobs: int | None = None,
        change: bool = False,
        quiet: bool = False,
        engine: Slurm | None = None,
    ) -> str:
        """Compute the unfinished steps in the given stages or, with `engine`, those of all stages in cluster
        jobs. Return the elapsed time, or "" if all steps were already finished. `jobs` steps run in parallel,
        by default on all cores. `change` allows work to resume in a changed environment."""
        from calque.experiments.run.places import note_use
        from calque.experiments.run.progress import board
        from calque.experiments.run.schedule import compute, first_process, side_by_side

        all_steps, start = self.steps, monotonic()
        if first_process():
            note_use(self.report, self.runs, [step.folder for step in all_steps])
        steps = [step for step in all_steps if step.stage in stages]
        finished = sum(step.finished for step in steps)
        title = self.study.name
        if stages == STAGES and not (finished or self.settings or self.study.options):
            time = study_time(self.study.name)
            title += f", {time} on two cores" if time else ""
        parallel = None if engine else side_by_side(steps, jobs)
        with board(steps, quiet or not first_process(), title, parallel) as progress:
            if engine:
                engine.compute(progress.watch, lambda line: None if quiet else print(line, file=sys.stderr))
            else:
                compute(steps, self.study.home(self.runs), jobs, progress.report, change, progress.watch)
        if finished == len(steps):
            return ""
        before = f"; {finished} of {len(steps)} steps were finished before" if finished else ""
        return f"{timedelta(seconds=round(monotonic() - start))}{before}"

    def summarise(self, about: About) -> Outcome:
        """Write the report. Raises BadInput if a step is not finished."""
        from calque.experiments.report.folder import keep_stored
        from calque.experiments.report.report import summarise
        from calque.experiments.run.step import COMPUTE, total_cost

        steps, folder = self.steps, self.report
        if titles := [step.title for step in steps if not step.finished]:
            remainder = [f"and {len(titles) - 3} more"] if titles[3:] else []
            message = f"not computed yet: {', '.join([*titles[:3], *remainder])}; `calque run` computes them"
            raise BadInput(message, self.runs / self.study.name)
        if "wall" not in about:
            about = keep_stored(folder, about)
        return summarise(self.study, self.runs, folder, {**about, COMPUTE: total_cost(steps)})

    def run(self, jobs: int | None = None) -> Path:
        """Compute unfinished steps, write the report, and return its folder. `jobs` steps run in parallel, by
        default on all cores; a script that uses several jobs needs `if __name__ == "__main__"`."""
        sweep = f", sweep={self.study.options}" if self.study.options else ""
        command = f"calque.study({self.study.name!r}, {list(self.settings)}{sweep}).run()"
        about, wall = self.describe(command), self.compute(jobs=jobs)
        self.summarise({**about, "wall": wall} if wall else about)
        return self.report

    def records(self) -> Any:
        from calque import records

        return records(self.report)

    def models(self) -> dict[str, Checkpoint]:
        """Load the trained models, keyed by name, such as `trans.inv/MLM/seed-0`. Models with the same name,
        such as runs of one objective with different numbers of steps, are keyed by folder. Raises BadInput if
        a model is not trained yet."""
        from calque.analysis.checkpoint import Checkpoint

        steps, home = self.study.trained(self.runs), self.study.home(self.runs)
        if missing := [step.title for step in steps if not step.finished]:
            raise BadInput(f"not computed yet: {missing[0]}; run() computes it")
        places, models = [step.place.relative_to(home) for step in steps], {}
        for place, step in zip(places, steps, strict=True):
            path = place if places.count(place) == 1 else step.folder.relative_to(home)
            models[path.as_posix()] = Checkpoint.open(step.folder / "checkpoint")
        return models


def swept(key: str, values: Sequence[Any]) -> str:
    """Return a swept setting as written on the command line, as in `seeds=0,1;2,3`."""
    written = (
        ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value) for value in values
    )
    return f"{key}={';'.join(written)}"
