"""The step that measures what a derived language shares with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from analysis.records.measurement import Measurement
from analysis.records.record import SHARING
from derive.languages import Languages
from derive.sharing import shared
from experiments.step import Machine
from experiments.steps.evaluation import Evaluation


@dataclass(frozen=True)
class Sharing(Evaluation):
    """The shares of types, sub-words and words of a language that are the source's own."""

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return "sharing"

    def measured(self, machine: Machine) -> Measurement:
        name = self.run.language
        languages = Languages.open(self.run.data.folder, [name])
        counts = shared(languages.folder / name, languages.vocabulary.types, languages[name].table)
        model, shares = self.model(machine), counts.shares.items()
        return Measurement(
            tuple(model.record(SHARING, metric, value, count, step=0) for metric, (value, count) in shares)
        )
