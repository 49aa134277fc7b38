"""Languages of one folder, opened together: corpora by name, and bitexts and dictionaries between them.

What a folder holds is read in `derive.derived_folder` and in `derive.natural_folder`. Shapes: V types of the
vocabulary, R of them with a row in a model of natural languages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from derive.artefact import Artefact
from derive.bitext import Bitext, PairLines
from derive.corpus import NOWHERE
from derive.derived_folder import DICTIONARY, KIND, SOURCE, VOCABULARY, DerivedFolder, scripts, vocabulary_of
from derive.errors import BadInput
from derive.files import fingerprint
from derive.language import Language
from derive.links.stored import StoredLinks
from derive.natural_folder import NaturalFolder, is_natural
from derive.types import OURS, Specials
from derive.vocabulary import SPECIAL_TYPES, TOKENIZER, Vocabulary, read_specials


@dataclass(frozen=True)
class Languages:
    """Languages that one model reads; the source is the first.

    `paired` and `translated` name the pairs of languages whose bitexts and dictionaries a model is told; None: the
    source with each other one.

    Ids, tables and special types are those of a model. In a folder of natural languages a model may have rows of some
    types of the tokenizer only: `kept` (R,) int64, ascending, are these types' ids there; None, of all. A finished
    checkpoint has rows of all types again, so whatever reads one reads `whole`. `parallel` are the bitexts of natural
    languages, whose sentences are no lines of the languages' corpora.
    """

    folder: Path
    languages: tuple[Language, ...]
    specials: Specials = OURS
    estimated: Mapping[tuple[str, str], StoredLinks] = field(default_factory=dict)
    paired: tuple[tuple[str, str], ...] | None = None
    translated: tuple[tuple[str, str], ...] | None = None
    kept: np.ndarray | None = None
    parallel: Mapping[tuple[str, str], Bitext] | None = None

    @classmethod
    def open(cls, folder: Path, names: Sequence[str]) -> Languages:
        """Open the source and the derived (or translated) languages `names`; without a name the source is alone.

        Of natural languages none is the source: those that are named are opened, with all bitexts and dictionaries
        that there are between them.

        Raises:
            BadInput: something is missing, damaged, or of another study.
        """
        artefact = Artefact.open(folder, KIND)
        if is_natural(artefact):
            return cls._natural(NaturalFolder.open(artefact), names)
        specials = read_specials(artefact.path(f"{VOCABULARY}/{SPECIAL_TYPES}").parent)
        return cls(folder, DerivedFolder(artefact).languages(names), specials)

    @classmethod
    def _natural(cls, natural: NaturalFolder, names: Sequence[str]) -> Languages:
        specials = read_specials(vocabulary_of(natural.artefact))
        languages = natural.languages(names)
        parallel = natural.bitexts(languages)
        return cls(
            natural.artefact.folder,
            languages,
            natural.specials(specials),
            paired=tuple(parallel),
            translated=tuple(pair for pair in parallel if natural.has(pair, DICTIONARY)),
            kept=natural.kept,
            parallel=parallel,
        )

    @property
    def whole(self) -> Languages:
        """The same languages with the tokenizer's ids, as text and finished checkpoints have them."""
        if self.kept is None:
            return self
        natural = replace(self._natural_folder, kept=None)
        whole = self._natural(natural, [language.name for language in self.languages])
        return replace(whole, estimated=self.estimated, paired=self.paired, translated=self.translated)

    @property
    def _natural_folder(self) -> NaturalFolder:
        return NaturalFolder.open(Artefact.open(self.folder, KIND))

    def with_links(self, first: str, second: str, folder: Path) -> Languages:
        """The same languages, whose bitext of these two has the links that were written to `folder`.

        Raises:
            BadInput: the links are damaged, or of another bitext.
        """
        links = StoredLinks.open(folder)
        links.check(len(self.bitext(first, second)), self.identity(first, second), folder)
        return replace(self, estimated={**self.estimated, (first, second): links})

    def identity(self, *names: str) -> dict[str, str]:
        """What decides the bytes of these languages, by name; the source is part of each other one."""
        return fingerprints(self.folder, [name for name in names if name != SOURCE])

    def __getitem__(self, name: str) -> Language:
        return next(language for language in self.languages if language.name == name)

    @property
    def size(self) -> int:
        """How many types have a row in a model: V, the size of the vocabulary, or R, those that are kept."""
        return len(self.languages[0].table)

    @property
    def rows(self) -> int:
        """Rows of a model's table: V (or R) for the source, and V more for each new script."""
        return self.size * (1 + scripts(self.languages))

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
        """The row of each type of the vocabulary in each language, (languages, V) int64, or (languages, R)."""
        first = self.languages[0].table
        if all(language.table is first for language in self.languages):
            return np.broadcast_to(first, (len(self.languages), len(first)))
        return np.stack([language.table for language in self.languages])

    @property
    def bitexts(self) -> tuple[Bitext, ...]:
        """The parallel sentences that a model may be shown: of the source and each other language, or of `paired`."""
        return tuple(self.bitext(*pair) for pair in (self._star if self.paired is None else self.paired))

    @property
    def dictionaries(self) -> tuple[tuple[str, str], ...]:
        """The pairs of languages whose dictionaries a model may be told: the source and each other, or `translated`."""
        return self._star if self.translated is None else self.translated

    @property
    def _star(self) -> tuple[tuple[str, str], ...]:
        return tuple((SOURCE, name) for name in self.others)

    @property
    def tokenizer(self) -> Path:
        """The tokenizer of the vocabulary, unread; `vocabulary` is the one to encode with."""
        return self.folder / VOCABULARY / TOKENIZER

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of all of them.

        Raises:
            BadInput: it is damaged.
        """
        home = vocabulary_of(Artefact.open(self.folder, KIND))
        vocabulary = Vocabulary.load(home)
        if self.kept is None and vocabulary.size != self.size:
            raise BadInput(f"{vocabulary.size:,} types, and languages of {self.size:,}", home / TOKENIZER)
        return vocabulary

    def bitext(self, first: str, second: str) -> Bitext:
        """The parallel sentences of two languages, in the order of the second's lines.

        Raises:
            BadInput: natural languages without a bitext.
        """
        if self.parallel is not None:
            return self._given_bitext(first, second)
        a, b, estimated = self[first], self[second], self.estimated.get((first, second))
        if first == SOURCE:
            return Bitext(a, b, PairLines(len(b.corpus), (b.corpus.source_line, None)), _known(b), estimated)
        place = np.full(len(self[SOURCE].corpus), -1)
        place[a.corpus.source_line] = np.arange(len(a.corpus))
        places = place[b.corpus.source_line]
        there = np.flatnonzero(places >= 0)
        return Bitext(a, b, PairLines(len(there), (places[there], there)), _known(a) and _known(b), estimated)

    def _given_bitext(self, first: str, second: str) -> Bitext:
        assert self.parallel is not None
        there, estimated = self.parallel, self.estimated.get((first, second))
        if (second, first) in there:
            bitext = there[second, first]
            return replace(bitext, first=bitext.second, second=bitext.first, estimated=estimated)
        if (first, second) not in there:
            pairs = ", ".join(map("-".join, there)) or "none"
            raise BadInput(f"no bitext of {first} and {second}; there are {pairs}", self.folder)
        return replace(there[first, second], estimated=estimated)

    def dictionary(self, first: str, second: str) -> np.ndarray:
        """Pairs of ids, (n, 2) int64, ascending, that an objective may be told.

        Between two derived languages it has the types that both have an entry for: the images of one source type. In a
        lexicon of natural languages a type may have several entries, of which the first is the most frequent.

        Raises:
            BadInput: there is no such dictionary, or it is damaged.
        """
        if self.parallel is not None:
            return _sorted(self._natural_folder.dictionary(self[first], self[second], DICTIONARY))
        if first == SOURCE:
            return self._entries(second)
        if second == SOURCE:
            return _sorted(self._entries(first)[:, ::-1])
        ours, theirs = self._entries(first), self._entries(second)
        _, here, there = np.intersect1d(ours[:, 0], theirs[:, 0], return_indices=True)
        return _sorted(np.stack([ours[here, 1], theirs[there, 1]], axis=1))

    def _entries(self, name: str) -> np.ndarray:
        """The dictionary of the source and a derived language."""
        return DerivedFolder(Artefact.open(self.folder, KIND)).entries(self[name])

    def letters(self, name: str) -> dict[str, str] | None:
        """What letters of the source become in a language's spelling, or None where it is no exchange of letters.

        Raises:
            BadInput: they are damaged.
        """
        return DerivedFolder(Artefact.open(self.folder, KIND)).letters(name)


def _sorted(pairs: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(pairs[np.argsort(pairs[:, 0], kind="stable")])


def _known(language: Language) -> bool:
    return NOWHERE not in language.corpus.origin[:1]


def fingerprints(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """What the manifest of a derived folder calls each language, by name: it changes whenever the language would.

    Without names, it is the source alone: what its corpus and the vocabulary are made of, byte by byte.

    Raises:
        BadInput: there is no such manifest, it is damaged, or it has no such language.
    """
    artefact = Artefact.open(folder, KIND)
    if not names:
        own = {name: value for name, value in artefact.digests.items() if name.split("/")[0] in (SOURCE, VOCABULARY)}
        return {SOURCE: fingerprint(own)}
    languages = artefact.facts["languages"]
    if missing := [name for name in names if name not in languages]:
        raise BadInput(f"no language {missing[0]}; expected one of {', '.join(languages)}", folder)
    return {name: str(languages[name]["fingerprint"]) for name in names}
