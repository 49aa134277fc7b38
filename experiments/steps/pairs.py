"""The steps that measure a model of several languages: each language, and ordered pairs of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from analysis.measures.alignment import Types, alignments_of_checkpoint
from analysis.measures.contextual import pair_records
from analysis.measures.held_out import held_out_records
from analysis.records.record import READ, Record
from analysis.tasks.transfer import PretrainedRun, evaluate_pairs
from derive.language import SOURCE
from derive.languages import Languages
from derive.task_data import TaskFolder
from experiments.step import Machine
from experiments.steps.evaluation import Evaluation, OnTask

Pair = tuple[str, str]


@dataclass(frozen=True)
class Reading(Evaluation):
    """How much of each language the model has read, and its loss on text of it that it has not."""

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return "reading"

    def measured(self, machine: Machine) -> list[Record]:
        run = self.run
        shown, ids, step = run.open().facts["shown"], run.model.length - 1, run.all_steps
        records = []
        for language in (SOURCE, *run.languages):
            rows = int(shown[language]["rows"])
            values = {"ids": float(rows * ids), "epochs": float(shown[language]["epochs"])}
            records += [
                Record(run.folder.name, READ, metric, value, rows, language=language, step=step)
                for metric, value in values.items()
            ]
        languages = Languages.open(run.data.folder, run.languages)
        share, device = run.mixture.held_out, machine.world.device
        return records + held_out_records(run.checkpoint, languages, share, run.folder.name, step, device)


@dataclass(frozen=True)
class OfPairs(Evaluation):
    """Records of some ordered pairs of the model's languages."""

    pairs: tuple[Pair, ...]

    @property
    def decided_by(self) -> dict[str, Any]:
        return {**super().decided_by, "pairs": self.pairs}

    @property
    def languages(self) -> Languages:
        """Those that the model knows, and what it was told of them."""
        return self.run.mixture.of(Languages.open(self.run.data.folder, self.run.languages))


@dataclass(frozen=True)
class PairAlignment(OfPairs):
    """alignment@1 from the first language of each pair to the second."""

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return "alignment"

    def measured(self, machine: Machine) -> list[Record]:
        run, languages = self.run, self.languages
        types = [Types.between(languages, *pair) for pair in self.pairs]
        moved = [each for each in zip(self.pairs, types, strict=True) if each[1].asks]
        found = alignments_of_checkpoint(run.checkpoint, [types for _, types in moved])
        return [
            record
            for ((first, second), _), alignment in zip(moved, found, strict=True)
            for record in alignment.records(
                run.folder.name, second, run.all_steps, first="" if first == SOURCE else first
            )
        ]


@dataclass(frozen=True)
class PairLinks(OfPairs):
    """AER of every layer's hidden states against the known links of each pair's sentences."""

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return "links"

    def measured(self, machine: Machine) -> list[Record]:
        run, device = self.run, str(machine.world.device)
        languages = self.languages
        return [
            record
            for pair in self.pairs
            for record in pair_records(
                run.checkpoint, languages, pair, run.folder.name, run.seed, run.all_steps, device
            )
        ]


@dataclass(frozen=True)
class PairTransfer(OnTask, OfPairs):
    """One task, fine-tuned on the first language of each pair and tested on the second."""

    format: ClassVar[int] = 2

    @property
    def examples_read(self) -> dict[str, str]:
        return {name: self.examples.language(name) for name in self.run.languages}

    def measured(self, machine: Machine) -> list[Record]:
        run, device, tell = self.run, machine.world.device, self.progress(machine)
        pretrained = PretrainedRun(run.folder, "", run.seed, run.all_steps)
        examples = TaskFolder.open(self.examples.folder)
        return evaluate_pairs(pretrained, self.languages, examples, self.task, self.config, self.pairs, device, tell)
