"""The step that measures what a derived language shares with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from analysis.records.record import SHARING, Record
from derive.languages import Languages
from derive.usage import count_shared
from experiments.step import Machine
from experiments.steps.evaluation import Evaluation


@dataclass(frozen=True)
class Sharing(Evaluation):
    """The shares of types, sub-words and words of a language that are the source's own."""

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return "sharing"

    def measured(self, machine: Machine) -> list[Record]:
        name = self.run.language
        languages = Languages.open(self.run.data.folder, [name])
        counts = count_shared(languages.folder / name, languages.vocabulary.types, languages[name].table)
        return [self.record(SHARING, metric, value, count, 0) for metric, (value, count) in counts.shares.items()]
