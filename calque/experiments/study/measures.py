"""The measures of a study's models, the step that computes a measure, and its records on disk. Each measure
imports the code that computes it only when it is called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from calque.analysis.records import json_rows
from calque.analysis.records.record import ORDER, RECORDS, RUNS, SHARING, Measurement, Record, Run
from calque.analysis.tasks.transfer import FinetuneConfig
from calque.derive.files import Artefact, input_digest, making
from calque.derive.fingerprint import code_of
from calque.experiments.run.places import CACHE
from calque.experiments.run.step import Machine, Step, cached_method
from calque.experiments.study.models import Model
from calque.experiments.study.tasks import CrossLingualTask, find_task, open_examples

if TYPE_CHECKING:
    from calque.derive.task_data import TaskFolder

Tasks = Mapping[str, CrossLingualTask]
Examples = Mapping[str, Step]  # the steps that write examples, by task


@dataclass(frozen=True)
class StudyMeasure(ABC):
    """A measure in a study's settings."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The measure's name in settings and in its folder's name."""

    @abstractmethod
    def parts(self, tasks: Tasks, examples: Examples) -> Sequence[Measure]:
        """Return the measures to compute, with the tasks and examples that they need from a study."""

    def mistakes(self, study: Any) -> list[str]:
        """Return a message for each error in the measure's settings, given the study's settings."""
        return []


class Measure(StudyMeasure):
    """A measure of a model. Increase `format` when a code change alters a model's records."""

    format: ClassVar[int] = 1
    any_model: ClassVar[bool] = False  # whether the measure applies without a language pair

    @abstractmethod
    def __call__(self, model: Model, machine: Machine) -> Measurement:
        """Measure a model. Raises BadInput if the checkpoint or data are damaged or do not match."""

    def parts(self, tasks: Tasks, examples: Examples) -> Sequence[Measure]:
        return (self,)

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
        from calque.derive.build import MEASURED

        facts = model.training.data.open().facts["languages"][model.language]
        sentences = min(MEASURED, facts["out"]["sentences"])
        record = model.measured(machine).record(ORDER, "kendall", facts["order distance"], sentences, step=0)
        return Measurement((record,))


class SelfLabels(Measure):
    """The precision and recall of XLM-Align's self-labels over the course of pretraining."""

    name = "labels"

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        from calque.analysis.measures.word_alignment import self_labels

        return self_labels(model.measured(machine), model.metrics, model.training.steps_before)


class Links(Measure):
    """The AER of the word links extracted from each layer's hidden states, compared with the known links
    between two languages."""

    name = "links"
    format = 2

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        from calque.analysis.measures.word_alignment import pair_links

        return pair_links(model.measured(machine), model.languages(), model.language)


class Alignment(Measure):
    """alignment@1 over the course of pretraining, unless the two languages share a script."""

    name = "alignment"
    format = 2

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        from calque.analysis.measures.alignment import Types, type_alignment

        types, before = Types.open(model.data, model.language), model.training.steps_before
        return type_alignment(model.measured(machine), types, model.metrics, before)


class Sharing(Measure):
    """The fractions of a derived language's types, sub-words and words that also occur in its source."""

    name = "sharing"

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        from calque.derive.corpus import count_shared

        languages, derived = model.languages(), model.language
        types, table = languages.vocabulary.types, languages[derived].table
        shares = count_shared(languages.folder / derived, types, table).items()
        measured = model.measured(machine)
        return Measurement(tuple(measured.record(SHARING, name, *share, step=0) for name, share in shares))


class Knowledge(Measure):
    """Accuracy on facts stated in the source text, queried in the source and in the derived language."""

    name = "knowledge"
    format = 2

    def applies(self, model: Model) -> bool:
        return super().applies(model) and bool(model.training.data.config.source.questions())

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        from calque.analysis.measures.knowledge import knowledge

        data = model.training.data
        pairs = data.config.questions(model.language, data.place.parents[1] / CACHE)
        return knowledge(model.measured(machine), model.languages(), *map(list, zip(*pairs, strict=True)))


@dataclass(frozen=True)
class ExampleMeasure(Measure):
    """A measure on the examples for the task `task`."""

    task: str = "pos"
    examples: Step | None = None

    def parts(self, tasks: Tasks, examples: Examples) -> Sequence[Measure]:
        return (replace(self, examples=examples.get(self.task)),)

    def settings(self, model: Model) -> Any:
        examples = _examples_in(self.examples, model)
        return {entry.name: getattr(self, entry.name) for entry in fields(self)} | {"examples": examples}

    @property
    def folder(self) -> TaskFolder:
        assert self.examples
        return open_examples(self.examples)


def _examples_in(examples: Any, model: Model) -> dict[str, str]:
    return {name: examples.config.language(name) for name in model.training.languages}


@dataclass(frozen=True)
class DerivationRetrieval(ExampleMeasure):
    """Retrieval of a sentence's derived version from at most `sentences` derived sentences in a task's
    examples."""

    sentences: int = 1_000

    name = "retrieval"

    def __call__(self, model: Model, machine: Machine, *tags: Any) -> Measurement:
        from calque.analysis.measures.retrieval import derivation_retrieval

        languages = model.all_languages().whole
        return derivation_retrieval(model.measured(machine), languages, self.folder, self.sentences, *tags)


class ChangedRetrieval(DerivationRetrieval):
    """Retrieval of derived sentences after changes to the embeddings of derived words, as in
    `Interventions`."""

    name = "interventions-retrieval"

    def __call__(self, model: Model, machine: Machine, *tags: Any) -> Measurement:
        from calque.analysis.measures.interventions import not_changed
        from calque.analysis.tasks.catalogue import tagged_words
        from calque.analysis.tasks.task import Split
        from calque.derive.dictionary import usual_tags

        languages = model.all_languages().whole
        if wrong := not_changed(languages, model.language):
            return Measurement(exclusions=Counter({wrong: 1}))
        tagged = tagged_words(Split(self.folder.path("train"), find_task(self.task)))
        return super().__call__(model, machine, usual_tags(tagged, languages.vocabulary))


@dataclass(frozen=True)
class Interventions(ExampleMeasure):
    """The effects of changes at test time to a model fine-tuned on the source. The measure requires a
    dictionary, exactly one image per word, and separate embedding rows for the two languages."""

    finetune: FinetuneConfig | None = None

    @property
    def name(self) -> str:
        return "interventions" if self.task == "pos" else f"interventions-{self.task}"

    def parts(self, tasks: Tasks, examples: Examples) -> Sequence[Measure]:
        finetune = tasks[self.task].finetune if self.task in tasks else None
        return (replace(self, examples=examples.get(self.task), finetune=finetune),)

    def mistakes(self, study: Any) -> list[str]:
        if self.task in study.tasks:
            return []
        return [f"measures: interventions fine-tune on {self.task}, which is not among the tasks"]

    def settings(self, model: Model) -> Any:
        task = find_task(self.task)
        return super().settings(model) | {"task": task, "head": task.head.format}

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        from calque.analysis.measures.interventions import SourceTuned, interventions, not_changed
        from calque.analysis.tasks.transfer import DerivedTask

        assert self.finetune
        languages = model.languages()
        if wrong := not_changed(languages, model.language):
            return Measurement(exclusions=Counter({wrong: 1}))
        data = DerivedTask(find_task(self.task), languages, self.folder, self.finetune)
        return interventions(SourceTuned(model.measured(machine), data, self.progress(model, machine)))


def _probe_config() -> Any:
    from calque.analysis.measures.probing import ProbeConfig

    return ProbeConfig()


@dataclass(frozen=True)
class Growth(ExampleMeasure):
    """The similarity of the languages at each snapshot, measured on held-out text and on a task's
    examples."""

    probe: Any = field(default_factory=_probe_config)  # a ProbeConfig

    name = "growth"
    format = 3

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        from calque.analysis.measures.probing import Probes, growth

        share, length = model.training.mixture.held_out, model.training.model.length
        languages = model.all_languages().whole
        probes = Probes(languages, share, length, find_task(self.task), self.folder, self.probe)
        return growth(model.measured(machine), probes, dict(_snapshots(model)), self.progress(model, machine))

    def mistakes(self, study: Any) -> list[str]:
        wrong = [f"probe.{mistake}" for mistake in self.probe.mistakes()]
        if not study.train.snapshots:
            wrong.append("train.snapshots is 0, but growth is measured on snapshots")
        if not 0 < study.mixture.held_out < 1:
            wrong.append(f"mixture.held_out must be a fraction between 0 and 1, not {study.mixture.held_out}")
        return wrong


def _snapshots(model: Model) -> Iterator[tuple[int, Path]]:
    from calque.pretrain.run import snapshots_of

    start = model.training.start
    for run_step in [start, model.step] if isinstance(start, Step) else [model.step]:
        artefact = run_step.open()
        for step, name in list(snapshots_of(artefact).items())[: -1 if run_step is start else None]:
            yield run_step.config.steps_before + step, artefact.path(name)


@dataclass(frozen=True)
class TaskScores(Measure):
    examples: Step
    finetune: FinetuneConfig

    @property
    def name(self) -> str:
        return str(self.examples.config.task)


class Transfer(TaskScores):
    """Scores on a task in a derived language: SUP, ZS and Delta."""

    format = 4

    def settings(self, model: Model) -> Any:
        task = find_task(self.name)
        identity = {"task": task, "head": task.head.format, "finetune": self.finetune}
        # "way" only keeps the fingerprints of finished folders unchanged.
        return identity | {"examples": _examples_in(self.examples, model), "way": "ZS"}

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        from calque.analysis.tasks.transfer import DerivedTask, transfer

        examples = open_examples(self.examples)
        data = DerivedTask(find_task(self.name), model.languages(), examples, self.finetune)
        return transfer(
            model.measured(machine), data, lambda title, *done: machine.report(f"{title} {model.name}", *done)
        )


class ZeroShot(TaskScores):
    """Scores on a task in natural languages after fine-tuning on the source."""

    format = 5
    any_model = True

    def settings(self, model: Model) -> Any:
        return {
            "examples": self.examples.fingerprint,
            "head": find_task(self.name).head.format,
            "finetune": (self.finetune,),
            "way": "ZS",
            "sample": None,  # like "way", only keeps fingerprints
        }

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        from calque.analysis.tasks.transfer import zero_shot

        config, examples = self.examples.config, open_examples(self.examples)
        data = find_task(self.name), examples, [config.source, *config.settings.tests]
        progress = self.progress(model, machine)
        return zero_shot(model.measured(machine), *data, self.finetune, progress, config.files.units)


@dataclass(frozen=True)
class Retrieval(Measure):
    """Retrieval, at every layer and in both directions, between treebanks or other texts that contain the
    same sentences."""

    same_sentences: Mapping[str, Path]

    name = "retrieval"
    format = 4
    any_model = True

    @cached_method
    def identity(self) -> dict[str, str]:
        return {name: input_digest(path) for name, path in self.same_sentences.items()}

    def parts(self, tasks: Tasks, examples: Examples) -> Sequence[Measure]:
        return (self,) if self.same_sentences else ()

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        from calque.analysis.measures.retrieval import retrieval
        from calque.derive.natural import TextFiles, read_all
        from calque.derive.readers.lines import tokens

        sentences = {
            name: [tokens(line) for (column,) in read_all(TextFiles((path,)), Counter()) for line in column]
            for name, path in self.same_sentences.items()
        }
        return retrieval(model.measured(machine), sentences, model.run.main_layer)


PAIR_MEASURES: tuple[Measure, ...] = (
    OrderDistance(),
    SelfLabels(),
    Links(),
    Alignment(),
    Sharing(),
    Knowledge(),
)
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
        from calque.pretrain.run import CLAIMS

        measurement = self.measure(self.model, machine)
        noted = {CLAIMS: self.claims} if self.claims else {}
        write_measurement(step, replace(measurement, facts={**measurement.facts, **noted}), machine)

    @property
    def claims(self) -> str:
        return self.model.training.claims if self.data else ""

    def runs(self, measured: Artefact) -> list[Run]:
        from calque.pretrain.run import CLAIMS

        if not self.claims:
            return [self.model.run]
        noted = {artefact.facts.get(CLAIMS, "") for artefact in (self.model.step.open(), measured)}
        return [replace(self.model.run, claims=tuple(sorted(noted)))]


def write_measurement(
    step: Step, measurement: Measurement, machine: Machine, runs: Sequence[Run] = ()
) -> None:
    """Write a step's measurement to its folder; `runs` describes aligners other than the study's models."""
    facts = {"made with": machine.world.machine, "left out": dict(+measurement.exclusions)}
    with making(step.folder, step.kind, {**step.facts, **facts, **measurement.facts}) as part:
        json_rows.write(part / RUNS, runs)
        json_rows.write(part / RECORDS, measurement.records)


def read_measured(step: Step) -> tuple[Sequence[Run], list[Record]]:
    """Read the runs and records that a finished step measured. Raises BadInput for damaged files."""
    artefact = step.open()
    return step.config.runs(artefact), json_rows.read(artefact.path(RECORDS), Record)
