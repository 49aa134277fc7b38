"""Study sessions, through which the command line and `calque.study(...)` run studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from calque.analysis.checkpoint import Checkpoint
from calque.analysis.measures.interventions import SourceTuned
from calque.analysis.records.record import MeasuredModel
from calque.derive.errors import BadInput, unknown
from calque.derive.fingerprint import fingerprint
from calque.experiments.report import folder
from calque.experiments.report.summary import scale_of
from calque.experiments.run.places import REPORT
from calque.experiments.run.progress import board
from calque.experiments.run.schedule import compute
from calque.experiments.run.step import COMPUTE, Stage, Step, first_process, total_cost
from calque.experiments.settings.override import Swept, Variant, read_sweep, variants
from calque.experiments.study import Study
from calque.experiments.study.measures import derived_task
from calque.experiments.study.models import checkpoint_of
from calque.experiments.study.study import distinct

if TYPE_CHECKING:
    from calque.experiments.report.report import Outcome

STAGES: tuple[Stage, ...] = ("derive", "pretrain", "evaluate")


@dataclass(frozen=True)
class StudySession:
    """A study, with its results folder, its changed settings and its report's name. Each entry of `sweep`,
    such as `seeds=0;1`, gives several values of a setting; every combination is a variant of the study."""

    study: Study
    runs: Path
    settings: tuple[str, ...] = ()
    name: str = ""
    sweep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _ = self.variants  # rejects invalid values before anything is computed

    @cached_property
    def swept(self) -> Swept:
        return read_sweep(self.sweep)

    @cached_property
    def variants(self) -> list[Variant]:
        """Each combination of swept values, with the study; without a sweep, the study itself."""
        return variants(self.study, self.swept)

    @property
    def studies(self) -> list[Study]:
        return [study for _, study in self.variants]

    @property
    def home(self) -> Path:
        return self.study.home(self.runs)

    @cached_property
    def steps(self) -> list[Step]:
        """All steps, from derivation to evaluation, in an order in which they can be run."""
        return distinct(step for study in self.studies for step in study.steps(self.runs))

    @property
    def trained(self) -> list[Step]:
        """The pretraining steps, shipped or not."""
        return distinct(step for study in self.studies for step in study.trained(self.runs))

    @cached_property
    def report(self) -> Path:
        """The report's folder; a changed study without a name gets its own folder."""
        if self.name:
            return folder.named_report(self.runs, self.about)
        changed = f"-{self.about['configuration']}" if self.settings or self.sweep else ""
        return self.runs / self.study.name / f"{REPORT}{changed}"

    @cached_property
    def about(self) -> folder.About:
        """The report's description. Its configuration is a fingerprint of all steps."""
        folders = [[step.folder.name for step in study.steps(self.runs)] for study in self.studies]
        return {
            "study": self.study.name,
            "name": self.name,
            "report": self.study.paper,
            "scale": scale_of(self.studies),
            "settings": list(self.settings),
            "sweep": list(self.sweep),
            "seeds": list(dict.fromkeys(seed for study in self.studies for seed in study.seeds)),
            "configuration": fingerprint(self.swept, folders) if self.sweep else fingerprint(*folders),
            **folder.provenance(),
        }

    def reserve(self) -> None:
        """Record the report's steps; raise BadInput if another report has its name."""
        folder.reserve(self.report, self.about, [step.folder.relative_to(self.home) for step in self.steps])

    def compute(self, stages: Sequence[Stage] = STAGES, jobs: int | None = None, change: bool = False) -> str:
        """Compute the unfinished steps in the given stages; return the elapsed time, or "". `jobs` steps run
        in parallel (default: all cores); `change` resumes in a changed environment."""
        start = monotonic()
        if first_process():
            self.reserve()
        steps = [step for step in self.steps if step.stage in stages]
        finished = sum(step.finished for step in steps)
        with board(steps, self.study.name) as progress:
            compute(steps, self.home, jobs, progress.report, change)
        if finished == len(steps):
            return ""
        before = f"; {finished} of {len(steps)} steps were finished before" if finished else ""
        return f"{timedelta(seconds=round(monotonic() - start))}{before}"

    def summarise(self, wall: str = "", command: str = "") -> Outcome:
        """Write the report with the elapsed time and the command. Raises BadInput for unfinished steps."""
        from calque.experiments.report.report import summarise

        report = self.report  # a name that is taken is reported first
        _check_finished(self.steps, self.runs / self.study.name)
        about = {**self.about, "command": command} if command else self.about
        about = {**about, "wall": wall} if wall else folder.keep_stored(report, about)
        return summarise(self.variants, self.runs, report, {**about, COMPUTE: total_cost(self.steps)})

    def run(self, jobs: int | None = None) -> Path:
        """Compute unfinished steps, write the report, and return its folder. `jobs` steps run in parallel, by
        default on all cores; a script that uses several jobs needs `if __name__ == "__main__"`."""
        arguments = [repr(self.study.name), *map(repr, self.settings)]
        arguments += [f"sweep={dict(self.swept)}"] if self.sweep else []
        self.summarise(self.compute(jobs=jobs), f"calque.study({', '.join(arguments)}).run()")
        return self.report

    def records(self) -> Any:
        from calque import records

        return records(self.report)

    def models(self) -> dict[str, Checkpoint]:
        """Load the trained models, keyed by name, such as `trans.inv/MLM/seed-0`. Models with the same name,
        such as runs of one objective with different numbers of steps, are keyed by folder. Raises BadInput if
        a model is not trained yet."""
        _check_finished(self.trained, self.runs)
        places, models = [step.place for step in self.trained], {}
        for step in self.trained:
            path = step.place if places.count(step.place) == 1 else step.folder
            models[path.relative_to(self.home).as_posix()] = Checkpoint.open(checkpoint_of(step))
        return models

    def finetune(self, model: str, task: str = "pos") -> SourceTuned:
        """Fine-tune a trained model, such as `trans.inv/MLM/seed-0`, on a tagging task's source examples, as
        the study does. By default, the result's `score` measures zero-shot transfer. Raises BadInput if the
        model or the task is unknown or not computed yet.

        >>> tuned = study.finetune("trans.inv/MLM/seed-0")  # doctest: +SKIP
        >>> tuned.score().value < tuned.score(tuned.rows().source).value  # doctest: +SKIP
        True
        """
        models = {trained.name: trained for trained in self.study.models(self.runs)}
        for kind, name, known in (("model", model, models), ("task", task, self.study.tasks)):
            if name not in known:
                raise BadInput(unknown(kind, name, known))
        trained = models[model]
        run = MeasuredModel(trained.checkpoint, trained.run.id, trained.language, trained.run.seed)
        return SourceTuned(run, derived_task(trained, task))


def _check_finished(steps: Sequence[Step], place: Path) -> None:
    if titles := [step.title for step in steps if not step.finished]:
        names = ", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if titles[3:] else "")
        raise BadInput(f"not computed yet: {names}; `calque run` computes them", place)


def swept(key: str, values: Sequence[Any]) -> str:
    """Return a swept setting as written on the command line, as in `seeds=0,1;2,3`."""
    written = (
        ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value) for value in values
    )
    return f"{key}={';'.join(written)}"
