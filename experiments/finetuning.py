"""Measures of models after fine-tuning on a task."""

from dataclasses import dataclass
from typing import Any

from calque.analysis.records.record import Measurement
from calque.analysis.tasks.catalog import task
from calque.analysis.tasks.finetune import FinetuneConfig
from calque.analysis.tasks.transfer import (
    DerivedTask,
    NaturalTask,
    transfer,
    zero_shot,
)
from calque.derive.languages import Languages
from calque.derive.task_data import TaskFolder
from calque.experiments.measures import Measure, finetuning_work
from calque.experiments.models import Model
from calque.experiments.step import Machine, Step


@dataclass(frozen=True)
class Transfer(Measure):
    """A task in a derived language: SUP, ZS and Delta."""

    examples: Step
    finetune: FinetuneConfig

    format = 4  # 3 had no scores of words with an entry

    @property
    def name(self) -> str:
        return str(self.examples.config.task)

    def settings(self, model: Model) -> Any:
        examples = {name: self.examples.config.language(name) for name in model.training.languages}
        of = task(self.name)
        identity = {"task": of, "head": of.head.format, "finetune": self.finetune}
        return identity | {"examples": examples, "way": "ZS"}  # "way" keeps the folders of finished runs

    def work(self, model: Model) -> float:
        return 2 * finetuning_work(self.examples, self.finetune, model)

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        training, measured = model.training, model.measured(machine)
        languages = training.mixture.of(Languages.open(model.data, training.languages))
        data = DerivedTask(task(self.name), languages, TaskFolder.open(self.examples.folder), self.finetune)

        def progress(title: str, done: int, steps: int) -> None:
            machine.report(f"{title} {model.name}", done, steps)

        return transfer(measured, data, progress)


@dataclass(frozen=True)
class ZeroShot(Measure):
    """A task in natural languages: scores in the source, where the model is fine-tuned, and in the other languages.
    Predictions are files of XTREME's submissions."""

    examples: Step
    finetune: FinetuneConfig

    format = 5
    any_model = True

    @property
    def name(self) -> str:
        return str(self.examples.config.task)

    def settings(self, model: Model) -> Any:
        return {
            "examples": self.examples.fingerprint,
            "head": task(self.examples.config.task).head.format,
            "finetune": (self.finetune,),
            "way": "ZS",
            "sample": None,  # with "way", keeps the folders of finished runs
        }

    def work(self, model: Model) -> float:
        return finetuning_work(self.examples, self.finetune, model) if isinstance(model.weights, Step) else 0.0

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        of, title = self.examples.config, f"{self.name} {model.name}"

        def progress(done: int, steps: int) -> None:
            machine.report(title, done, steps + 1)

        folder, tests = TaskFolder.open(self.examples.folder), tuple(of.settings.tests)
        data = NaturalTask(task(of.task), folder, of.source, tests, self.finetune, of.files.units)
        measurement = zero_shot(model.measured(machine), data, progress)
        machine.report(title, 1, 1)
        return measurement
