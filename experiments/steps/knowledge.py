"""The step that asks a model for the facts that its source's corpus states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from analysis.measures.knowledge import knowledge_records
from analysis.records.record import Record
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

    def measured(self, machine: Machine) -> list[Record]:
        run = self.run
        asked = run.data.questions(run.language)
        questions, images = [question for question, _ in asked], [image for _, image in asked]
        languages = Languages.open(run.data.folder, [run.language])
        about = run.folder.name, run.all_steps, machine.world.device
        return knowledge_records(run.checkpoint, languages, run.language, questions, images, *about)
