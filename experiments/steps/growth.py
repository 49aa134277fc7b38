"""The step that probes every snapshot of a run, and of the run that it began with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from analysis.measures.probe_text import ProbeConfig, ProbeText
from analysis.measures.probing import Probes, growth
from analysis.records.measurement import Measurement
from analysis.tasks.catalog import task
from derive.errors import BadInput
from derive.languages import Languages
from derive.task_data import TaskFolder
from experiments.step import Machine, Step
from experiments.steps.evaluation import Evaluation
from experiments.steps.pretraining import Pretrain
from experiments.steps.task_data import DeriveTask
from pretrain.snapshots import snapshots_of


@dataclass(frozen=True)
class Growth(Evaluation):
    """What the languages have in common at each snapshot, on text that the run holds out and on a task's examples.

    `began` is the run of the model that this one begins with, where the study has it.
    """

    examples: DeriveTask
    config: ProbeConfig
    began: Pretrain | None = None

    format: ClassVar[int] = 2

    @property
    def measure(self) -> str:
        return "growth"

    @property
    def needs(self) -> tuple[Step, ...]:
        return (*super().needs, self.examples, *([self.began] if self.began else []))

    @property
    def decided_by(self) -> dict[str, Any]:
        examples = self.examples.language(self.run.language)
        return {**super().decided_by, "task": self.examples.task, "examples": examples, "probe": self.config}

    def measured(self, machine: Machine) -> Measurement:
        run = self.run
        if not (share := run.mixture.held_out):
            raise BadInput("a run that holds no text out: mixture.held_out is 0", run.folder)
        snapshots, languages = dict(self._snapshots()), Languages.open(run.data.folder, run.languages)
        its, examples = task(self.examples.task), TaskFolder.open(self.examples.folder)
        text = ProbeText.of(languages.whole, share, run.model.length, its, examples, self.config)
        report = partial(machine.report, self.title)
        return growth(self.model(machine), Probes(text, its.name, self.config), snapshots, report)

    def _snapshots(self) -> Iterator[tuple[int, Path]]:
        """Steps and files, ascending: those of the model that this one begins with, but for its last, come first.

        Raises:
            BadInput: a run has none, or one of them has changed.
        """
        if self.began:
            made = self.began.open()
            steps = list(snapshots_of(made).items())[:-1]
            yield from ((self.began.steps_before + step, made.path(name)) for step, name in steps)
        made = self.run.open()
        yield from ((self.run.steps_before + step, made.path(name)) for step, name in snapshots_of(made).items())
