"""Measures of models after fine-tuning on a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from analysis.records.record import IN_SOURCE, SWITCHED, Record
from analysis.tasks.catalog import task
from analysis.tasks.finetune import READ_IDS, FinetuneConfig
from analysis.tasks.transfer import PretrainedRun, deltas, evaluate_pairs, evaluate_task, evaluate_translated
from analysis.tasks.zero_shot import TaskSets, zero_shot
from derive.languages import SOURCE, Languages
from derive.task_data import TaskFolder
from experiments.languages import LanguagePair
from experiments.measures import Measure, Measurement
from experiments.models import Model
from experiments.predictions import predictions
from experiments.step import Machine, Step
from experiments.tasks import ZERO_SHOT


@dataclass(frozen=True)
class Transfer(Measure):
    """A task in derived languages: SUP, ZS and Delta, or translate-train (TT, TT-CS) as `way` says."""

    examples: Step
    finetune: FinetuneConfig
    way: str = ZERO_SHOT

    format: ClassVar[int] = 3

    @property
    def name(self) -> str:
        return f"{self.task}-{self.way.lower()}" if self.way != ZERO_SHOT else self.task

    @property
    def task(self) -> str:
        """The task's name."""
        name: str = self.examples.config.task
        return name

    def applies(self, model: Model) -> bool:
        others = len(model.training.languages)
        return others > 0 and (others == 1 or self.way == ZERO_SHOT)

    def settings(self, model: Model) -> Any:
        examples = {name: self.examples.config.language(name) for name in model.training.languages}
        of = task(self.task)
        return {"task": of, "head": of.head.format, "finetune": self.finetune, "examples": examples, "way": self.way}

    def rows(self, model: Model) -> int:
        return max(self.finetune.batch, READ_IDS // model.training.model.length)

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        training, device = model.training, machine.world.device
        languages = Languages.open(model.data, training.languages)
        examples, of = TaskFolder.open(self.examples.folder), task(self.task)

        def progress(what: str, done: int, steps: int) -> None:
            machine.report(f"{what} {model.name}", done, steps)

        if len(training.languages) > 1:
            run = PretrainedRun(model.folder, "", training.seed, model.all_steps)
            languages = training.mixture.of(languages)
            pairs = transfers(training.languages)
            rows = evaluate_pairs(run, languages, examples, of, self.finetune, pairs, device, progress)
            return Measurement([replace(row, run=model.run.id) for row in rows])
        (language,) = training.languages
        run = PretrainedRun(model.folder, language, training.seed, model.all_steps)
        if self.way != ZERO_SHOT:
            arguments = run, languages, examples, of, self.finetune, self.way
            rows = evaluate_translated(*arguments, device, progress)
        else:
            rows = evaluate_task(run, languages, examples, of, self.finetune, device, progress)
            rows += deltas(rows)
        return Measurement([replace(row, run=model.run.id) for row in rows])


def transfers(others: Sequence[str]) -> list[LanguagePair]:
    """The pairs between which a task is transferred: the source and each other language, both ways, and itself."""
    both = [pair for name in others for pair in ((name, SOURCE), (name, name))]
    return [(SOURCE, SOURCE), *((SOURCE, name) for name in others), *both]


@dataclass(frozen=True)
class ZeroShot(Measure):
    """A task in natural languages: scores in the source, where the model is fine-tuned, and in the other languages.

    `also` are examples of tasks with the same training examples: the same model answers them. With several `configs`
    the best on the joint validation set is taken. `way` says whether translations are learnt from too. Of a learning
    curve (`on_curve`) records say how many examples the model learnt from: a `sample`, or all. Predictions are written
    next to the records, in the files of XTREME's submissions.
    """

    examples: Step
    configs: tuple[FinetuneConfig, ...]
    way: str = ZERO_SHOT
    also: tuple[Step, ...] = ()
    on_curve: bool = False
    sample: int = 0

    format: ClassVar[int] = 5

    @property
    def name(self) -> str:
        way = f"-{self.way.lower()}" if self.way != ZERO_SHOT else ""
        return self.examples.config.task + way + (f"-{self.sample}" if self.sample else "")

    def applies(self, model: Model) -> bool:
        return True

    def settings(self, model: Model) -> Any:
        return {
            "examples": self.examples.fingerprint,
            "head": task(self.examples.config.task).head.format,
            "finetune": self.configs,
            "way": self.way,
            "sample": self.sample if self.on_curve else None,
            "also": {step.config.task: step.fingerprint for step in self.also},
        }

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        steps = {step.config.task: step for step in (self.examples, *self.also)}
        sets = {
            name: TaskSets(task(name), TaskFolder.open(step.folder), tuple(step.config.tests))
            for name, step in steps.items()
        }
        of, title = self.examples.config, f"{self.name} {model.name}"
        machine.report(title, 0, 1)
        result = zero_shot(
            model.checkpoint,
            list(sets.values()),
            of.source,
            self.configs,
            model.run.seed,
            machine.world.device,
            lambda done, steps: machine.report(title, done, steps + 1),
            tuple(of.devs),
            tuple(of.translations) if self.way != ZERO_SHOT else (),
            switching=self.way == SWITCHED,
            sample=self.sample,
        )
        in_source = "SRC" if self.way == ZERO_SHOT else self.way + IN_SOURCE
        records = [
            Record(
                model.run.id,
                in_source if language == of.source else self.way,
                metric,
                score.value,
                score.count,
                language=language,
                task=name,
                step=model.all_steps,
                items=score.items,
                examples=result.examples if self.on_curve else 0,
                units=steps[name].config.files.units,
            )
            for name, by_language in result.tested.items()
            for language, tested in by_language.items()
            for metric, score in tested.scores.items()
        ]
        unlabelled = "whose answers have no sub-words"
        left_out = Counter({"training examples that do not fit into one row": result.cut})
        left_out[f"training examples {unlabelled}, left out"] = result.unlabelled
        files: dict[str, str] = {}
        for name, by_language in result.tested.items():
            for language, tested in by_language.items():
                which = f"examples of {name}, {language}" if self.also else f"examples of {language}"
                left_out[f"{which} that do not fit into one row"] = tested.cut
                left_out[f"{which} {unlabelled}"] = tested.unlabelled
                examples = sets[name].examples.examples("test", SOURCE if language == of.source else language)
                units = steps[name].config.files.units
                path, text = predictions(sets[name].task, language, examples, tested.said, units)
                files[path] = text
        machine.report(title, 1, 1)
        facts = {"chosen": result.chosen, "dev": list(result.dev)}
        return Measurement(records, left_out, files=files, facts=facts)
