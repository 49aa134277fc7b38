"""The step that probes every snapshot of a run, and of the run that it began with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch

from analysis.measures.probe_text import ProbeConfig, ProbeText
from analysis.measures.probing import Probes, beside_untrained, model_with_head
from analysis.records.record import Record
from analysis.tasks.catalog import task
from derive.errors import BadInput
from derive.languages import Languages
from derive.task_data import TaskFolder
from experiments.step import Machine, Step
from experiments.steps.evaluation import Evaluation
from experiments.steps.pretraining import Pretrain
from experiments.steps.task_data import DeriveTask
from pretrain.checkpoint import load_snapshot, snapshots_of


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

    def measured(self, machine: Machine) -> list[Record]:
        run, device = self.run, machine.world.device
        snapshots = list(self._snapshots())
        languages = Languages.open(run.data.folder, run.languages)
        share, asked = run.mixture.held_out, task(self.examples.task)
        if not share:
            raise BadInput("a run that holds no text out: mixture.held_out is 0", run.folder)
        examples = TaskFolder.open(self.examples.folder)
        text = ProbeText.of(languages.whole, share, run.model.length, asked, examples, self.config)
        probes, model, records = Probes(text, asked.name, self.config), model_with_head(run.checkpoint), []
        torch.nn.Module.to(model, device)
        for done, (step, path) in enumerate(snapshots, start=1):
            load_snapshot(model, path)
            records += probes(model, Record(run.folder.name, "", "", 0.0, 0, step=step))
            machine.report(self.title, done, len(snapshots))
        return beside_untrained(records)

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
