"""The step that measures alignment@1 of held-out forms of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from analysis.measures.alignment import Types, alignment_of_checkpoint
from analysis.measures.forms import form_records
from analysis.records.record import Record
from derive.languages import Languages
from derive.source import Source
from derive.usage import other_forms
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

    def measured(self, machine: Machine) -> list[Record]:
        run, data = self.run, self.run.data.folder
        types, lemmas = Types.open(data, run.language), self.source.lemmas()
        if not lemmas or not types.asks:
            return []
        forms = other_forms(lemmas, Languages.open(data, [run.language]).vocabulary)
        alignment = alignment_of_checkpoint(run.checkpoint, types)
        return form_records(types, alignment, forms, run.folder.name, run.language, run.all_steps)
