"""The languages of a study: a source and its images, natural languages, or the two languages of gold word links.

The config of the step that writes their folder has `identity` (the fingerprint of all), `language` (one language's
fingerprint, which does not depend on the others if it need not), `rows_of` (the rows of a model's table for some of
them) and `pairs_of` (the pairs that have bitexts). The languages of a study have `mistakes` (their problems, in words).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from calque.analysis.measures.aer import SETS, GoldSet, gold_set
from calque.analysis.records.run import Described
from calque.derive.artefact import digest
from calque.derive.build import (
    check_tags,
    derive_languages,
    languages_fingerprint,
    rewriting_of,
    trial_image,
    write_translation,
)
from calque.derive.dictionary import DictionaryConfig, read_words
from calque.derive.errors import BadInput, NoFile
from calque.derive.example import Question
from calque.derive.fingerprint import fingerprint
from calque.derive.folder import FORMAT, KIND
from calque.derive.language import SOURCE
from calque.derive.links.aligner import Pair
from calque.derive.natural.build import Rows, derive_natural, natural_fingerprint
from calque.derive.natural.files import BitextFiles, TextFiles, Without
from calque.derive.own_transform import check_own
from calque.derive.readers.lines import EDITION
from calque.derive.source import Source
from calque.derive.transform import Compose, Transform, image_of_question
from calque.derive.vocabulary import SMALLEST, GivenVocabulary
from calque.derive.words import Agglutinate, Drop, Rewrite, Split
from calque.experiments.places import CACHE, name_mistakes
from calque.experiments.step import Machine, Step, cached_method

KEEPING = (Agglutinate, Drop, Split)  # transforms that never turn one whole word into another
SAMPLE = 100  # types for trying out transforms
TYPES = 10_000_000
LanguagePair = tuple[str, str]
THE_SOURCE = Described(SOURCE, "the source")


@dataclass(frozen=True)
class DerivedLanguages:
    """A source and its images under `transforms`. `vocabulary` is the number of types to learn from the source, or the
    folder of a tokenizer. With `redraw` each seed of a study draws its own text, transforms and dictionary besides its
    models, so that intervals over seeds cover the data too; seed 0 draws the same data as without it."""

    source: Source
    transforms: tuple[Transform, ...]
    vocabulary: int | Path
    dictionary: DictionaryConfig = field(default_factory=DictionaryConfig)
    redraw: bool = False

    @cached_method
    def of_seed(self, seed: int) -> DerivedLanguages:
        if not self.redraw:
            return self
        return replace(
            self,
            source=self.source.redrawn(seed),
            transforms=tuple(transform.redrawn(seed) for transform in self.transforms),
            dictionary=self.dictionary.redrawn(seed),
            redraw=False,
        )

    def step(self, home: Path) -> Step:
        return Step(_derive, self, home / "languages", "languages", "derive", KIND, FORMAT, spreads=True)

    def identity(self) -> str:
        return self._fingerprint(self.transforms)

    def language(self, step: Step, name: str) -> str:
        return self._fingerprint(tuple(transform for transform in self.transforms if transform.name == name))

    def rows_of(self, step: Step, names: Sequence[str]) -> int:
        """One row for each type and script."""
        moved = (trial_image(transform, SAMPLE) for transform in self.transforms if transform.name in names)
        scripts = 1 if len(names) == 1 else sum(bool((image >= SAMPLE).any()) for image in moved)
        return self._types * (1 + scripts)

    def pairs_of(self, names: Sequence[str]) -> tuple[LanguagePair, ...]:
        return tuple((SOURCE, name) for name in names)

    def translates(self, transform: Transform) -> bool:
        """Whether a dictionary may have an entry of two different words, as far as is known before text is read."""
        words = self.dictionary.file or self.dictionary.fraction > 0
        changed = bool((trial_image(transform, SAMPLE) != np.arange(SAMPLE)).any())
        parts = transform.parts if isinstance(transform, Compose) else (transform,)
        renamed = any(isinstance(part, Rewrite) and not isinstance(part, KEEPING) for part in parts)
        return bool(words) and (changed or renamed)

    def questions(self, name: str, cache: Path) -> list[tuple[Question, Question]]:
        (transform,) = (transform for transform in self.transforms if transform.name == name)
        questions, ready = self.source.questions(), transform.ready(cache)
        return [(question, image_of_question(question, ready, number)) for number, question in enumerate(questions)]

    @property
    def names(self) -> list[str]:
        return [transform.name for transform in self.transforms]

    @property
    def draws(self) -> tuple[str, ...]:
        """The data that a seed draws in addition to the model, in words."""
        return (*self.source.drawn, *self.dictionary.drawn) if self.redraw else ()

    def mistakes(self) -> list[str]:
        wrong = name_mistakes("transforms", self.names)
        if isinstance(self.vocabulary, Path):
            from calque.pretrain.tokenizer_check import check_tokenizer  # loads torch

            try:
                GivenVocabulary(self.vocabulary).open()
                check_tokenizer(self.vocabulary)
            except BadInput as error:
                wrong.append(f"vocabulary is a number of types, or the folder of a tokenizer: {error}")
        else:
            wrong += _vocabulary_mistakes(self.vocabulary)
        try:
            check_tags(self.dictionary, self.source)
            if self.dictionary.file:
                read_words(self.dictionary.file)
        except BadInput as error:
            wrong.append(f"dictionary: {error}")
        for transform in self.transforms:
            try:
                trial_image(transform, SAMPLE)
            except ValueError as error:
                wrong.append(f"transforms: {error}")
        try:
            if self.source.questions() and (rewriting := rewriting_of(self.transforms)):
                wrong.append(f"transforms: {rewriting[0].name} changes words, which questions about facts ask for")
        except BadInput as error:
            wrong.append(f"source: {error}")
        if self.redraw and not self.draws:
            wrong.append(
                "redraw: only the model is drawn at random here: text and examples are read from files, and the "
                "dictionary has the most frequent types, or all, or none"
            )
        return wrong

    @cached_property
    def _given(self) -> int | GivenVocabulary:
        return GivenVocabulary(self.vocabulary) if isinstance(self.vocabulary, Path) else self.vocabulary

    @cached_property
    def _types(self) -> int:
        return self._given if isinstance(self._given, int) else self._given.open().size

    def _fingerprint(self, transforms: tuple[Transform, ...]) -> str:
        return languages_fingerprint(
            self._corpus, transforms, self._given, self.dictionary, rewriting_of(self.transforms), self._examples
        )

    @cached_method
    def _corpus(self, trees: bool) -> str:
        return self.source.corpus_identity(trees)

    @cached_method
    def _examples(self, task: str) -> str:
        return self.source.task_identity(task)


def _vocabulary_mistakes(size: int) -> list[str]:
    return [] if SMALLEST <= size <= TYPES else [f"vocabulary is from {SMALLEST} to {TYPES:,} types, not {size:,}"]


def _derive(step: Step, machine: Machine) -> None:
    of: DerivedLanguages = step.config
    cache = step.place.parent.parent / CACHE
    check_own(of.source, of.transforms, cache, machine.workers)
    arguments = of.source, of.transforms, of._given, of.dictionary, step.folder, cache
    derive_languages(*arguments, machine.workers, machine.report)


@dataclass(frozen=True)
class NaturalLanguages:
    """Text of natural languages and bitexts between them, in a given vocabulary. `source` is the language that tasks
    are learnt in. Sentences of `withheld` are left out of text and bitexts. Models have rows for the types that occur,
    or for all, by `table`. `dictionaries` are lexicons by language pair, as
    `derive.dictionary` reads them. `types` is the tokenizer's number of types, for a plan."""

    source: str = "en"
    texts: Mapping[str, TextFiles] = field(default_factory=dict)
    bitexts: Mapping[LanguagePair, tuple[BitextFiles, ...]] = field(default_factory=dict)
    withheld: TextFiles | None = None
    dictionaries: Mapping[LanguagePair, Path] = field(default_factory=dict)
    table: Rows = "used"
    types: int = 0

    def step(self, home: Path, vocabulary: Path) -> Step:
        """The step that encodes them with the tokenizer of the folder `vocabulary`."""
        text = NaturalText(self, GivenVocabulary(vocabulary))
        return Step(_encode, text, home / "languages", "text and bitexts", "derive", KIND, FORMAT, spreads=True)

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
    """Natural languages in a vocabulary."""

    languages: NaturalLanguages
    vocabulary: GivenVocabulary

    @cached_property
    def _arguments(self) -> tuple[Any, Any]:
        """Texts and bitexts without withheld sentences."""
        of = self.languages

        def kept(files: Any) -> Any:
            return Without(files, of.withheld) if of.withheld else files

        texts = {name: kept(files) for name, files in of.texts.items()}
        return texts, {pair: tuple(map(kept, parts)) for pair, parts in of.bitexts.items()}

    def identity(self) -> str:
        (texts, bitexts), of = self._arguments, self.languages
        return natural_fingerprint(texts, bitexts, self.vocabulary, of.table, dict(of.dictionaries))

    def language(self, step: Step, name: str) -> str:
        return f"{step.fingerprint}/{name}"

    def rows_of(self, step: Step, names: Sequence[str]) -> int:
        """Rows for types that occur, or, before the text has been read, for all."""
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

    def pairs_of(self, names: Sequence[str]) -> tuple[LanguagePair, ...]:
        return tuple(pair for pair in self.languages.bitexts if set(pair) <= set(names))


def _encode(step: Step, machine: Machine) -> None:
    text: NaturalText = step.config
    (texts, bitexts), of = text._arguments, text.languages
    arguments = texts, bitexts, text.vocabulary, step.folder, machine.workers, machine.report
    derive_natural(*arguments, of.table, dict(of.dictionaries))


@dataclass(frozen=True)
class GoldPairs:
    """Gold sets of word links in the folder `gold`, and parallel text of the same languages to learn from. `text` is by
    gold set, for models that learn from it together with the set's own sentences."""

    gold: Path
    text: Mapping[str, tuple[BitextFiles, ...]]
    vocabulary: int
    sets: tuple[str, ...] = SETS

    def of_set(self, name: str) -> GoldText:
        return GoldText(self.gold, name, self.text.get(name, ()), self.vocabulary)

    def mistakes(self) -> list[str]:
        wrong = name_mistakes("sets", list(self.sets)) + _vocabulary_mistakes(self.vocabulary)
        if unknown := sorted(set(self.text) - set(self.sets)):
            wrong.append(f"text is for sets, and {', '.join(unknown)} is not one of them")
        return wrong


GOLD_FORMAT = 2  # raise it when the same files would give other sentences


@dataclass(frozen=True)
class GoldText:
    """The gold set `name` in the folder `gold`, and parallel text of the same two languages. They are a source and its
    translation with one vocabulary of `vocabulary` types."""

    gold: Path
    name: str
    text: tuple[BitextFiles, ...] = ()
    vocabulary: int = 0

    @cached_property
    def set(self) -> GoldSet:
        return gold_set(self.gold, self.name)

    @property
    def pair(self) -> LanguagePair:
        first, _, second = self.name.partition("-")
        return first, second

    def step(self, home: Path) -> Step:
        place, title = home / self.name / "languages", f"languages {self.name}"
        return Step(_translate, self, place, title, "derive", KIND, FORMAT)

    def identity(self) -> dict[str, Any]:
        return {"text": self.digest, "vocabulary": self.vocabulary}

    def language(self, step: Step, name: str) -> str:
        return step.fingerprint

    def rows_of(self, step: Step, names: Sequence[str]) -> int:
        return self.vocabulary

    def pairs_of(self, names: Sequence[str]) -> tuple[LanguagePair, ...]:
        return tuple((SOURCE, name) for name in names)

    @cached_property
    def digest(self) -> str:
        files = [[_digest(path) for path in (source.path, source.beside) if path] for source in self.text]
        switches = [(source.columns, source.escaped) for source in self.text]
        return fingerprint(GOLD_FORMAT, EDITION, self.gold_digests, files, switches)

    @cached_property
    def gold_digests(self) -> list[str]:
        return [self.name, *(_digest(path) for path in sorted((self.gold / self.name).glob("*")) if path.is_file())]

    def own(self) -> list[Pair]:
        """The gold set's sentences, in lower case."""
        return lowered(self.set.pairs)

    def pairs(self) -> tuple[list[Pair], Counter[str]]:
        """The set's own sentences and the parallel text, each pair once, and exclusions."""
        left_out: Counter[str] = Counter()
        everything = self.own()
        everything += [pair for text in self.text for pair in text.words(*self.pair, left_out)]
        once = list(dict.fromkeys(everything))
        left_out["sentence pairs that were there already"] += len(everything) - len(once)
        left_out["sentence pairs learnt from"] += len(once)
        return once, left_out


def _translate(step: Step, machine: Machine) -> None:
    text: GoldText = step.config
    machine.report(step.title, 0, 1)
    pairs, _ = text.pairs()
    write_translation(pairs, text.pair[1], text.vocabulary, step.folder)
    machine.report(step.title, 1, 1)


def lowered(pairs: Sequence[Pair]) -> list[Pair]:
    """Sentence pairs in lower case."""
    return [(tuple(map(str.lower, source)), tuple(map(str.lower, target))) for source, target in pairs]


def _digest(path: Path) -> str:
    """The file's SHA-256; empty for a missing file, which its reader reports."""
    return digest(path) if path.is_file() else ""
