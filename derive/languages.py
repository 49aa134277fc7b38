"""Languages of a derived folder, opened together: corpora by name, and bitexts and dictionaries between them.

The only file that knows what such a folder holds: `vocabulary/`, and for each language a corpus and, where it was
derived, `image.npy` (the id of each source type) and `dictionary.tsv`.

Shapes: V types of the vocabulary, N sentence pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from derive.artefact import Artefact
from derive.corpus import NOWHERE, Corpus
from derive.dictionary import read_dictionary
from derive.errors import BadInput
from derive.types import OURS, Specials
from derive.vocabulary import Vocabulary

KIND = "languages"
"""What a derived folder is, as its manifest says."""
SOURCE, VOCABULARY = "source", "vocabulary"
"""The language that the others derive from, and the types that all share: folders beside the languages'."""


@dataclass(frozen=True)
class Language:
    """One language. `number` is its token type, in models that tell languages apart.

    `table` (V,) int64 is the id of each type of the vocabulary in this language. Ids of its corpus from V on are moved
    by `shift`, so that several new scripts have rows of their own in one model.
    """

    name: str
    number: int
    corpus: Corpus
    table: np.ndarray
    shift: int = 0

    def ids(self, ids: np.ndarray) -> np.ndarray:
        """Ids as the corpus has them, as a model has them."""
        return np.where(ids >= len(self.table), ids + self.shift, ids) if self.shift else ids


@dataclass(frozen=True)
class Bitext:
    """Parallel sentences of two languages.

    `lines` (N, 2) int64 are the numbers of a pair's lines in the two corpora. `known` says whether its word alignment
    is (it was derived); of a translation it is not, unless someone estimates it.
    """

    first: Language
    second: Language
    lines: np.ndarray
    known: bool

    def __len__(self) -> int:
        return len(self.lines)

    def ids(self, pair: int) -> tuple[np.ndarray, np.ndarray]:
        """The ids of both sides of pair number `pair`, as a model has them."""
        a, b = self.lines[pair].tolist()
        return self.first.ids(self.first.corpus[a]), self.second.ids(self.second.corpus[b])

    def order(self, seed: int) -> np.ndarray:
        """The numbers of all pairs, (N,), in the order in which `sample` takes them."""
        return np.random.default_rng(seed).permutation(len(self))

    def sample(self, fraction: float, seed: int) -> np.ndarray:
        """The numbers, ascending, of the pairs that may be used: `fraction` of them, drawn without replacement."""
        return np.sort(self.order(seed)[: round(fraction * len(self))])


@dataclass(frozen=True)
class Languages:
    """Languages that one model reads; the source is the first."""

    folder: Path
    languages: tuple[Language, ...]
    specials: Specials = OURS

    @classmethod
    def open(cls, folder: Path, names: Sequence[str]) -> Languages:
        """Open the source and the derived (or translated) languages `names`.

        Raises:
            BadInput: something is missing, damaged, or of another study.
        """
        source = Corpus.open(folder / SOURCE)
        tables = [_table(folder, name) for name in names]
        if len({len(table) for table in tables}) > 1:
            raise BadInput("languages of vocabularies of different sizes", folder)
        languages = [Language(SOURCE, 0, source, np.arange(len(tables[0])))]
        for name, table in zip(names, tables, strict=True):
            corpus, size = Corpus.open(folder / name), len(table)
            last = int(corpus.source_line.max(initial=0))
            if last >= len(source):
                raise BadInput(
                    f"line {last + 1:,} of {len(source):,} of the source language has an image", folder / name
                )
            scripts = sum(bool((language.table >= size).any()) for language in languages)
            shift = scripts * size if (table >= size).any() else 0
            languages.append(
                Language(name, len(languages), corpus, np.where(table >= size, table + shift, table), shift)
            )
        return cls(folder, tuple(languages))

    def __getitem__(self, name: str) -> Language:
        return next(language for language in self.languages if language.name == name)

    @property
    def size(self) -> int:
        """V, the size of the vocabulary."""
        return len(self.languages[0].table)

    @property
    def rows(self) -> int:
        """Rows of a model's table: V for the source, and V more for each new script."""
        return self.size * (1 + _scripts(self.languages))

    @property
    def others(self) -> tuple[str, ...]:
        """The names of all but the source."""
        return tuple(language.name for language in self.languages[1:])

    @property
    def padding(self) -> int:
        """The token type of padding, in models that tell languages apart: it comes after the languages' own."""
        return len(self.languages)

    @property
    def token_types(self) -> int:
        """Token types of such a model: one a language, and one for padding."""
        return len(self.languages) + 1

    @cached_property
    def tables(self) -> np.ndarray:
        """The id of each type of the vocabulary in each language, (languages, V) int64."""
        return np.stack([language.table for language in self.languages])

    @property
    def bitexts(self) -> tuple[Bitext, ...]:
        """The parallel sentences of the source and each other language."""
        return tuple(self.bitext(SOURCE, name) for name in self.others)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of all of them."""
        return Vocabulary.load(self.folder / VOCABULARY)

    def bitext(self, first: str, second: str) -> Bitext:
        """The parallel sentences of two languages, in the order of the second's lines."""
        a, b = self[first], self[second]
        if first == SOURCE:
            return Bitext(a, b, np.stack([b.corpus.source_line, np.arange(len(b.corpus))], axis=1), _known(b))
        place = np.full(len(self[SOURCE].corpus), -1)
        place[a.corpus.source_line] = np.arange(len(a.corpus))
        lines = np.stack([place[b.corpus.source_line], np.arange(len(b.corpus))], axis=1)
        return Bitext(a, b, lines[lines[:, 0] >= 0], _known(a) and _known(b))

    def dictionary(self, first: str, second: str) -> np.ndarray:
        """Pairs of ids, (n, 2) int64, that an objective may be told.

        Raises:
            BadInput: there is no such dictionary, or it is damaged.
        """
        if first != SOURCE:
            raise BadInput(f"no dictionary between {first} and {second}; expected one from the source", self.folder)
        path = self.folder / second / "dictionary.tsv"
        pairs, language = read_dictionary(path), self[second]
        if pairs[:, 0].max(initial=0) >= self.size or not np.array_equal(
            language.table[pairs[:, 0]], language.ids(pairs[:, 1])
        ):
            raise BadInput("an entry is not a type and its image: the dictionary of another language", path)
        return np.stack([pairs[:, 0], language.ids(pairs[:, 1])], axis=1)


def _scripts(languages: Sequence[Language]) -> int:
    """How many of them have a script of their own."""
    size = len(languages[0].table)
    return sum(bool((language.table >= size).any()) for language in languages)


def _known(language: Language) -> bool:
    return NOWHERE not in language.corpus.origin[:1]


def _table(folder: Path, name: str) -> np.ndarray:
    path = folder / name / "image.npy"
    try:
        return np.asarray(np.load(path, allow_pickle=False), np.int64)
    except (OSError, ValueError) as error:
        raise BadInput(f"expected the table of ids that makes {name!r}: {error}", path) from error


def fingerprints(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """What the manifest of a derived folder calls each language, by name: it changes whenever the language would.

    Raises:
        BadInput: there is no such manifest, it is damaged, or it has no such language.
    """
    languages = Artefact.open(folder, KIND).facts["languages"]
    if missing := [name for name in names if name not in languages]:
        raise BadInput(f"no language {missing[0]}; expected one of {', '.join(languages)}", folder)
    return {name: str(languages[name]["fingerprint"]) for name in names}
