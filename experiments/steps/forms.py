"""The step that measures alignment@1 of held-out forms of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from analysis.measures.alignment import Types, form_alignment
from analysis.records.measurement import Measurement
from derive.languages import Languages
from derive.lemmas import mates
from derive.source import Source
from experiments.step import Machine
from experiments.steps.evaluation import Evaluation

UNKNOWN = "the source names no lemmas, so held-out types are not told apart by whether the dictionary has another form"


@dataclass(frozen=True)
class Forms(Evaluation):
    """alignment@1 of types outside the dictionary, those with another form of their word in it apart from those
    without; no records where the source knows no lemmas, or the script stays."""

    source: Source

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return "forms"

    @property
    def decided_by(self) -> dict[str, Any]:
        return super().decided_by | {"lemmas": self.source.lemma_fingerprint()}

    def measured(self, machine: Machine) -> Measurement:
        data, lemmas = self.run.data.folder, self.source.lemmas()
        if not lemmas:
            return Measurement()
        forms = mates(lemmas, Languages.open(data, [self.run.language]).vocabulary)
        return form_alignment(self.model(machine), Types.open(data, self.run.language), forms)
