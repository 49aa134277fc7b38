"""Languages of one folder, opened together: corpora by name, and bitexts and dictionaries between them.

A folder of natural languages is read in `derive.natural_folder`. This is the only file that knows what a derived folder
holds: `vocabulary/`, and for each language a corpus and, where it was
derived, `image.npy` (the id of each source type), `dictionary.tsv`, and `letters.json`, where the language's spelling
exchanges letters one by one, or none. Digests are checked here of all but the corpora,
which are large: steps check those once, before hours of work that needs them.

Shapes: V types of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from derive import strict_json
from derive.artefact import Artefact
from derive.bitext import Bitext
from derive.corpus import NOWHERE, Corpus
from derive.dictionary import read_dictionary
from derive.errors import BadInput
from derive.files import fingerprint
from derive.language import Language
from derive.links.stored import StoredLinks
from derive.natural_folder import NaturalFolder, is_natural
from derive.types import OURS, Specials
from derive.vocabulary import COUNTS, SPECIAL_TYPES, TOKENIZER, Vocabulary, read_specials

KIND = "languages"
"""What a derived folder is, as its manifest says."""
SOURCE, VOCABULARY = "source", "vocabulary"
"""The language that the others derive from, and the types that all share: folders beside the languages'."""
IMAGE, DICTIONARY, LETTERS = "image.npy", "dictionary.tsv", "letters.json"
"""Files of a language: the id of each source type in it, its dictionary, and what its letters become."""


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
        there = [name.removesuffix(f"/{IMAGE}") for name in artefact.digests if name.endswith(f"/{IMAGE}")]
        if lacking := [name for name in names if name not in there]:
            raise BadInput(f"no language {', '.join(lacking)}; there are {', '.join(there) or 'none'}", folder)
        source = Corpus.open(artefact.path(f"{SOURCE}/corpus.json").parent)
        tables = [_table(artefact, name) for name in names]
        if len({len(table) for table in tables}) > 1:
            raise BadInput("languages of vocabularies of different sizes", folder)
        types = len(tables[0]) if tables else Vocabulary.load(_vocabulary(artefact)).size
        languages = [Language(SOURCE, 0, source, np.arange(types))]
        for name, table in zip(names, tables, strict=True):
            corpus, size = Corpus.open(artefact.path(f"{name}/corpus.json").parent), len(table)
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
        specials = read_specials(artefact.path(f"{VOCABULARY}/{SPECIAL_TYPES}").parent)
        return cls(folder, tuple(languages), specials)

    @classmethod
    def _natural(cls, natural: NaturalFolder, names: Sequence[str]) -> Languages:
        specials = read_specials(_vocabulary(natural.artefact))
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
        links.check(len(self.bitext(first, second)), self.identity(first, second))
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
        home = _vocabulary(Artefact.open(self.folder, KIND))
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
            lines = np.stack([b.corpus.source_line, np.arange(len(b.corpus))], axis=1)
            return Bitext(a, b, lines, _known(b), estimated)
        place = np.full(len(self[SOURCE].corpus), -1)
        place[a.corpus.source_line] = np.arange(len(a.corpus))
        lines = np.stack([place[b.corpus.source_line], np.arange(len(b.corpus))], axis=1)
        return Bitext(a, b, lines[lines[:, 0] >= 0], _known(a) and _known(b), estimated)

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

        Between two derived languages it has the types that both have an entry for: the images of one source type.

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
        path = Artefact.open(self.folder, KIND).path(f"{name}/{DICTIONARY}")
        pairs, language = read_dictionary(path), self[name]
        if pairs[:, 0].max(initial=0) >= self.size or not np.array_equal(
            language.table[pairs[:, 0]], language.ids(pairs[:, 1])
        ):
            raise BadInput("an entry is not a type and its image: the dictionary of another language", path)
        return np.stack([pairs[:, 0], language.ids(pairs[:, 1])], axis=1)

    def letters(self, name: str) -> dict[str, str] | None:
        """What letters of the source become in a language's spelling, or None where it is no exchange of letters.

        Raises:
            BadInput: they are damaged.
        """
        artefact = Artefact.open(self.folder, KIND)
        if f"{name}/{LETTERS}" not in artefact.digests:
            return None
        return dict(strict_json.loads(artefact.path(f"{name}/{LETTERS}").read_text(encoding="utf-8")))


def _scripts(languages: Sequence[Language]) -> int:
    """How many of them have a script of their own."""
    size = len(languages[0].table)
    return sum(bool((language.table >= size).any()) for language in languages)


def _sorted(pairs: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(pairs[np.argsort(pairs[:, 0], kind="stable")])


def _vocabulary(artefact: Artefact) -> Path:
    """The vocabulary's folder, its files being as they were written."""
    first, *_ = [artefact.path(f"{VOCABULARY}/{name}") for name in (TOKENIZER, COUNTS, SPECIAL_TYPES)]
    return first.parent


def _known(language: Language) -> bool:
    return NOWHERE not in language.corpus.origin[:1]


def _table(artefact: Artefact, name: str) -> np.ndarray:
    path = artefact.path(f"{name}/{IMAGE}")
    try:
        return np.asarray(np.load(path, allow_pickle=False), np.int64)
    except (OSError, ValueError) as error:
        raise BadInput(f"expected the id table of {name!r}: {error}", path) from error


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
