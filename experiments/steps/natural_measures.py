"""The steps that measure a model of natural languages, before and after it was pretrained further."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

from analysis.aligners.encoder import Encoder
from analysis.aligners.methods import BY_NAME
from analysis.aligners.subwords import SubWords
from analysis.measures.link_layers import LayerScore, layer_scores
from analysis.measures.mining import PARTS, Rule, mined
from analysis.measures.retrieval import retrievals, sentence_vectors
from analysis.records import json_rows
from analysis.records.items import Items
from analysis.records.record import AER, IN_SOURCE, MINED, MINED_XTREME, RECORDS, RETRIEVAL, SWITCHED, Record
from analysis.records.run import Run
from analysis.tasks.catalog import task
from analysis.tasks.finetune import FinetuneConfig
from analysis.tasks.zero_shot import TaskSets, zero_shot
from derive.artefact import digest, making
from derive.errors import BadInput
from derive.language import SOURCE
from derive.links.aligner import LeftOut
from derive.natural.text import TextFiles
from derive.readers.compressed import check_file
from derive.readers.lines import tokens
from derive.sources.files import written
from derive.task_data import TaskFolder
from experiments.gold_text import GoldText
from experiments.predictions import predictions
from experiments.step import Machine, Stage, Step
from experiments.steps.natural_data import NaturalTask
from experiments.steps.pretraining import Start

RULES: Mapping[str, Rule] = {MINED: "mutual", MINED_XTREME: "xtreme"}
"""How pairs are mined, by the metric."""
ZERO_SHOT = "ZS"
"""The way to fine-tune that learns from the source alone."""


@dataclass(frozen=True)
class Measured:
    """Records, and counts of what was left out, by reason; `files` by name, and `facts` for the manifest."""

    records: tuple[Record, ...]
    left_out: Counter[str]
    files: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


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
    def measured(self, machine: Machine) -> Measured:
        """The records."""

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
        facts = self.facts | {"made with": machine.described, "left out": dict(+made.left_out)} | dict(made.facts)
        with making(self.folder, self.kind, facts) as part:
            json_rows.write(part / RECORDS, made.records)
            for name, text in made.files.items():
                path = part / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
        machine.report(self.title, 1, 1)

    def read(self) -> Measured:
        """What the finished step measured.

        Raises:
            BadInput: it is damaged.
        """
        made = self.open()
        return Measured(tuple(json_rows.read(made.path(RECORDS), Record)), Counter(made.facts["left out"]))


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

    def measured(self, machine: Machine) -> Measured:
        methods = [BY_NAME[name] for name in self.aligners]
        scores, left_out = layer_scores(self.model.checkpoint, self.text.set, methods, str(machine.world.device))
        return Measured(tuple(map(self._record, scores)), left_out)

    def _record(self, one: LayerScore) -> Record:
        if one.score.aer is None:
            raise BadInput(f"no sure link in the gold set {self.text.name} and none predicted: there is no error rate")
        return Record(
            self.run.id,
            AER,
            "aer",
            one.score.aer,
            one.score.sure,
            layer=one.layer,
            step=self.model.all_steps,
            aligner=one.method,
            gold_set=self.text.name,
            links=one.score,
            items=one.items,
        )


@dataclass(frozen=True, kw_only=True)
class SentenceRetrieval(NaturalMeasure):
    """Retrieval between every two of treebanks, or other text, that have the same sentences, by layer and both ways.

    At the layer that models are judged by, pairs are mined too (`analysis.measures.mining`). Of files of inference
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

    def measured(self, machine: Machine) -> Measured:
        folder, device, left_out = self.model.checkpoint, str(machine.world.device), LeftOut()
        sentences = {name: _sentences(path, name) for name, path in self.treebanks.items()}
        if len({len(lines) for lines in sentences.values()}) > 1:
            sizes = ", ".join(f"{name} has {len(lines):,}" for name, lines in sentences.items())
            raise BadInput(f"treebanks of the same sentences have as many; {sizes}")
        incomplete = {line for lines in sentences.values() for line, words in enumerate(lines, start=1) if not words}
        for line in sorted(incomplete):
            left_out.add("sentences that a language lacks", line)
        sentences = {
            name: [words for line, words in enumerate(lines, start=1) if line not in incomplete]
            for name, lines in sentences.items()
        }
        encoder, pieces = Encoder(folder, device=device), SubWords(folder)
        vectors = {name: sentence_vectors(encoder, pieces, lines, left_out) for name, lines in sentences.items()}
        records = [
            Record(
                self.run.id,
                RETRIEVAL,
                one.metric,
                float(found.mean()),
                len(found),
                layer=one.layer,
                step=self.model.all_steps,
                language=among,
                first=asked,
                items=Items.over(found, [1] * len(found)) if one.layer == self.run.main_layer else None,
            )
            for one in retrievals(vectors)
            for asked, among, found in ((one.first, one.second, one.forward), (one.second, one.first, one.back))
        ]
        layer = self.run.main_layer
        for first, second in combinations(vectors, 2):
            if len(vectors[first][layer]) < 2 * PARTS:
                continue
            about: dict[str, Any] = {"layer": layer, "step": self.model.all_steps, "language": second, "first": first}
            for metric, rule in RULES.items():
                pair = mined(vectors[first][layer], vectors[second][layer], rule)
                records.append(Record(self.run.id, RETRIEVAL, metric, pair.f1, pair.gold, **about))
        return Measured(tuple(records), left_out.counts)


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

    def measured(self, machine: Machine) -> Measured:
        sets = {
            step.task: TaskSets(task(step.task), TaskFolder.open(step.folder), tuple(step.tests))
            for step in (self.examples, *self.also)
        }
        made = zero_shot(
            self.model.checkpoint,
            list(sets.values()),
            self.source,
            self.configs,
            self.run.seed,
            machine.world.device,
            lambda done, of: machine.report(self.title, done, of + 1),
            tuple(self.examples.devs),
            tuple(self.examples.translations) if self.way != ZERO_SHOT else (),
            switching=self.way == SWITCHED,
            sample=self.sample,
        )
        units = {step.task: step.files.units for step in (self.examples, *self.also)}
        in_source = "SRC" if self.way == ZERO_SHOT else self.way + IN_SOURCE
        records = tuple(
            Record(
                self.run.id,
                in_source if language == self.source else self.way,
                metric,
                score.value,
                score.count,
                language=language,
                task=name,
                step=self.model.all_steps,
                items=score.items,
                examples=made.examples if self.on_curve else 0,
                units=units[name],
            )
            for name, of in made.tested.items()
            for language, tested in of.items()
            for metric, score in tested.scores.items()
        )
        dropped = "whose answers have no sub-words"
        cut = Counter({"training examples that do not fit into one row": made.cut})
        cut[f"training examples {dropped}, left out"] = made.unlabelled
        files = dict[str, str]()
        for name, of in made.tested.items():
            its, folder = sets[name].task, sets[name].examples
            for language, one in of.items():
                # One task is named by the step itself; of several each is.
                which = f"examples of {f'{name}, ' * bool(self.also)}{language}"
                cut[f"{which} that do not fit into one row"] = one.cut
                cut[f"{which} {dropped}"] = one.unlabelled
                asked = folder.examples("test", SOURCE if language == self.source else language)
                path, text = predictions(its, language, asked, one.said, units[name])
                files[path] = text
        return Measured(records, cut, files, {"chosen": made.chosen, "dev": list(made.dev)})
