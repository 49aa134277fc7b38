"""Measures of models after fine-tuning on a task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calque.analysis.records.record import Measurement
from calque.analysis.tasks.catalog import task
from calque.analysis.tasks.finetune import FinetuneConfig
from calque.analysis.tasks.transfer import (
    DerivedTask,
    LearningWay,
    NaturalTask,
    pair_transfer,
    transfer,
    translate_train,
    zero_shot,
)
from calque.derive.language import SOURCE
from calque.derive.languages import Languages
from calque.derive.task_data import TaskFolder
from calque.experiments.languages import LanguagePair
from calque.experiments.measures import Measure, finetuning_work
from calque.experiments.models import Model
from calque.experiments.step import Machine, Step
from calque.experiments.tasks import ZERO_SHOT


@dataclass(frozen=True)
class Transfer(Measure):
    """A task in derived languages: SUP, ZS and Delta, or translate-train (TT, TT-CS), by `way`. Models of mixtures are
    tested between the source and each other language, in both directions."""

    examples: Step
    finetune: FinetuneConfig
    way: str = ZERO_SHOT

    format = 4  # 3 had no scores of words with an entry

    @property
    def name(self) -> str:
        return f"{self.task}-{self.way.lower()}" if self.way != ZERO_SHOT else self.task

    @property
    def task(self) -> str:
        return str(self.examples.config.task)

    def applies(self, model: Model) -> bool:
        return model.of_pair or (bool(model.training.languages) and self.way == ZERO_SHOT)

    def settings(self, model: Model) -> Any:
        examples = {name: self.examples.config.language(name) for name in model.training.languages}
        head = task(self.task).head.format
        of = {"task": task(self.task), "head": head, "finetune": self.finetune}
        return of | {"examples": examples, "way": self.way}

    def work(self, model: Model) -> float:
        models = 1 + len(model.training.languages) if self.way == ZERO_SHOT else 1
        return models * finetuning_work(self.examples, (self.finetune,), model)

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        training, measured = model.training, model.measured(machine)
        languages = training.mixture.of(Languages.open(model.data, training.languages))
        data = DerivedTask(task(self.task), languages, TaskFolder.open(self.examples.folder), self.finetune)

        def progress(title: str, done: int, steps: int) -> None:
            machine.report(f"{title} {model.name}", done, steps)

        if not model.of_pair:
            return pair_transfer(measured, data, transfers(training.languages), progress)
        if self.way != ZERO_SHOT:
            return translate_train(measured, data, self.way, progress)
        return transfer(measured, data, progress)


def transfers(others: Sequence[str]) -> list[LanguagePair]:
    """The pairs of languages of a transfer: the source and each other language, both ways, and each with itself."""
    both = [pair for name in others for pair in ((name, SOURCE), (name, name))]
    return [(SOURCE, SOURCE), *((SOURCE, name) for name in others), *both]


@dataclass(frozen=True)
class ZeroShot(Measure):
    """A task in natural languages: scores in the source, where the model is fine-tuned, and in the other languages.
    Predictions are files of XTREME's submissions."""

    examples: Step
    learning: LearningWay

    format = 5
    any_model = True

    @property
    def name(self) -> str:
        way = f"-{self.learning.name.lower()}" if self.learning.name != ZERO_SHOT else ""
        return self.examples.config.task + way + (f"-{self.learning.sample}" if self.learning.sample else "")

    def settings(self, model: Model) -> Any:
        return {
            "examples": self.examples.fingerprint,
            "head": task(self.examples.config.task).head.format,
            "finetune": self.learning.configs,
            "way": self.learning.name,
            "sample": self.learning.sample if self.learning.on_curve else None,
        }

    def work(self, model: Model) -> float:
        if not isinstance(model.weights, Step):
            return 0.0
        return finetuning_work(self.examples, self.learning.configs, model, self.learning.sample)

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        of, title = self.examples.config, f"{self.name} {model.name}"

        def progress(done: int, steps: int) -> None:
            machine.report(title, done, steps + 1)

        folder, tests = TaskFolder.open(self.examples.folder), tuple(of.settings.tests)
        data = NaturalTask(task(of.task), folder, of.source, tests, of.files.units)
        measurement = zero_shot(model.measured(machine), data, self.learning, progress)
        machine.report(title, 1, 1)
        return measurement
