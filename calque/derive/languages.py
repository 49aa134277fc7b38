"""A folder of natural or derived languages.

vocabulary/               the vocabulary shared by all languages, with counts
<language>/               a corpus; if derived, also `image.npy`, each source type's image; `letters.json`,
                          if the spelling replaces letters; `single.npy`, if words were changed: each type's
                          only image or -1
<pair>/first/, second/    parallel text that is not part of the two languages' corpora
<pair>/dictionary.tsv     the pair's dictionary, as ids
kept.npy (R,) int64       the ids of the types that a model has rows for, ascending; if absent, all types

Pairs without separate parallel text consist of lines derived from the same source line. V: types in the
vocabulary; R: types that a model has rows for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Self

import numpy as np

from calque.derive.corpus import NOWHERE, Corpus, Ragged, ends_of
from calque.derive.dictionary import read_dictionary
from calque.derive.errors import BadInput, unknown
from calque.derive.files import MANIFEST, Artefact, parse_json
from calque.derive.vocabulary import FILES, OURS, TOKENIZER, Specials, Vocabulary, read_specials

SOURCE = "source"  # the name of the language that all others are derived from


@dataclass(frozen=True)
class Language:
    """One language. All arrays are int64, with -1 for missing values.

    number: the token type in models with language embeddings.
    table: each type's row (V,), or (R,) if the model has rows for only some types.
    rows: each corpus id's row, (V,) or (2 V,), if it is not the id itself.
    single: the row of each type's only image (V,), if a transform changed words.
    """

    name: str
    number: int
    corpus: Corpus
    table: np.ndarray
    rows: np.ndarray | None = None
    source: str = SOURCE
    single: np.ndarray | None = None

    @property
    def images(self) -> np.ndarray:
        """The row of each type's only image, (V,) int64, or -1 if it has none, several, or a shared one."""
        return self.table if self.single is None else self.single

    def ids(self, ids: np.ndarray) -> np.ndarray:
        """Map corpus ids to rows."""
        return ids if self.rows is None else self.rows[ids]


@dataclass(frozen=True)
class EstimatedLinks:
    """The estimated word links of N sentence pairs, sorted, (k, 2) per pair, with their fingerprint."""

    links: Ragged
    fingerprint: str


@dataclass(frozen=True)
class Bitext:
    """N pairs of parallel sentences, with their line numbers, `lines` (N, 2). `gold` says whether word links
    follow from the derivation; `estimates` take precedence over them."""

    first: Language
    second: Language
    lines: np.ndarray
    gold: bool
    estimates: EstimatedLinks | None = None

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def names(self) -> tuple[str, str]:
        return self.first.name, self.second.name

    @property
    def linked(self) -> bool:
        return self.gold or self.estimates is not None

    def links(self, pair: int) -> np.ndarray:
        """Return a pair's sorted word links, (k, 2)."""
        if self.estimates is not None:
            return self.estimates.links[pair].astype(np.int64)
        if not self.gold:
            return np.empty((0, 2), np.int64)
        return self.second.corpus.links(self.lines[pair, 1])

    def piece_links(self, pair: int) -> np.ndarray:
        """Return a pair's sorted links of sub-words, (m, 2)."""
        a, b = self.lines[pair]
        return of_pieces(self.links(pair), self.first.corpus.pieces[a], self.second.corpus.pieces[b])

    def targets(self, pair: int, reverse: bool = False) -> np.ndarray:
        """Return the first position in the second sentence that each id of the first links to, (n,), or -1;
        if `reverse`, with sentences exchanged."""
        targets = np.full(len(self.ids(pair)[int(reverse)]), -1)
        links = self.piece_links(pair)[:, :: -1 if reverse else 1]
        places, first = np.unique(links[:, 0], return_index=True)
        targets[places] = links[first, 1]
        return targets

    def ids(self, pair: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a pair's sentences as rows of the model's table."""
        a, b = self.lines[pair]
        return self.first.ids(self.first.corpus[a]), self.second.ids(self.second.corpus[b])

    def order(self, seed: int) -> np.ndarray:
        return np.random.default_rng(seed).permutation(len(self))

    def sample(self, fraction: float, seed: int) -> np.ndarray:
        """Return the ascending indices of a random fraction of the pairs."""
        return np.sort(self.order(seed)[: round(fraction * len(self))])


def of_pieces(links: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Convert word links (k, 2) to sorted sub-word links (m, 2), given the number of sub-words per word. If
    two words have equally many, these are linked in order; otherwise, each is linked with all (WEAM)."""
    first_ends, second_ends = ends_of(first).tolist(), ends_of(second).tolist()
    piece_links: set[tuple[int, int]] = set()
    for i, j in links.tolist():
        sides = range(*first_ends[i : i + 2]), range(*second_ends[j : j + 2])
        piece_links.update(zip(*sides, strict=True) if first[i] == second[j] else product(*sides))
    return np.array(sorted(piece_links), np.int64).reshape(-1, 2)


KIND, FORMAT = "languages", 5  # the format is incremented when the same inputs would yield different files
VOCABULARY, BITEXTS, KEPT = "vocabulary", "bitexts", "kept.npy"
IMAGE, DICTIONARY, LETTERS, SINGLE = "image.npy", "dictionary.tsv", "letters.json", "single.npy"
WRONG = "wrong dictionary pairs"  # a manifest key for the number of wrong pairs
SIDES = ("first", "second")
RESERVED = (SOURCE, VOCABULARY, BITEXTS, KEPT, MANIFEST)  # names that languages cannot have
NamePair = tuple[str, str]


@dataclass(frozen=True)
class Languages:
    """The languages that one model reads, each source before its derived languages. `pairs` maps the pairs
    with bitexts and dictionaries to folders; `texts` are bitexts outside the corpora. Ids use the model's
    numbering; if it has rows for only some types, `kept` (R,) lists their ids."""

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
        """Open the named languages and their source. If `whole`, the model has rows for all types."""
        artefact = Artefact.open(folder, KIND, FORMAT)
        kept = None if whole else _ids(artefact, KEPT)
        languages = _languages(artefact, names, kept)
        specials = read_specials(_vocabulary(artefact))
        if kept is not None:
            start, pad, end, unknown, mask, *other_ids = np.searchsorted(kept, specials.ids).tolist()
            specials = Specials(start, pad, end, unknown, mask, tuple(other_ids))
        pairs, texts = dict[NamePair, str](), dict[NamePair, Bitext]()
        for entry in artefact.facts["pairs"]:
            first, second = entry["languages"]
            if {language.name for language in languages} >= {first, second}:
                pairs[first, second] = place = entry["folder"]
                if f"{place}/{SIDES[0]}/corpus.json" in artefact.digests:
                    texts[first, second] = _text(artefact, (first, second), place, languages)
        return cls(folder, languages, specials, pairs, texts, kept=kept)

    @property
    def whole(self) -> Self:
        """The languages for a model with rows for all types."""
        if self.kept is None:
            return self
        names = [language.name for language in self.languages if language.name != SOURCE]
        return replace(self.open(self.folder, names, True), pairs=self.pairs, estimates=self.estimates)

    @cached_property
    def _artefact(self) -> Artefact:
        return Artefact.open(self.folder, KIND, FORMAT)

    def identity(self, *names: str) -> dict[str, str]:
        """Return each named language's fingerprint, or the source's if no names are given."""
        entries = self._artefact.facts["languages"]
        # A derived language's fingerprint covers its source.
        chosen = [name for name in names if name != SOURCE] or [SOURCE]
        return {name: str(entries[name]["fingerprint"]) for name in chosen}

    def __getitem__(self, name: str) -> Language:
        by_name = {language.name: language for language in self.languages}
        if name not in by_name:
            raise BadInput(unknown("language", name, by_name), self.folder)
        return by_name[name]

    @property
    def size(self) -> int:
        """The number of types with rows in the model: V or R."""
        return len(self.languages[0].table)

    @property
    def rows(self) -> int:
        """The number of rows in the model's table: `size` for the source and for each new script."""
        return self.size * (1 + _scripts(self.languages))

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
        """The row of each type in each language, (languages, V or R) int64."""
        return np.stack([language.table for language in self.languages])

    @property
    def tokenizer(self) -> Path:
        return self.folder / VOCABULARY / TOKENIZER

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary.load(_vocabulary(self._artefact))

    @cached_property
    def dictionaries(self) -> tuple[NamePair, ...]:
        """The pairs that have a dictionary."""
        files = self._artefact.digests
        return tuple(pair for pair, place in self.pairs.items() if f"{place}/{DICTIONARY}" in files)

    @property
    def bitexts(self) -> tuple[Bitext, ...]:
        return tuple(self.bitext(*pair) for pair in self.pairs)

    def bitext(self, first: str, second: str) -> Bitext:
        """Return a pair's parallel text or derived lines. Raises BadInput if there are none."""
        estimates = self.estimates.get((first, second))
        if self.disjoint:
            raise BadInput("no parallel sentences: the languages have disjoint halves (mixture.disjoint)")
        if text := self.texts.get((first, second)):
            return replace(text, estimates=estimates)
        a, b = self[first], self[second]
        if first == second or first != b.source:
            raise self._no_pair("bitext", first, second, self.pairs)
        lines = np.stack([b.corpus.source_line, np.arange(len(b.corpus))], axis=1)
        return Bitext(a, b, lines, NOWHERE not in b.corpus.origin.values[:1], estimates)

    def dictionary(self, first: str, second: str) -> np.ndarray:
        """Return two languages' dictionary as pairs of ids, (n, 2), sorted by the first."""
        for pair in ((first, second), (second, first)):
            if pair in self.dictionaries:
                entries = read_dictionary(self._artefact.path(f"{self.pairs[pair]}/{DICTIONARY}"))
                columns = [self[name].ids(ids) for name, ids in zip(pair, entries.T, strict=True)]
                entries = np.stack(columns if pair[0] == first else columns[::-1], axis=1)
                return entries[np.argsort(entries[:, 0], kind="stable")]
        raise self._no_pair("dictionary", first, second, self.dictionaries)

    def _no_pair(self, what: str, first: str, second: str, pairs: Iterable[NamePair]) -> BadInput:
        available = ", ".join(map("-".join, pairs)) or "none"
        return BadInput(f"no {what} for {first} and {second}; available: {available}", self.folder)

    def letters(self, name: str) -> dict[str, str] | None:
        """Return each letter's image, or None if the spelling does not replace letters."""
        if f"{name}/{LETTERS}" not in self._artefact.digests:
            return None
        return dict(parse_json(self._artefact.path(f"{name}/{LETTERS}").read_text(encoding="utf-8")))


def _ids(artefact: Artefact, file: str) -> np.ndarray | None:
    return np.load(artefact.path(file)).astype(np.int64) if file in artefact.digests else None


def _corpus(artefact: Artefact, name: str) -> Corpus:
    return Corpus.open(artefact.path(f"{name}/corpus.json").parent)


def _vocabulary(artefact: Artefact) -> Path:
    for name in FILES:
        artefact.path(f"{VOCABULARY}/{name}")  # checks its digest
    return artefact.folder / VOCABULARY


def _languages(artefact: Artefact, names: Sequence[str], kept: np.ndarray | None) -> tuple[Language, ...]:
    size, available = int(artefact.facts[VOCABULARY]["size"]), dict(artefact.facts["languages"])
    first = [SOURCE] if available.pop(SOURCE, None) is not None else []
    if missing := [name for name in names if name not in available]:
        raise BadInput(unknown("language", missing[0], available), artefact.folder)
    rows, table = None, np.arange(size)
    if kept is not None:
        rows = np.full(size, -1)
        rows[kept] = table = np.arange(len(kept))
    languages: list[Language] = []
    for number, name in enumerate([*first, *names]):
        corpus = _corpus(artefact, name)
        image, single = (_ids(artefact, f"{name}/{file}") for file in (IMAGE, SINGLE))
        if image is None:
            languages.append(Language(name, number, corpus, table, rows, source=name))
            continue
        shift = _scripts(languages) * size
        for ids in (image, single):
            if ids is not None:
                ids[ids >= size] += shift
        moved = np.arange(2 * size) + np.repeat([0, shift], size) if shift else None
        languages.append(Language(name, number, corpus, image, moved, single=single))
    return tuple(languages)


def _scripts(languages: Sequence[Language]) -> int:
    size = len(languages[0].table)
    return sum(bool((language.table >= size).any()) for language in languages)


def _text(artefact: Artefact, pair: NamePair, place: str, languages: Sequence[Language]) -> Bitext:
    by_name, sides = {language.name: language for language in languages}, zip(pair, SIDES, strict=True)
    first, second = (replace(by_name[n], corpus=_corpus(artefact, f"{place}/{side}")) for n, side in sides)
    lines = np.arange(len(first.corpus))
    return Bitext(first, second, np.stack([lines, lines], axis=1), gold=False)


def disjoint_halves(languages: Languages) -> Languages:
    """Keep half of the distinct sentences (by hash) in the source, the rest in derived languages."""
    source = languages[SOURCE].corpus
    hashes = [blake2b(ids.tobytes(), digest_size=1).digest()[0] for ids in source.tokens]
    of_source = np.array(hashes, np.uint8) % 2 == 0
    masks = (of_source[each.corpus.source_line] == (each.name == SOURCE) for each in languages.languages)
    halves = (each.corpus.where(mask) for each, mask in zip(languages.languages, masks, strict=True))
    return replace(_with_corpora(languages, halves), disjoint=True)


def _with_corpora(languages: Languages, corpora: Iterable[Corpus]) -> Languages:
    pairs = zip(languages.languages, corpora, strict=True)
    return replace(languages, languages=tuple(replace(each, corpus=corpus) for each, corpus in pairs))
