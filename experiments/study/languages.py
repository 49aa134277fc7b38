"""The languages in a study: a source and languages derived from it, or natural languages. The languages of
gold sets are in `experiments.study.gold`.

The config of the step that writes their folder provides `identity` (a fingerprint of all languages),
`language` (a fingerprint of one language, without dictionaries or bitexts if a model does not read them),
`rows_of` (the number of embedding rows for some languages) and `pairs_of` (the language pairs with bitexts).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from calque.analysis.records.record import Described
from calque.derive.build import check_tags, derive_languages, languages_fingerprint, rewriting_of, trial_image
from calque.derive.dictionary import NO_DICTIONARY, DictionaryConfig, read_words
from calque.derive.errors import BadInput, NoFile
from calque.derive.example import Question
from calque.derive.fingerprint import fingerprint
from calque.derive.folder import FORMAT, KIND, NamePair
from calque.derive.language import SOURCE
from calque.derive.natural.build import Rows, derive_natural, natural_fingerprint
from calque.derive.natural.files import BitextFiles, TextFiles, Without
from calque.derive.source import Source
from calque.derive.transform import Compose, Transform, image_of_question
from calque.derive.transforms import check_own
from calque.derive.vocabulary import SMALLEST, GivenVocabulary
from calque.derive.words import Agglutinate, Drop, Rewrite, Split
from calque.experiments.run.places import CACHE, name_mistakes
from calque.experiments.run.step import Machine, Step, cached_method
from calque.experiments.study.measures import ExampleMeasure, Retrieval, Transfer, ZeroShot
from calque.experiments.study.measuring import Measure
from calque.experiments.study.models import Group
from calque.experiments.study.tasks import DerivedExamples, Floors, NaturalExamples

KEEPING = (Agglutinate, Drop, Split)  # transforms that never turn one whole word into another
SAMPLE = 100  # the number of types for trying out transforms
TYPES = 10_000_000
THE_SOURCE = Described(SOURCE, "the source")


@dataclass(frozen=True)
class StudyData:
    """What a study reads and measures with one seed, whatever its languages.

    groups: the languages that each model reads.
    described: the languages to measure a given model on.
    text: the step that prepares the text for all models, if they share it.
    examples: the steps that prepare examples, by task.
    floors, aligners: steps that need no model of the study, scoring task baselines and word aligners.
    task_measures: the scores of fine-tuned models.
    """

    groups: Sequence[Group]
    described: tuple[Described, ...]
    text: Step | None = None
    examples: Mapping[str, Step] = field(default_factory=dict)
    floors: Sequence[Step] = ()
    aligners: Sequence[Step] = ()
    task_measures: Sequence[Measure] = ()


class StudyLanguages(ABC):
    """Languages as a study sets them."""

    derived = False  # whether the languages are derived from a source
    redraw = False  # whether each seed samples its own data
    bitexts: Mapping[NamePair, tuple[BitextFiles, ...]] = {}

    @property
    def draws(self) -> tuple[str, ...]:
        """What each seed samples besides the model, in words."""
        return ()

    @abstractmethod
    def mistakes(self) -> list[str]:
        """Return a message for each error in the languages' settings."""

    @abstractmethod
    def data(self, study: Any, home: Path, seed: int) -> StudyData:
        """Return a study's data for a seed; `home` is the folder of steps."""


@dataclass(frozen=True)
class DerivedLanguages(StudyLanguages):
    """A source and the languages that `transforms` derive from it. `vocabulary` is the number of types to
    learn from the source, or a tokenizer's folder. With `redraw`, each seed also samples its own text,
    transforms and dictionary, so that intervals over seeds cover the data too; seed 0 gives the same data as
    without it."""

    source: Source
    transforms: tuple[Transform, ...]
    vocabulary: int | Path
    dictionary: DictionaryConfig = field(default_factory=DictionaryConfig)
    redraw: bool = False

    derived = True

    @cached_method
    def of_seed(self, seed: int) -> DerivedLanguages:
        if not self.redraw:
            return self
        return replace(
            self,
            source=self.source.reseeded(seed),
            transforms=tuple(transform.reseeded(seed) for transform in self.transforms),
            dictionary=self.dictionary.reseeded(seed),
            redraw=False,
        )

    def data(self, study: Any, home: Path, seed: int) -> StudyData:
        return self.of_seed(seed)._data(study, home)

    def _data(self, study: Any, home: Path) -> StudyData:
        text = Step(_derive, self, home / "languages", "languages", "derive", KIND, FORMAT, spreads=True)
        measured = [measure.task for measure in study.measures if isinstance(measure, ExampleMeasure)]
        names = dict.fromkeys((*study.tasks, *measured))
        examples = {name: DerivedExamples(self, name).step(home) for name in names}
        pairs = [(SOURCE, SOURCE)]
        for other in self.names:
            pairs += [(SOURCE, other), (other, other)]
        return StudyData(
            groups=[
                Group(each.name, text, (each.name,), (THE_SOURCE, Described.of(each)), study.mixture)
                for each in self.transforms
            ],
            described=(THE_SOURCE,),
            text=text,
            examples=examples,
            floors=[Floors(examples[name], tuple(pairs), text).step(home) for name in study.tasks],
            task_measures=[Transfer(examples[name], its.finetune) for name, its in study.tasks.items()],
        )

    def identity(self) -> str:
        return self._fingerprint(self.transforms, self.dictionary)

    def language(self, name: str, dictionary: bool = True, bitexts: bool = True) -> str:
        transforms = tuple(transform for transform in self.transforms if transform.name == name)
        return self._fingerprint(transforms, self.dictionary if dictionary else NO_DICTIONARY)

    def rows_of(self, step: Step, names: Sequence[str]) -> int:
        """Return the number of embedding rows, one per type and script."""
        moved = (trial_image(transform, SAMPLE) for transform in self.transforms if transform.name in names)
        scripts = 1 if len(names) == 1 else sum(bool((image >= SAMPLE).any()) for image in moved)
        return self._types * (1 + scripts)

    def pairs_of(self, names: Sequence[str]) -> tuple[NamePair, ...]:
        return tuple((SOURCE, name) for name in names)

    def translates(self, transform: Transform) -> bool:
        """Whether the dictionary may contain pairs of different words, as far as is known before text is
        read."""
        words = self.dictionary.file or self.dictionary.fraction > 0
        changed = bool((trial_image(transform, SAMPLE) != np.arange(SAMPLE)).any())
        parts = transform.parts if isinstance(transform, Compose) else (transform,)
        renamed = any(isinstance(part, Rewrite) and not isinstance(part, KEEPING) for part in parts)
        return bool(words) and (changed or renamed)

    def questions(self, name: str, cache: Path) -> list[tuple[Question, Question]]:
        (ready,) = (transform.ready(cache) for transform in self.transforms if transform.name == name)
        questions = self.source.questions()
        return [(each, image_of_question(each, ready, number)) for number, each in enumerate(questions)]

    @property
    def names(self) -> list[str]:
        return [transform.name for transform in self.transforms]

    @property
    def draws(self) -> tuple[str, ...]:
        return (*self.source.drawn, *self.dictionary.drawn) if self.redraw else ()

    def mistakes(self) -> list[str]:
        wrong = [
            *name_mistakes("transforms", self.names),
            *self._vocabulary_mistakes(),
            *self._dictionary_mistakes(),
            *self._transform_mistakes(),
        ]
        if self.redraw and not self.draws:
            wrong.append(
                "redraw has no effect: text and examples are read from files, and the dictionary contains "
                "the most frequent types, or all, or none"
            )
        return wrong

    def _vocabulary_mistakes(self) -> list[str]:
        if not isinstance(self.vocabulary, Path):
            return vocabulary_mistakes(self.vocabulary)
        from calque.pretrain.tokenizer_check import check_tokenizer  # loads torch

        try:
            GivenVocabulary(self.vocabulary).open()
            check_tokenizer(self.vocabulary)
        except BadInput as error:
            return [f"vocabulary must be a number of types or a tokenizer's folder: {error}"]
        return []

    def _dictionary_mistakes(self) -> list[str]:
        try:
            check_tags(self.dictionary, self.source)
            if self.dictionary.file:
                read_words(self.dictionary.file)
        except BadInput as error:
            return [f"dictionary: {error}"]
        return []

    def _transform_mistakes(self) -> list[str]:
        wrong = []
        for transform in self.transforms:
            try:
                trial_image(transform, SAMPLE)
            except ValueError as error:
                wrong.append(f"transforms: {error}")
        rewriting = rewriting_of(self.transforms)
        try:
            if self.source.questions() and rewriting:
                fault = "changes words that answer questions about facts"
                wrong.append(f"transforms: {rewriting[0].name} {fault}")
        except BadInput as error:
            wrong.append(f"source: {error}")
        return wrong

    @cached_property
    def _given(self) -> int | GivenVocabulary:
        return GivenVocabulary(self.vocabulary) if isinstance(self.vocabulary, Path) else self.vocabulary

    @cached_property
    def _types(self) -> int:
        return self._given if isinstance(self._given, int) else self._given.open().size

    def _fingerprint(self, transforms: tuple[Transform, ...], dictionary: DictionaryConfig) -> str:
        among = rewriting_of(self.transforms)
        return languages_fingerprint(self._corpus, transforms, self._given, dictionary, among, self._examples)

    @cached_method
    def _corpus(self, trees: bool) -> str:
        return self.source.corpus_identity(trees)

    @cached_method
    def _examples(self, task: str) -> str:
        return self.source.task_identity(task)


def vocabulary_mistakes(size: int) -> list[str]:
    """Return the error in a number of types to learn, if it is out of range."""
    if SMALLEST <= size <= TYPES:
        return []
    return [f"vocabulary must have {SMALLEST} to {TYPES:,} types, not {size:,}"]


def _derive(step: Step, machine: Machine) -> None:
    of: DerivedLanguages = step.config
    cache = step.place.parent.parent / CACHE
    check_own(of.source, of.transforms, cache, machine.workers)
    arguments = of.source, of.transforms, of._given, of.dictionary, step.folder, cache
    derive_languages(*arguments, machine.workers, machine.report)


@dataclass(frozen=True)
class NaturalLanguages(StudyLanguages):
    """Text in natural languages and bitexts between them, encoded with a given vocabulary. Tasks are learnt
    in the language `source`. Sentences in `withheld` are excluded from text and bitexts. `table` is `all` or
    `used`: the types with embedding rows. `dictionaries` are lexicons by language pair, in the format of
    `derive.dictionary`. `types` is the tokenizer's number of types, for plans made without the tokenizer."""

    source: str = "en"
    texts: Mapping[str, TextFiles] = field(default_factory=dict)
    bitexts: Mapping[NamePair, tuple[BitextFiles, ...]] = field(default_factory=dict)
    withheld: TextFiles | None = None
    dictionaries: Mapping[NamePair, Path] = field(default_factory=dict)
    table: Rows = "used"
    types: int = 0

    def step(self, home: Path, vocabulary: Path) -> Step:
        text = NaturalText(self, GivenVocabulary(vocabulary))
        return Step(
            _encode, text, home / "languages", "text and bitexts", "derive", KIND, FORMAT, spreads=True
        )

    def data(self, study: Any, home: Path, seed: int) -> StudyData:
        described = self._described(study)
        read = study.given and study.objectives  # a start alone needs no text
        text = self.step(home, study.given.checkpoint) if read else None
        examples, floors = dict[str, Step](), list[Step]()
        for name, task in study.tasks.items():
            examples[name] = NaturalExamples(name, task, self.source).step(home)
            pairs = tuple((SOURCE, other) for other in (SOURCE, *task.tests))
            floors.append(Floors(examples[name], pairs, source=self.source).step(home))
        return StudyData(
            groups=[Group("", text, tuple(self.texts), described, study.mixture)] if text else [],
            described=described,
            text=text,
            examples=examples,
            floors=floors,
            task_measures=[ZeroShot(examples[name], its.finetune) for name, its in study.tasks.items()],
        )

    def _described(self, study: Any) -> tuple[Described, ...]:
        tested = [name for task in study.tasks.values() for name in task.tests]
        same = [name for m in study.measures if isinstance(m, Retrieval) for name in m.same_sentences]
        names = dict.fromkeys((self.source, *self.texts, *same, *tested))
        return tuple(Described(name, name) for name in names)

    def mistakes(self) -> list[str]:
        wrong = []
        if len(self.texts) < 2:
            wrong.append(f"texts need at least two languages, not {len(self.texts)}")
        for pair in self.bitexts:
            if missing := [language for language in pair if language not in self.texts]:
                wrong.append(f"bitexts: {'-'.join(pair)} needs text in {missing[0]}")
        if unknown := sorted(self.dictionaries.keys() - self.bitexts.keys()):
            there = ", ".join(map("-".join, self.bitexts))
            wrong.append(f"dictionaries: {'-'.join(unknown[0])} is not a bitext; there are {there}")
        if not self.bitexts:
            wrong.append("bitexts need at least one pair of languages")
        return wrong


@dataclass(frozen=True)
class NaturalText:
    """Natural languages encoded with a vocabulary."""

    languages: NaturalLanguages
    vocabulary: GivenVocabulary

    @cached_property
    def _arguments(self) -> tuple[Any, Any]:
        of = self.languages

        def kept(files: Any) -> Any:
            return Without(files, of.withheld) if of.withheld else files

        texts = {name: kept(files) for name, files in of.texts.items()}
        return texts, {pair: tuple(map(kept, parts)) for pair, parts in of.bitexts.items()}

    def identity(self) -> str:
        return self._fingerprint(True, True)

    def language(self, name: str, dictionary: bool = True, bitexts: bool = True) -> str:
        occurring = self.languages.table == "used"  # the types that occur depend on all text
        return fingerprint(self._fingerprint(bitexts or occurring, dictionary), name)

    @cached_method
    def _fingerprint(self, bitexts: bool, dictionaries: bool) -> str:
        of, (texts, pairs) = self.languages, self._arguments
        entries = dict(of.dictionaries) if dictionaries else {}
        return natural_fingerprint(texts, pairs if bitexts else {}, self.vocabulary, of.table, entries)

    def rows_of(self, step: Step, names: Sequence[str]) -> int:
        """Return the number of types that occur in the text or, before it is read, the number of all
        types."""
        of = self.languages
        if of.types and not self.vocabulary.folder.exists():
            return of.types
        with suppress(NoFile):  # some of the text is missing
            if of.table == "used" and step.finished:
                return int(step.open().facts["vocabulary"]["rows"])
        return self._types

    @cached_property
    def _types(self) -> int:
        return self.vocabulary.open().size

    def pairs_of(self, names: Sequence[str]) -> tuple[NamePair, ...]:
        return tuple(pair for pair in self.languages.bitexts if set(pair) <= set(names))


def _encode(step: Step, machine: Machine) -> None:
    text: NaturalText = step.config
    (texts, bitexts), of = text._arguments, text.languages
    arguments = texts, bitexts, text.vocabulary, step.folder, machine.workers, machine.report
    derive_natural(*arguments, of.table, dict(of.dictionaries))
