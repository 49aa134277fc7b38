"""The steps that measure a model of several languages: each language, and ordered pairs of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from analysis.measures.alignment import pair_alignment
from analysis.measures.contextual import pair_links
from analysis.measures.loss import held_out_loss
from analysis.records.measurement import Measurement
from analysis.records.record import READ
from analysis.tasks.transfer import DerivedTask, pair_transfer
from derive.derived_folder import SOURCE
from derive.languages import Languages
from derive.task_data import TaskFolder
from experiments.step import Machine
from experiments.steps.evaluation import Evaluation, OnTask

Pair = tuple[str, str]


@dataclass(frozen=True)
class ReadText(Evaluation):
    """How much of each language the model has read, and its loss on text of it that it has not."""

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return "reading"

    def measured(self, machine: Machine) -> Measurement:
        run, model = self.run, self.model(machine)
        read, ids = run.open().facts["shown"], run.model.length - 1
        records = []
        for language in (SOURCE, *run.languages):
            rows = int(read[language]["rows"])
            values = {"ids": float(rows * ids), "epochs": float(read[language]["epochs"])}
            records += [model.record(READ, metric, value, rows, language=language) for metric, value in values.items()]
        languages = Languages.open(run.data.folder, run.languages)
        loss = held_out_loss(model, languages, run.mixture.held_out)
        return Measurement((*records, *loss.records))


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

    def measured(self, machine: Machine) -> Measurement:
        return pair_alignment(self.model(machine), self.languages, self.pairs)


@dataclass(frozen=True)
class PairLinks(OfPairs):
    """AER of every layer's hidden states against the known links of each pair's sentences."""

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return "links"

    def measured(self, machine: Machine) -> Measurement:
        return pair_links(self.model(machine), self.languages, self.pairs)


@dataclass(frozen=True)
class PairTransfer(OnTask, OfPairs):
    """One task, fine-tuned on the first language of each pair and tested on the second."""

    format: ClassVar[int] = 2

    @property
    def examples_read(self) -> dict[str, str]:
        return {name: self.examples.language(name) for name in self.run.languages}

    def measured(self, machine: Machine) -> Measurement:
        data = DerivedTask(self.task, self.languages, TaskFolder.open(self.examples.folder), self.config)
        return pair_transfer(self.model(machine), data, self.pairs, self.progress(machine))
