"""The measures of a study's models, the step that computes a measure, and its records on disk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from calque.analysis.aligners import BY_NAME, DEFAULT, OT, RELEASED
from calque.analysis.measures.alignment import Types, derivation_retrieval, retrieval, type_alignment
from calque.analysis.measures.interventions import SourceTuned, interventions, not_changed
from calque.analysis.measures.word_alignment import (
    SETS,
    GoldSet,
    gold_links,
    gold_set,
    pair_links,
    self_labels,
)
from calque.analysis.records import json_rows
from calque.analysis.records.record import ORDER, RECORDS, SHARING, Measurement, Record, Run
from calque.analysis.tasks.catalogue import tagged_words
from calque.analysis.tasks.catalogue import task as find_task
from calque.analysis.tasks.task import Split
from calque.analysis.tasks.transfer import DerivedTask, transfer, zero_shot
from calque.derive.build import MEASURED
from calque.derive.corpus import count_shared
from calque.derive.dictionary import usual_tags
from calque.derive.errors import unknown
from calque.derive.files import Artefact, input_digest, making
from calque.derive.fingerprint import ADDED, code_of
from calque.derive.natural import TextFiles, read_all
from calque.derive.readers.lines import tokens
from calque.derive.task_data import TaskFolder
from calque.experiments.run.places import name_mistakes
from calque.experiments.run.step import Machine, Step, cached_method
from calque.experiments.study.models import Model
from calque.pretrain.run import CLAIMS

USUAL = DEFAULT.name, RELEASED.name, OT.name  # the default alignment methods


@dataclass(frozen=True)
class Measure(ABC):
    """A measure of a model. Increase `format` when a code change alters a model's records."""

    format: ClassVar[int] = 1
    any_model: ClassVar[bool] = False  # whether the measure applies without a language pair

    @property
    @abstractmethod
    def name(self) -> str:
        """The measure's name in settings and in its folder's name."""

    @abstractmethod
    def __call__(self, model: Model, machine: Machine) -> Measurement:
        """Measure a model. Raises BadInput if the checkpoint or data are damaged or do not match."""

    def parts(self) -> Sequence[Measure]:
        """Return the measures to compute, each in a step of its own."""
        return (self,)

    def mistakes(self, study: Any) -> list[str]:
        """Return a message for each error in the measure's settings, given the study's settings."""
        return []

    def applies(self, model: Model) -> bool:
        return self.any_model or model.of_pair

    def settings(self, model: Model) -> Any:
        """Return everything that determines the result, apart from the model and its text."""
        return self

    def progress(self, model: Model, machine: Machine) -> Callable[[int, int], None]:
        return lambda done, of: machine.report(f"{self.name} {model.name}", done, of)


class OrderDistance(Measure):
    """The order distance between a derived language and the source."""

    name = "order"

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        facts = model.training.data.open().facts["languages"][model.language]
        sentences = min(MEASURED, facts["out"]["sentences"])
        record = model.measured(machine).record(ORDER, "kendall", facts["order distance"], sentences, step=0)
        return Measurement((record,))


class SelfLabels(Measure):
    """The precision and recall of XLM-Align's self-labels over the course of pretraining."""

    name = "labels"

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        return self_labels(model.measured(machine), model.metrics, model.training.steps_before)


class Links(Measure):
    """The AER of the word links found in each layer's hidden states, given the known links."""

    name = "links"
    format = 2

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        return pair_links(model.measured(machine), model.languages(), model.language)


class Alignment(Measure):
    """alignment@1 over the course of pretraining, unless the two languages share a script."""

    name = "alignment"
    format = 2

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        types, before = Types.open(model.data, model.language), model.training.steps_before
        return type_alignment(model.measured(machine), types, model.metrics, before)


class Sharing(Measure):
    """The fractions of a derived language's types, sub-words and words that also occur in its source."""

    name = "sharing"

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        languages, derived = model.languages(), model.language
        types, table = languages.vocabulary.types, languages[derived].table
        shares = count_shared(languages.folder / derived, types, table).items()
        measured = model.measured(machine)
        return Measurement(tuple(measured.record(SHARING, name, *share, step=0) for name, share in shares))


@dataclass(frozen=True)
class ExampleMeasure(Measure):
    """A measure on the examples for the task `task`."""

    former_fields: ClassVar[Mapping[str, Any]] = {"examples": None}

    task: str = "pos"

    def settings(self, model: Model) -> Any:
        examples = model.examples[self.task].config
        return vars(self) | {"examples": {name: examples.language(name) for name in model.training.languages}}

    def folder(self, model: Model) -> TaskFolder:
        return TaskFolder.open(model.examples[self.task].folder)


@dataclass(frozen=True)
class DerivationRetrieval(ExampleMeasure):
    """Retrieval of a sentence's image among at most `sentences` derived sentences of a task's examples."""

    sentences: int = 1_000

    name = "retrieval"

    def __call__(self, model: Model, machine: Machine, *tags: Any) -> Measurement:
        languages, examples = model.languages().whole, self.folder(model)
        return derivation_retrieval(model.measured(machine), languages, examples, self.sentences, *tags)


class ChangedRetrieval(DerivationRetrieval):
    """Retrieval of derived sentences after changes to derived words' embeddings, as in `Interventions`."""

    name = "interventions-retrieval"

    def __call__(self, model: Model, machine: Machine, *tags: Any) -> Measurement:
        languages = model.languages().whole
        if wrong := not_changed(languages, model.language):
            return Measurement(exclusions=Counter({wrong: 1}))
        tagged = tagged_words(Split(self.folder(model).path("train"), find_task(self.task)))
        return super().__call__(model, machine, usual_tags(tagged, languages.vocabulary))


@dataclass(frozen=True)
class TunedMeasure(ExampleMeasure):
    """A measure of a model that is fine-tuned on a task."""

    def settings(self, model: Model) -> Any:
        task = find_task(self.task)
        tuned = {"task": task, "head": task.head.format, "finetune": model.tasks[self.task].finetune}
        return super().settings(model) | tuned


def derived_task(model: Model, name: str) -> DerivedTask:
    """Return a task's examples in a model's languages. Raises BadInput if they are damaged."""
    examples = TaskFolder.open(model.examples[name].folder)
    return DerivedTask(find_task(name), model.languages(), examples, model.tasks[name].finetune)


class Interventions(TunedMeasure):
    """The effects of changes at test time to a model fine-tuned on the source. The measure requires a
    dictionary, exactly one image per word, and separate embedding rows for the two languages."""

    former_fields: ClassVar[Mapping[str, Any]] = {"examples": None, "finetune": None}

    @property
    def name(self) -> str:
        return "interventions" if self.task == "pos" else f"interventions-{self.task}"

    def mistakes(self, study: Any) -> list[str]:
        if self.task in study.tasks:
            return []
        return [f"measures: interventions fine-tune on {self.task}, which is not among the tasks"]

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        data = derived_task(model, self.task)
        if wrong := not_changed(data.languages, model.language):
            return Measurement(exclusions=Counter({wrong: 1}))
        return interventions(SourceTuned(model.measured(machine), data, self.progress(model, machine)))


class Transfer(TunedMeasure):
    """Scores on a task in a derived language: SUP, ZS and Delta."""

    format = 4

    @property
    def name(self) -> str:
        return self.task

    def settings(self, model: Model) -> Any:
        return super().settings(model) | {"way": "ZS"}  # "way" only keeps fingerprints unchanged

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        data = derived_task(model, self.task)
        return transfer(
            model.measured(machine), data, lambda title, *done: machine.report(f"{title} {model.name}", *done)
        )


class ZeroShot(Transfer):
    """Scores on a task in natural languages after fine-tuning on the source."""

    format = 5
    any_model = True

    def settings(self, model: Model) -> Any:
        return {
            "examples": model.examples[self.task].fingerprint,
            "head": find_task(self.task).head.format,
            "finetune": (model.tasks[self.task].finetune,),
            "way": "ZS",
            "sample": None,  # like "way"
        }

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        config, finetune = model.examples[self.task].config, model.tasks[self.task].finetune
        data = find_task(self.task), self.folder(model), [config.source, *config.settings.tests], finetune
        progress = self.progress(model, machine)
        return zero_shot(model.measured(machine), *data, progress, config.files.units)


@dataclass(frozen=True)
class GoldLinks(Measure):
    """The AER of each layer on gold sets, by several methods, the main one first, with sentences alone."""

    gold: Path
    sets: tuple[str, ...] = SETS
    methods: tuple[str, ...] = field(default=USUAL, metadata=ADDED)
    name: str = field(default="links", compare=False)

    any_model = True

    def parts(self) -> Sequence[GoldLinks]:
        return [replace(self, sets=(name,), name=f"links-{name}") for name in self.sets]

    @property
    def gold_sets(self) -> list[GoldSet]:
        return [gold_set(self.gold, name) for name in self.sets]

    def mistakes(self, study: Any) -> list[str]:
        wrong = name_mistakes("sets", self.sets, least=0)
        return wrong + [unknown("method", name, BY_NAME) for name in self.methods if name not in BY_NAME]

    def settings(self, model: Model) -> Any:
        files = sorted(path for name in self.sets for path in (self.gold / name).glob("*") if path.is_file())
        return {"gold": [self.sets, *map(input_digest, files)], "methods": self.methods}

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        methods, (gold,) = [BY_NAME[name] for name in self.methods], self.gold_sets
        return gold_links(model.measured(machine), gold, methods)


@dataclass(frozen=True)
class Retrieval(Measure):
    """Retrieval, at every layer and in both directions, between texts that contain the same sentences."""

    same_sentences: Mapping[str, Path]

    name = "retrieval"
    format = 4
    any_model = True

    @cached_method
    def identity(self) -> dict[str, str]:
        return {name: input_digest(path) for name, path in self.same_sentences.items()}

    def parts(self) -> Sequence[Measure]:
        return (self,) if self.same_sentences else ()

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        sentences = {
            name: [tokens(line) for (column,) in read_all(TextFiles((path,)), Counter()) for line in column]
            for name, path in self.same_sentences.items()
        }
        return retrieval(model.measured(machine), sentences, model.run.main_layer)


PAIR_MEASURES: tuple[Measure, ...] = (OrderDistance(), SelfLabels(), Links(), Alignment(), Sharing())
"""The measures of models trained on a source and one derived language."""
_OF_EXAMPLES = (DerivationRetrieval(), ChangedRetrieval(), Interventions(), Interventions("ner"))
MEASURES = {measure.name: measure for measure in (*PAIR_MEASURES, *_OF_EXAMPLES)}
"""The measures without settings, by name."""


@dataclass(frozen=True)
class Measuring:
    """The config of a step that measures a model. `data` is the text that the model has read."""

    measure: Measure
    model: Model
    data: Step | None

    @classmethod
    def step(cls, measure: Measure, model: Model, threads: int) -> Step:
        config = cls(measure, model, model.training.data if model.trained else None)
        place, title = model.folder / measure.name, f"{measure.name} {model.name}"
        return Step(config, place, title, "evaluate", "records", threads=threads)

    def identity(self) -> list[Any]:
        identity = [self.measure.name, self.measure.format, self.measure.settings(self.model), self.model]
        if self.data and not self.measure.any_model:  # includes the dictionary, which the model may not use
            config, names = self.data.config, self.model.training.languages
            identity.append({name: config.language(name) for name in names})
        code = code_of(type(self.measure))
        return [*identity, code] if code else identity

    def compute(self, step: Step, machine: Machine) -> None:
        claims = {CLAIMS: self.claims} if self.claims else {}
        measurement = self.measure(self.model, machine)
        facts = {"made with": machine.world.machine, "left out": dict(+measurement.exclusions), **claims}
        with making(step.folder, step.kind, step.facts | facts) as part:
            json_rows.write(part / RECORDS, measurement.records)

    @property
    def claims(self) -> str:
        return self.model.training.claims if self.data else ""

    def run(self, measured: Artefact) -> Run:
        if not self.claims:
            return self.model.run
        noted = {artefact.facts.get(CLAIMS, "") for artefact in (self.model.step.open(), measured)}
        return replace(self.model.run, claims=tuple(sorted(noted)))


def read_measured(step: Step) -> tuple[Run, list[Record]]:
    """Read the run and records that a finished step measured. Raises BadInput for damaged files."""
    artefact = step.open()
    return step.config.run(artefact), json_rows.read(artefact.path(RECORDS), Record)
