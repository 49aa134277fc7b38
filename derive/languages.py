"""Languages opened together from one folder. V: types in the vocabulary; R: types with rows in the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Self

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.folder import VOCABULARY, LanguagesFolder, NamePair, scripts
from calque.derive.language import SOURCE, Bitext, EstimatedLinks, Language
from calque.derive.types import OURS, Specials
from calque.derive.vocabulary import TOKENIZER, Vocabulary


@dataclass(frozen=True)
class Languages:
    """The languages that one model reads, with derived languages after their source. The objective uses the
    bitexts and dictionaries of `pairs`, given with their folders; `texts` are bitexts outside the corpora.
    Ids, tables and special types use the model's numbering; if the model has rows for only some types, `kept`
    (R,) lists their tokenizer ids."""

    folder: Path
    languages: tuple[Language, ...]
    specials: Specials = OURS
    pairs: Mapping[NamePair, str] = field(default_factory=dict)
    texts: Mapping[NamePair, Bitext] = field(default_factory=dict)
    estimates: Mapping[NamePair, EstimatedLinks] = field(default_factory=dict)
    kept: np.ndarray | None = None
    disjoint: bool = False

    @classmethod
    def open(cls, folder: Path, names: Sequence[str], whole: bool = False) -> Self:
        """Open the languages `names` and their source. `whole`: whether the model has rows for all types."""
        contents = LanguagesFolder.open(folder)
        kept = None if whole else contents.kept()
        languages = contents.languages(names, kept)
        pairs = contents.pairs(languages)
        texts = contents.texts(languages, pairs)
        return cls(folder, languages, contents.specials(kept), pairs, texts, kept=kept)

    @property
    def whole(self) -> Self:
        """The same languages for a model with rows for all types."""
        if self.kept is None:
            return self
        names = [language.name for language in self.languages if language.name != SOURCE]
        whole = self.open(self.folder, names, whole=True)
        return replace(whole, pairs=self.pairs, estimates=self.estimates)

    @cached_property
    def _contents(self) -> LanguagesFolder:
        return LanguagesFolder.open(self.folder)

    def identity(self, *names: str) -> dict[str, str]:
        return self._contents.identity(names)

    def __getitem__(self, name: str) -> Language:
        return next(language for language in self.languages if language.name == name)

    @property
    def size(self) -> int:
        """The number of types that the model has rows for: V, or R."""
        return len(self.languages[0].table)

    @property
    def rows(self) -> int:
        """The number of rows in the model's table: `size`, plus another `size` for each new script."""
        return self.size * (1 + scripts(self.languages))

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(language.name for language in self.languages[1:])

    @property
    def padding(self) -> int:
        """The token type of padding in models with language embeddings."""
        return len(self.languages)

    @property
    def token_types(self) -> int:
        return len(self.languages) + 1

    @cached_property
    def tables(self) -> np.ndarray:
        """The row of each type in each language, (languages, V) or (languages, R) int64."""
        first = self.languages[0].table
        if all(language.table is first for language in self.languages):
            return np.broadcast_to(first, (len(self.languages), len(first)))
        return np.stack([language.table for language in self.languages])

    @property
    def tokenizer(self) -> Path:
        return self.folder / VOCABULARY / TOKENIZER

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary.load(self._contents.vocabulary)

    @cached_property
    def dictionaries(self) -> tuple[NamePair, ...]:
        """The pairs with a dictionary."""
        return tuple(pair for pair, place in self.pairs.items() if self._contents.has_dictionary(place))

    @property
    def bitexts(self) -> tuple[Bitext, ...]:
        return tuple(self.bitext(*pair) for pair in self.pairs)

    def bitext(self, first: str, second: str) -> Bitext:
        """Return a pair's separate parallel text or, if it has none, the lines that derive from the same
        source line, in the second language's order; raise BadInput if there are no such lines."""
        estimates = self.estimates.get((first, second))
        if self.disjoint:
            raise BadInput("no parallel sentences: languages read disjoint halves (mixture.disjoint)")
        if (first, second) in self.texts:
            return replace(self.texts[first, second], estimates=estimates)
        if (second, first) in self.texts:
            text = self.texts[second, first]
            return replace(text, first=text.second, second=text.first, estimates=estimates)
        a, b = self[first], self[second]
        if first == second or a.source != b.source:
            there = ", ".join(map("-".join, self.texts)) or "none"
            raise BadInput(f"no bitext for {first} and {second}; available: {there}", self.folder)
        line_of = np.full(len(self[a.source].corpus), -1)  # the first language's line for each source line
        line_of[a.corpus.source_line] = np.arange(len(a.corpus))
        lines = line_of[b.corpus.source_line]
        here = np.flatnonzero(lines >= 0)
        return Bitext(a, b, np.stack([lines[here], here], axis=1), a.has_origin and b.has_origin, estimates)

    def dictionary(self, first: str, second: str) -> np.ndarray:
        """Return a dictionary as pairs of ids, (n, 2), sorted by the first id. For two derived languages, it
        covers the source types that have entries in both; only the first language's entries may then be
        wrong, as two wrong entries could form a correct pair."""
        source = self[first].source
        if {(first, second), (second, first)} & self.pairs.keys() or source != self[second].source:
            entries = self._entries(first, second)
        else:
            ours, theirs = self._entries(source, first), self._entries(source, second)
            types, rows, _ = np.intersect1d(ours[:, 0], theirs[:, 0], return_indices=True)
            entries = np.stack([ours[rows, 1], self[second].images[types]], axis=1)
        return np.ascontiguousarray(entries[np.argsort(entries[:, 0], kind="stable")])

    def _entries(self, first: str, second: str) -> np.ndarray:
        for a, b, step in ((first, second, 1), (second, first, -1)):
            if (a, b) in self.dictionaries:
                return self._contents.dictionary(self[a], self[b], self.pairs[a, b])[:, ::step]
        there = ", ".join(map("-".join, self.dictionaries)) or "none"
        raise BadInput(f"no dictionary for {first} and {second}; available: {there}", self.folder)

    def letters(self, name: str) -> dict[str, str] | None:
        return self._contents.letters(name)


def all_but_last(languages: Languages, share: float) -> Languages:
    """Remove the last fraction `share` (below 1) of the source's sentences, and their images."""
    return _cut(languages, share, last=False) if share else languages


def only_last(languages: Languages, share: float) -> Languages:
    """Keep only the last fraction `share` of the source's sentences, and their images."""
    return replace(_cut(languages, share, last=True), estimates={})


def disjoint_halves(languages: Languages) -> Languages:
    """Keep half of the distinct sentences, chosen by hash, in the source and the other half in derived
    languages."""
    source = languages[SOURCE].corpus
    hashes = (blake2b(source[line].tobytes(), digest_size=1).digest()[0] for line in range(len(source)))
    first = np.fromiter(hashes, np.uint8, len(source)) % 2 == 0
    halves = tuple(
        replace(each, corpus=each.corpus.where(first[each.corpus.source_line] == (each.name == SOURCE)))
        for each in languages.languages
    )
    return replace(languages, languages=halves, disjoint=True)


def _cut(languages: Languages, share: float, last: bool) -> Languages:
    cut = []
    for language in languages.languages:
        corpus, size = language.corpus, len(languages[language.source].corpus)
        source_first = size - round(share * size)
        first = int(np.searchsorted(corpus.source_line, source_first))
        if not 0 < first < len(corpus):
            left = "none is left" if first == 0 else "none is held out"
            fault = f"if the last {share:.2%} of {len(corpus):,} sentences are held out, {left}"
            raise BadInput(f"{language.name}: {fault}", languages.folder / language.name)
        part = corpus.between(first, len(corpus), source_first) if last else corpus.between(0, first)
        cut.append(replace(language, corpus=part))
    return replace(languages, languages=tuple(cut))
