"""The steps that measure a pretrained model, each a folder of records: one a measure, and one a task."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from analysis.measures.alignment import Types, type_alignment
from analysis.measures.contextual import pair_links, self_labels
from analysis.records import json_rows
from analysis.records.measurement import MeasuredModel, Measurement
from analysis.records.record import ORDER, RECORDS, Record
from analysis.tasks.finetune import READ_IDS, FinetuneConfig
from analysis.tasks.task import Task
from analysis.tasks.transfer import DerivedTask, Progress, transfer, translate_train
from derive.artefact import making
from derive.build import MEASURED
from derive.languages import SOURCE, Languages
from derive.task_data import TaskFolder
from experiments.step import Machine, Stage, Step
from experiments.steps.pretraining import Pretrain
from experiments.steps.task_data import DeriveTask
from pretrain.metrics import METRICS


@dataclass(frozen=True)
class Evaluation(Step):
    """Records of one pretrained model, in a folder of its run."""

    run: Pretrain

    stage: ClassVar[Stage] = "evaluate"
    kind: ClassVar[str] = "records"

    @property
    @abstractmethod
    def measure(self) -> str:
        """What is measured, as the folder's name says it."""

    @abstractmethod
    def measured(self, machine: Machine) -> Measurement:
        """The records."""

    def model(self, machine: Machine) -> MeasuredModel:
        """The model as its measures and records know it."""
        run, language = self.run, self.run.language if len(self.run.languages) == 1 else ""
        device = str(machine.world.device)
        return MeasuredModel(run.checkpoint, run.folder.name, language, run.seed, run.all_steps, device)

    @property
    def threads(self) -> int:
        return self.run.threads

    def on_card(self) -> float | None:
        return self.run.on_card()

    @property
    def place(self) -> Path:
        return self.run.folder / self.measure

    @property
    def title(self) -> str:
        return f"{self.measure} {self.run.name}"

    @property
    def needs(self) -> tuple[Step, ...]:
        return (self.run.data, self.run)

    @property
    def decided_by(self) -> dict[str, Any]:
        return {"run": self.run.fingerprint}

    def __call__(self, machine: Machine) -> None:
        with making(self.folder, self.kind, self.facts | {"made with": machine.described}) as part:
            json_rows.write(part / RECORDS, self.measured(machine).records)

    def read(self) -> list[Record]:
        """The records of the finished step.

        Raises:
            BadInput: they are damaged.
        """
        return json_rows.read(self.open().path(RECORDS), Record)


@dataclass(frozen=True)
class OrderDistance(Evaluation):
    """The order distance between the derived language and the source."""

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return "order"

    def measured(self, machine: Machine) -> Measurement:
        derived = self.run.data.open().facts["languages"][self.run.language]
        sentences = min(MEASURED, derived["out"]["sentences"])
        return Measurement(
            (self.model(machine).record(ORDER, "kendall", derived["order distance"], sentences, step=0),)
        )


@dataclass(frozen=True)
class SelfLabels(Evaluation):
    """Precision and recall of XLM-Align's self-made labels over the steps of pretraining."""

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return "labels"

    def measured(self, machine: Machine) -> Measurement:
        return self_labels(self.model(machine), self.run.open().path(METRICS), self.run.steps_before)


@dataclass(frozen=True)
class Contextual(Evaluation):
    """AER of every layer's hidden states, against the known links between a sentence and its derived sentence."""

    format: ClassVar[int] = 2

    @property
    def measure(self) -> str:
        return "links"

    def measured(self, machine: Machine) -> Measurement:
        language = self.run.language
        languages = Languages.open(self.run.data.folder, [language])
        return pair_links(self.model(machine), languages, [(SOURCE, language)])


@dataclass(frozen=True)
class Alignment(Evaluation):
    """alignment@1 over the steps of pretraining; no records where the script stays."""

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return "alignment"

    def measured(self, machine: Machine) -> Measurement:
        run, types = self.run, Types.open(self.run.data.folder, self.run.language)
        return type_alignment(self.model(machine), types, run.open().path(METRICS), run.steps_before)


@dataclass(frozen=True)
class OnTask(Evaluation):
    """Records of models that are fine-tuned on a task."""

    task: Task
    config: FinetuneConfig
    examples: DeriveTask

    @property
    @abstractmethod
    def examples_read(self) -> Any:
        """The fingerprints of the examples that are read."""

    @property
    def measure(self) -> str:
        return self.task.name

    @property
    def decided_by(self) -> dict[str, Any]:
        head = self.task.head
        changed = {"head's format": head.format} if head.format > 1 else {}
        made = {"task": self.task, "finetune": self.config, "examples": self.examples_read}
        return {**super().decided_by, **made, **changed}

    @property
    def needs(self) -> tuple[Step, ...]:
        return (*super().needs, self.examples)

    def on_card(self) -> float | None:
        return self.run.on_card_with(max(self.config.batch, READ_IDS // self.run.model.length))

    def progress(self, machine: Machine) -> Progress:
        """What is told while models are fine-tuned."""
        return lambda what, done, of: machine.report(f"{what} {self.run.name}", done, of)


class OnLanguage(OnTask):
    """Records of models of the source and one derived language."""

    @property
    def examples_read(self) -> str:
        return self.examples.language(self.run.language)

    @property
    def data(self) -> DerivedTask:
        """The task in the languages of the model."""
        languages = Languages.open(self.run.data.folder, [self.run.language])
        return DerivedTask(self.task, languages, TaskFolder.open(self.examples.folder), self.config)


@dataclass(frozen=True)
class Transfer(OnLanguage):
    """SUP, ZS and Delta of one task, after fine-tuning."""

    format: ClassVar[int] = 3

    def measured(self, machine: Machine) -> Measurement:
        return transfer(self.model(machine), self.data, self.progress(machine))


@dataclass(frozen=True)
class TranslateTrain(OnLanguage):
    """One task after fine-tuning on both languages at once: TT, or TT-CS with code-switched pairs, as `way` says."""

    way: str

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return f"{self.task.name}-{self.way.lower()}"

    @property
    def decided_by(self) -> dict[str, Any]:
        return {**super().decided_by, "way": self.way}

    def measured(self, machine: Machine) -> Measurement:
        return translate_train(self.model(machine), self.data, self.way, self.progress(machine))
