"""The steps that measure a model of natural languages, before and after it was pretrained further."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from analysis.aligners.methods import BY_NAME
from analysis.measures.retrieval import retrieval
from analysis.measures.word_alignment import gold_links
from analysis.records import json_rows
from analysis.records.measurement import MeasuredModel, Measurement
from analysis.records.record import RECORDS, Record
from analysis.records.run import Run
from analysis.tasks.catalog import task
from analysis.tasks.finetune import FinetuneConfig
from analysis.tasks.zero_shot import ZERO_SHOT, CrossLingualTask, LearningWay, zero_shot
from derive.artefact import making
from derive.digests import digest
from derive.natural.text import TextFiles
from derive.readers.compressed import check_file
from derive.readers.lines import tokens
from derive.sources.files import written
from derive.task_data import TaskFolder
from experiments.gold_text import GoldText
from experiments.step import Machine, Stage, Step
from experiments.steps.natural_data import NaturalTask
from experiments.steps.pretraining import Start


@dataclass(frozen=True, kw_only=True)
class NaturalMeasure(Step):
    """Records of a model, in the folder `above`. `run` is the model as they know it."""

    model: Start
    run: Run
    above: Path
    threads: int = 1

    stage: ClassVar[Stage] = "evaluate"
    kind: ClassVar[str] = "records"

    @property
    @abstractmethod
    def measure(self) -> str:
        """What is measured, as the folder's name says it."""

    @abstractmethod
    def measured(self, machine: Machine) -> Measurement:
        """The records."""

    def measured_model(self, machine: Machine) -> MeasuredModel:
        """The model as its measures and records know it."""
        device = str(machine.world.device)
        return MeasuredModel(self.model.checkpoint, self.run.id, "", self.run.seed, self.model.all_steps, device)

    @property
    def place(self) -> Path:
        return self.above / self.measure

    @property
    def title(self) -> str:
        return f"{self.measure} {self.run.id}"

    @property
    def needs(self) -> tuple[Step, ...]:
        return self.model.made_by

    @property
    def decided_by(self) -> Mapping[str, Any]:
        return {"model": self.model.fingerprint}

    def __call__(self, machine: Machine) -> None:
        machine.report(self.title, 0, 1)
        made = self.measured(machine)
        facts = self.facts | {"made with": machine.described, "left out": dict(+made.exclusions)} | dict(made.facts)
        with making(self.folder, self.kind, facts) as part:
            json_rows.write(part / RECORDS, made.records)
            for name, text in made.files.items():
                path = part / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
        machine.report(self.title, 1, 1)

    def read(self) -> Measurement:
        """What the finished step measured.

        Raises:
            BadInput: it is damaged.
        """
        made = self.open()
        return Measurement(tuple(json_rows.read(made.path(RECORDS), Record)), Counter(made.facts["left out"]))


@dataclass(frozen=True, kw_only=True)
class GoldErrors(NaturalMeasure):
    """AER of every layer on a gold set, each sentence encoded alone, by some ways to read links."""

    text: GoldText
    aligners: tuple[str, ...]

    format: ClassVar[int] = 1

    @property
    def measure(self) -> str:
        return f"links-{self.text.name}"

    @cached_property
    def decided_by(self) -> dict[str, Any]:
        return {**super().decided_by, "gold": self.text.gold_digests, "aligners": self.aligners}

    def measured(self, machine: Machine) -> Measurement:
        return gold_links(self.measured_model(machine), self.text.set, [BY_NAME[name] for name in self.aligners])


@dataclass(frozen=True, kw_only=True)
class SentenceRetrieval(NaturalMeasure):
    """Retrieval between every two of treebanks, or other text, that have the same sentences, by layer and both ways.

    At the main layer pairs are mined too (`analysis.measures.retrieval`). Of files of inference
    pairs the hypotheses are the sentences.
    """

    treebanks: Mapping[str, Path]

    format: ClassVar[int] = 4

    @property
    def measure(self) -> str:
        return "retrieval"

    @cached_property
    def decided_by(self) -> dict[str, Any]:
        for path in self.treebanks.values():
            check_file(path)
        return {**super().decided_by, "treebanks": {name: digest(path) for name, path in self.treebanks.items()}}

    def measured(self, machine: Machine) -> Measurement:
        sentences = {name: _sentences(path, name) for name, path in self.treebanks.items()}
        return retrieval(self.measured_model(machine), sentences, self.run.main_layer)


def _sentences(path: Path, language: str) -> list[list[str]]:
    """The sentences of a file as they stand there, a treebank's with their own spaces, parted where white space is.

    A pair with a missing side has a sentence without words.
    """
    if path.suffix == ".tsv":
        pairs = written("nli", language)(path, Counter())
        return [tokens(" ".join(s.text for s in pair.texts[1])) if pair.texts else [] for pair in pairs]
    pieces = TextFiles((path,)).pieces()
    return [tokens(line) for piece in pieces for line in piece.columns(Counter())[0]]


@dataclass(frozen=True, kw_only=True)
class ZeroShot(NaturalMeasure):
    """Scores of a task in other languages than the one that the model is fine-tuned on, and in that one.

    Those of `also` are of tasks with the same training examples: the same model answers them. With several `configs`
    the best on the joint validation set is taken. `way` says whether translations are learnt from too
    (`experiments.across`). Of a learning curve (`on_curve`) records say how many examples the model learnt from: a
    `sample`, or all. Beside the records stand the predictions, in the files of XTREME's submissions.
    """

    examples: NaturalTask
    source: str
    configs: tuple[FinetuneConfig, ...]
    way: str = ZERO_SHOT
    also: tuple[NaturalTask, ...] = ()
    on_curve: bool = False
    sample: int = 0

    format: ClassVar[int] = 5

    @property
    def measure(self) -> str:
        way = f"-{self.way.lower()}" if self.way != ZERO_SHOT else ""
        return self.examples.task + way + (f"-{self.sample}" if self.sample else "")

    @property
    def needs(self) -> tuple[Step, ...]:
        return (*super().needs, self.examples, *self.also)

    @cached_property
    def decided_by(self) -> dict[str, Any]:
        return {
            **super().decided_by,
            "examples": self.examples.fingerprint,
            "source": self.source,
            "head": task(self.examples.task).head.format,
            "finetune": self.configs[0] if len(self.configs) == 1 else self.configs,
            "seed": self.run.seed,
            **({"way": self.way} if self.way != ZERO_SHOT else {}),
            **({"on curve": self.sample} if self.on_curve else {}),
            **({"also": {step.task: step.fingerprint for step in self.also}} if self.also else {}),
        }

    def measured(self, machine: Machine) -> Measurement:
        tasks = [
            CrossLingualTask(task(step.task), TaskFolder.open(step.folder), tuple(step.tests), step.files.units)
            for step in (self.examples, *self.also)
        ]
        translations = tuple(self.examples.translations) if self.way != ZERO_SHOT else ()
        way = LearningWay(self.configs, self.way, tuple(self.examples.devs), translations, self.on_curve, self.sample)
        return zero_shot(
            self.measured_model(machine),
            tasks,
            self.source,
            way,
            lambda done, total: machine.report(self.title, done, total + 1),
        )
