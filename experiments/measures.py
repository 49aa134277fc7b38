"""What the models of a study are measured by: each measure is a frozen dataclass, and a step for each model.

A new measure that needs no settings is a class here or in a study's own file, and an entry of `MEASURES`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, ClassVar

from analysis.aligners.encoder import Encoder
from analysis.aligners.methods import BY_NAME, DEFAULT, OT, RELEASED
from analysis.aligners.subwords import SubWords
from analysis.measures.alignment import Types, alignment_of_checkpoint, alignments_of_checkpoint, growth
from analysis.measures.contextual import contextual_records, pair_records
from analysis.measures.forms import form_records
from analysis.measures.gold import SETS
from analysis.measures.held_out import held_out_records
from analysis.measures.knowledge import knowledge_records
from analysis.measures.labels import label_records
from analysis.measures.link_layers import layer_scores
from analysis.measures.mining import PARTS, Rule, mined
from analysis.measures.probe_text import ProbeConfig, ProbeText
from analysis.measures.probing import Probes, beside_untrained, model_with_head
from analysis.measures.retrieval import retrievals, sentence_vectors
from analysis.records import json_rows
from analysis.records.items import Items
from analysis.records.record import AER, MINED, MINED_XTREME, ORDER, READ, RECORDS, RETRIEVAL, SHARING, Record
from analysis.records.run import RUNS, Run
from analysis.tasks.catalog import task
from derive.artefact import making
from derive.build import MEASURED
from derive.digests import digest
from derive.errors import BadInput
from derive.languages import SOURCE, Languages
from derive.lemmas import mates
from derive.links.aligner import LeftOut
from derive.natural.text import TextFiles
from derive.readers.compressed import check_file
from derive.readers.lines import tokens
from derive.sharing import shared
from derive.sources.files import written
from derive.task_data import TaskFolder
from experiments.languages import GoldText, LanguagePair
from experiments.models import Model, steps_of
from experiments.places import CACHE
from experiments.step import Machine, Step
from experiments.validation import name_mistakes
from pretrain.metrics import METRICS
from pretrain.snapshots import load_snapshot, snapshots_of


@dataclass(frozen=True)
class Measurement:
    """Records, counts of what was left out by reason, and `facts` for the manifest.

    `runs` describe aligners that learn without a model of the study. `files` are further texts by name.
    """

    records: Sequence[Record]
    left_out: Counter[str] = field(default_factory=Counter)
    runs: Sequence[Run] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


class Measure(ABC):
    """A measure of a model. Raise `format` when a change of the code gives other records for the same model."""

    format: ClassVar[int] = 1
    only_pairs: ClassVar[bool] = False
    """Whether it is of models of a source and one other language."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the folder of its records."""

    @abstractmethod
    def __call__(self, model: Model, machine: Machine) -> Measurement:
        """Measure a model.

        Raises:
            BadInput: the checkpoint or the data are damaged, or do not fit each other.
        """

    def applies(self, model: Model) -> bool:
        """Whether it can be measured: most measures compare languages, so that a model needs two."""
        others = len(model.training.languages)
        return others == 1 or (others > 1 and not self.only_pairs)

    def settings(self, model: Model) -> Any:
        """What decides its records in addition to the model."""
        return self

    def parts(self) -> Sequence[Measure]:
        """The measures that have a folder each."""
        return (self,)

    def mistakes(self) -> list[str]:
        """Everything that is wrong with its settings."""
        return []

    def rows(self, model: Model) -> int:
        """The most rows that the model reads at a time, for an estimate of memory; 0: no more than in training."""
        return 0


@dataclass(frozen=True)
class Measuring:
    """A measure of a model, as the config of a step. `data` is the text that the model has read."""

    measure: Measure
    model: Model
    data: Step | None

    def identity(self) -> list[Any]:
        """The measure with its settings, and the weights."""
        return [self.measure.name, self.measure.format, self.measure.settings(self.model), self.model]

    def card_bytes(self) -> float | None:
        """Bytes of a GPU that the model is expected to take."""
        if not isinstance(self.model.weights, Step):
            return None
        rows = self.measure.rows(self.model)
        return self.model.training.card_bytes_with(rows) if rows else self.model.training.card_bytes()


def measuring(measure: Measure, model: Model, threads: int) -> Step:
    """The step that measures a model."""
    data = model.training.data if isinstance(model.weights, Step) else None
    place, title = model.folder / measure.name, f"{measure.name} {model.name}"
    return Step(_measure, Measuring(measure, model, data), place, title, "evaluate", "records", threads=threads)


def _measure(step: Step, machine: Machine) -> None:
    config: Measuring = step.config
    write_measurement(step, config.measure(config.model, machine), machine)


def write_measurement(step: Step, measurement: Measurement, machine: Machine) -> None:
    """Write what a step measured as its folder."""
    facts = {"made with": machine.described, "left out": dict(+measurement.left_out)} | dict(measurement.facts)
    with making(step.folder, step.kind, step.facts | facts) as part:
        json_rows.write(part / RUNS, measurement.runs)
        json_rows.write(part / RECORDS, measurement.records)
        for name, text in measurement.files.items():
            path = part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")


def read_measurement(step: Step) -> Measurement:
    """What a finished step measured, without its further files.

    Raises:
        BadInput: it is damaged.
    """
    artefact = step.open()
    runs, records = json_rows.read(artefact.path(RUNS), Run), json_rows.read(artefact.path(RECORDS), Record)
    return Measurement(records, Counter(artefact.facts["left out"]), runs)


def _languages(model: Model) -> Languages:
    return Languages.open(model.data, model.training.languages)


def _pairs(model: Model) -> list[LanguagePair]:
    """All ordered pairs of a model's languages."""
    return list(permutations((SOURCE, *model.training.languages), 2))


@dataclass(frozen=True)
class OrderDistance(Measure):
    """The order distance between a derived language and the source."""

    name = "order"

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        records = []
        facts = model.training.data.open().facts["languages"]
        for language in model.training.languages:
            sentences = min(MEASURED, facts[language]["out"]["sentences"])
            value = facts[language]["order distance"]
            records.append(Record(model.run.id, ORDER, "kendall", value, sentences, language=language))
        return Measurement(records)


@dataclass(frozen=True)
class SelfLabels(Measure):
    """Precision and recall of XLM-Align's self-labels over the steps of pretraining."""

    name = "labels"
    only_pairs: ClassVar[bool] = True

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        (language,) = model.training.languages
        assert isinstance(model.weights, Step)
        metrics = model.weights.open().path(METRICS)
        return Measurement(label_records(metrics, model.run.id, language, model.training.steps_before))


@dataclass(frozen=True)
class Links(Measure):
    """AER of every layer's hidden states, against the known links between sentences and their derived sentences."""

    name = "links"
    format: ClassVar[int] = 2

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        run, seed, device = model.run.id, model.training.seed, str(machine.world.device)
        if len(model.training.languages) == 1:
            (language,) = model.training.languages
            arguments = model.checkpoint, model.data, run, language, seed, model.all_steps, device
            return Measurement(contextual_records(*arguments))
        languages = model.training.mixture.of(_languages(model))
        return Measurement(
            [
                record
                for pair in _pairs(model)
                for record in pair_records(model.checkpoint, languages, pair, run, seed, model.all_steps, device)
            ]
        )


@dataclass(frozen=True)
class Alignment(Measure):
    """alignment@1, for two languages over the steps of pretraining; no records where the script is shared."""

    name = "alignment"

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        if len(model.training.languages) > 1:
            return Measurement(self._between(model))
        (language,) = model.training.languages
        types = Types.open(model.data, language)
        if not types.asks:
            return Measurement([])
        assert isinstance(model.weights, Step)
        final = alignment_of_checkpoint(model.checkpoint, types).records(model.run.id, language, model.all_steps)
        metrics = model.weights.open().path(METRICS)
        return Measurement([*growth(metrics, final, model.training.steps_before), *final])

    def _between(self, model: Model) -> list[Record]:
        """From the first language of each ordered pair to the second."""
        languages = model.training.mixture.of(_languages(model))
        asked = {pair: types for pair in _pairs(model) if (types := Types.between(languages, *pair)).asks}
        found = alignments_of_checkpoint(model.checkpoint, list(asked.values()))
        return [
            record
            for (first, second), alignment in zip(asked, found, strict=True)
            for record in alignment.records(
                model.run.id, second, model.all_steps, first="" if first == SOURCE else first
            )
        ]


@dataclass(frozen=True)
class Sharing(Measure):
    """The shares of a derived language's types, sub-words and words that are the source's own."""

    name = "sharing"

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        languages = _languages(model)
        records = []
        for name in model.training.languages:
            counts = shared(languages.folder / name, languages.vocabulary.types, languages[name].table)
            records += [
                Record(model.run.id, SHARING, metric, value, count, language=name)
                for metric, (value, count) in counts.shares.items()
            ]
        return Measurement(records)


@dataclass(frozen=True)
class Knowledge(Measure):
    """Accuracy on the facts that the source's text states, queried in the source and in the derived language."""

    name = "knowledge"
    only_pairs: ClassVar[bool] = True
    format: ClassVar[int] = 2

    def applies(self, model: Model) -> bool:
        return super().applies(model) and bool(model.training.data.config.source.questions())

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        (language,) = model.training.languages
        data = model.training.data
        pairs = data.config.questions(language, data.place.parents[1] / CACHE)
        questions, images = [question for question, _ in pairs], [image for _, image in pairs]
        about = model.run.id, model.all_steps, machine.world.device
        return Measurement(knowledge_records(model.checkpoint, _languages(model), language, questions, images, *about))


@dataclass(frozen=True)
class Forms(Measure):
    """alignment@1 of types outside the dictionary, by whether the dictionary has another form of their word.

    No records where the source has no lemmas, or the script is shared.
    """

    name = "forms"
    only_pairs: ClassVar[bool] = True
    UNKNOWN: ClassVar[str] = (
        "the source names no lemmas, so held-out types are not split by whether the dictionary has another form"
    )

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        (language,) = model.training.languages
        types, lemmas = Types.open(model.data, language), model.training.data.config.source.lemmas()
        if not lemmas or not types.asks:
            return Measurement([])
        forms = mates(lemmas, _languages(model).vocabulary)
        alignment = alignment_of_checkpoint(model.checkpoint, types)
        return Measurement(form_records(types, alignment, forms, model.run.id, language, model.all_steps))


@dataclass(frozen=True)
class Reading(Measure):
    """How much of each language the model has read, and its loss on held-out text."""

    name = "reading"

    def applies(self, model: Model) -> bool:
        return model.training.mixture.held_out > 0

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        training = model.training
        assert isinstance(model.weights, Step)
        shown, ids = model.weights.open().facts["shown"], training.model.length - 1
        records = []
        for language in (SOURCE, *training.languages):
            rows = int(shown[language]["rows"])
            values = {"ids": float(rows * ids), "epochs": float(shown[language]["epochs"])}
            records += [
                Record(model.run.id, READ, metric, value, rows, language=language, step=model.all_steps)
                for metric, value in values.items()
            ]
        about = model.run.id, model.all_steps, machine.world.device
        share = training.mixture.held_out
        return Measurement(records + held_out_records(model.checkpoint, _languages(model), share, *about))


@dataclass(frozen=True)
class Growth(Measure):
    """What the languages have in common at each snapshot, on held-out text and on examples of the task `task`."""

    task: str = "pos"
    probe: ProbeConfig = field(default_factory=ProbeConfig)
    examples: Step | None = None

    name = "growth"
    format: ClassVar[int] = 2

    def settings(self, model: Model) -> Any:
        assert self.examples
        examples = {name: self.examples.config.language(name) for name in model.training.languages}
        return {"task": self.task, "examples": examples, "probe": self.probe}

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        training, device = model.training, machine.world.device
        snapshots = list(_snapshots(model))
        if not training.mixture.held_out:
            raise BadInput("a run without held-out text: mixture.held_out is 0", model.folder)
        text = self.text(_languages(model), training.mixture.held_out, training.model.length)
        probes, network = Probes(text, self.task, self.probe), model_with_head(model.checkpoint)
        network.to(device)
        records: list[Record] = []
        for done, (step, path) in enumerate(snapshots, start=1):
            load_snapshot(network, path)
            records += probes(network, Record(model.run.id, "", "", 0.0, 0, step=step))
            machine.report(f"{self.name} {model.name}", done, len(snapshots))
        return Measurement(beside_untrained(records))

    def text(self, languages: Languages, share: float, length: int) -> ProbeText:
        """What the probes of a model of these languages read: the last `share` of the text, in rows of `length` ids."""
        assert self.examples
        examples = TaskFolder.open(self.examples.folder)
        return ProbeText.of(languages.whole, share, length, task(self.task), examples, self.probe)

    def mistakes(self) -> list[str]:
        return [f"probe.{mistake}" for mistake in self.probe.mistakes()]


@dataclass(frozen=True)
class ProbeCheck:
    """Whether the probes of models of `names` have enough text and examples, before any model is trained."""

    growth: Growth
    data: Step
    names: tuple[str, ...]
    share: float
    length: int

    COUNTS: ClassVar[str] = "shown"
    """In the manifest: the sentences, ids and words that the probes of each language read."""

    def step(self, home: Path) -> Step:
        """The step that counts them."""
        return Step(_count, self, home / "probe-text", "text for the probes", "derive", "probe-text")


def _count(step: Step, machine: Machine) -> None:
    check: ProbeCheck = step.config
    counts: dict[str, dict[str, int]] = {}
    for name in check.names:
        languages = Languages.open(check.data.folder, (name,))
        counts[name] = check.growth.text(languages, check.share, check.length).counted
        machine.report(step.title, len(counts), len(check.names))
    with making(step.folder, step.kind, step.facts | {check.COUNTS: counts}):
        pass


def _snapshots(model: Model) -> Iterator[tuple[int, Path]]:
    """Steps and files, ascending: first those of the model that this one starts from, except its last.

    Raises:
        BadInput: a run has none, or one of them has changed.
    """
    assert isinstance(model.weights, Step)
    before = model.training.start
    if isinstance(before, Step):
        artefact = before.open()
        steps = list(snapshots_of(artefact).items())[:-1]
        yield from ((before.config.steps_before + step, artefact.path(name)) for step, name in steps)
    artefact = model.weights.open()
    behind = steps_of(before) if before else 0
    yield from ((behind + step, artefact.path(name)) for step, name in snapshots_of(artefact).items())


@dataclass(frozen=True)
class GoldLinks(Measure):
    """AER of every layer on gold sets, each sentence encoded alone, by some ways to read links.

    `aligners` name the ways; models are judged by the first.
    """

    gold: Path
    sets: tuple[str, ...] = SETS
    aligners: tuple[str, ...] = (DEFAULT.name, RELEASED.name, OT.name)

    name = "links"

    def parts(self) -> Sequence[Measure]:
        return [GoldSetLinks(GoldText(self.gold, name), self.aligners) for name in self.sets]

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        raise NotImplementedError("its parts are measured")

    def mistakes(self) -> list[str]:
        wrong = name_mistakes("sets", list(self.sets), least=0)
        wrong += name_mistakes("aligners", list(self.aligners), least=1 if self.sets else 0)
        if unknown := [name for name in self.aligners if name not in BY_NAME]:
            wrong.append(f"aligners: there is no {', '.join(map(repr, unknown))}; there are {', '.join(BY_NAME)}")
        return wrong


@dataclass(frozen=True)
class GoldSetLinks(Measure):
    """AER of every layer on one gold set."""

    text: GoldText
    aligners: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"links-{self.text.name}"

    def applies(self, model: Model) -> bool:
        return True

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        methods = [BY_NAME[name] for name in self.aligners]
        scores, left_out = layer_scores(model.checkpoint, self.text.set, methods, str(machine.world.device))
        about: dict[str, Any] = {"step": model.all_steps, "gold_set": self.text.name}
        records = [
            aer_record(model.run, score.score, aligner=score.method, layer=score.layer, items=score.items, **about)
            for score in scores
        ]
        return Measurement(records, left_out)


def aer_record(run: Run, score: Any, **fields: Any) -> Record:
    """A record of link counts on the gold set `gold_set`.

    Raises:
        BadInput: there are neither gold nor predicted links, so that there is no error rate.
    """
    if score.aer is None:
        name = fields["gold_set"]
        raise BadInput(f"no sure link in the gold set {name} and none predicted: there is no error rate")
    return Record(run.id, AER, "aer", score.aer, score.sure, links=score, **fields)


@dataclass(frozen=True)
class Retrieval(Measure):
    """Retrieval between every two of treebanks, or other text, with the same sentences, by layer and both ways.

    At the layer that models are judged by, pairs are mined too (`analysis.measures.mining`). Of files of inference
    pairs, the hypotheses are used.
    """

    same_sentences: Mapping[str, Path]

    name = "retrieval"
    format: ClassVar[int] = 4
    RULES: ClassVar[Mapping[str, Rule]] = {MINED: "mutual", MINED_XTREME: "xtreme"}

    def applies(self, model: Model) -> bool:
        return True

    @cached_property
    def _digests(self) -> dict[str, str]:
        for path in self.same_sentences.values():
            check_file(path)
        return {name: digest(path) for name, path in self.same_sentences.items()}

    def identity(self) -> dict[str, str]:
        """The digests of the files."""
        return self._digests

    def parts(self) -> Sequence[Measure]:
        return (self,) if self.same_sentences else ()

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        left_out = LeftOut()
        sentences = self._parallel(left_out)
        encoder, pieces = Encoder(model.checkpoint, device=str(machine.world.device)), SubWords(model.checkpoint)
        vectors = {name: sentence_vectors(encoder, pieces, lines, left_out) for name, lines in sentences.items()}
        run, step, main = model.run, model.all_steps, model.run.main_layer
        records = [
            Record(
                run.id,
                RETRIEVAL,
                one.metric,
                float(found.mean()),
                len(found),
                layer=one.layer,
                step=step,
                language=target,
                first=query,
                items=Items.over(found, [1] * len(found)) if one.layer == main else None,
            )
            for one in retrievals(vectors)
            for query, target, found in ((one.first, one.second, one.forward), (one.second, one.first, one.back))
        ]
        for first, second in combinations(vectors, 2):
            if len(vectors[first][main]) < 2 * PARTS:
                continue
            for metric, rule in self.RULES.items():
                pair = mined(vectors[first][main], vectors[second][main], rule)
                about: dict[str, Any] = {"layer": main, "step": step, "language": second, "first": first}
                records.append(Record(run.id, RETRIEVAL, metric, pair.f1, pair.gold, **about))
        return Measurement(records, left_out.counts)

    def _parallel(self, left_out: LeftOut) -> dict[str, list[list[str]]]:
        """The sentences by language; those that some language lacks are left out of all."""
        sentences = {name: _sentences(path, name) for name, path in self.same_sentences.items()}
        if len({len(lines) for lines in sentences.values()}) > 1:
            sizes = ", ".join(f"{name} has {len(lines):,}" for name, lines in sentences.items())
            raise BadInput(f"treebanks of the same sentences have equal sizes; {sizes}")
        incomplete = {line for lines in sentences.values() for line, words in enumerate(lines, start=1) if not words}
        for line in sorted(incomplete):
            left_out.add("sentences that a language lacks", line)
        return {
            name: [words for line, words in enumerate(lines, start=1) if line not in incomplete]
            for name, lines in sentences.items()
        }


def _sentences(path: Path, language: str) -> list[list[str]]:
    """The sentences of a file with their own spaces, split at white space; of a pair without a side, no words."""
    if path.suffix == ".tsv":
        pairs = written("nli", language)(path, Counter())
        return [tokens(" ".join(s.text for s in pair.texts[1])) if pair.texts else [] for pair in pairs]
    pieces = TextFiles((path,)).pieces()
    return [tokens(line) for piece in pieces for line in piece.columns(Counter())[0]]


PAIR_MEASURES: tuple[Measure, ...] = (
    OrderDistance(),
    SelfLabels(),
    Links(),
    Alignment(),
    Sharing(),
    Knowledge(),
    Forms(),
)
"""What models of a source and one derived language are measured by."""
MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in (*PAIR_MEASURES, Reading())}
"""The measures without settings, by name."""
