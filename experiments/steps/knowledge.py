"""The step that asks a model for the facts that its source's corpus states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from analysis.measures.knowledge import knowledge
from analysis.records.measurement import Measurement
from derive.languages import Languages
from experiments.step import Machine
from experiments.steps.evaluation import Evaluation


@dataclass(frozen=True)
class Knowledge(Evaluation):
    """Accuracy over the facts of a source, asked in it and in the derived language of the run.

    What decides the questions decides the run's languages too.
    """

    format: ClassVar[int] = 2

    @property
    def measure(self) -> str:
        return "knowledge"

    def measured(self, machine: Machine) -> Measurement:
        pairs = self.run.data.questions(self.run.language)
        questions, images = [question for question, _ in pairs], [image for _, image in pairs]
        languages = Languages.open(self.run.data.folder, [self.run.language])
        return knowledge(self.model(machine), languages, questions, images)
