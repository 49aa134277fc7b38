"""A language as models read it, and parallel sentences in two languages, with word links."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from calque.derive.corpus import NOWHERE, Corpus
from calque.derive.ragged import Ragged, ends_of

SOURCE = "source"  # the name of the language that all others are derived from


@dataclass(frozen=True)
class Language:
    """One language. All arrays are int64, with -1 for missing values.

    number: the token type in models with language embeddings.
    table: each type's row (V,), or (R,) if the model has rows for only some types.
    rows: each corpus id's row, (V,) or (2 V,), if it is not the id itself.
    places: each type's rows inside words and at word ends (2, V), if they differ.
    single: the row of each type's only image (V,), if a transform changed words.
    """

    name: str
    number: int
    corpus: Corpus
    table: np.ndarray
    rows: np.ndarray | None = None
    places: np.ndarray | None = None
    source: str = SOURCE
    single: np.ndarray | None = None

    @property
    def images(self) -> np.ndarray:
        """The row of each type's only image, (V,) int64, or -1 if it has none, several, or a shared one."""
        return self.table if self.single is None else self.single

    def ids(self, ids: np.ndarray) -> np.ndarray:
        """Map corpus ids to rows."""
        return ids if self.rows is None else self.rows[ids]

    def of_words(self, ids: np.ndarray, pieces: np.ndarray | Sequence[int]) -> np.ndarray:
        """Map source words, given by sub-word ids (T,) and numbers of sub-words, to this language's rows."""
        return in_places(ids, pieces, self.table, self.places)

    @property
    def has_origin(self) -> bool:
        return NOWHERE not in self.corpus.origin.values[:1]


def in_places(
    ids: np.ndarray, pieces: np.ndarray | Sequence[int], table: np.ndarray, places: np.ndarray | None
) -> np.ndarray:
    """Map the ids of words to a language's ids, using its `table` (V,) or, if given, its `places` (2, V)."""
    if places is None:
        return np.asarray(table[ids])
    at_end = np.zeros(len(ids), np.int64)
    at_end[ends_of(pieces)[1:] - 1] = 1
    return np.asarray(places[at_end, ids])


@dataclass(frozen=True)
class EstimatedLinks:
    """The estimated word links of N sentence pairs, sorted, (k, 2) per pair, with their fingerprint."""

    links: Ragged
    fingerprint: str


@dataclass(frozen=True)
class Bitext:
    """N pairs of parallel sentences in two languages, with their line numbers, `lines` (N, 2). `gold` says
    whether word links follow from the derivation; `estimates` take precedence over gold links."""

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
        """Return a pair's word links, (k, 2), sorted."""
        if self.estimates is not None:
            return self.estimates.links[pair].astype(np.int64)
        if not self.gold:
            return np.empty((0, 2), np.int64)
        return self.second.corpus.links(self.lines[pair, 1])

    def piece_links(self, pair: int) -> np.ndarray:
        """Return the links between a pair's sub-words, (m, 2), sorted."""
        a, b = self.lines[pair]
        return of_pieces(self.links(pair), self.first.corpus.pieces[a], self.second.corpus.pieces[b])

    def targets(self, pair: int, reverse: bool = False) -> np.ndarray:
        """Return the first position in the second sentence that each id of the first sentence is linked to,
        (n,), or -1. If `reverse`, the sentences are exchanged."""
        side = (self.second if reverse else self.first).corpus
        targets = np.full(len(side[self.lines[pair, int(reverse)]]), -1)
        links = self.piece_links(pair)[:, :: -1 if reverse else 1]
        links = links[np.argsort(links[:, 0], kind="stable")[::-1]]
        targets[links[:, 0]] = links[:, 1]  # in reverse order, so that the first link wins
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
    """Convert word links (k, 2) to sorted sub-word links (m, 2), given the number of sub-words per word. Two
    words with the same number of sub-words are linked in order; otherwise, all their sub-words are linked
    (WEAM)."""
    first_ends, second_ends = ends_of(first).tolist(), ends_of(second).tolist()
    piece_links: set[tuple[int, int]] = set()
    for i, j in links.tolist():
        first_pieces, second_pieces = range(*first_ends[i : i + 2]), range(*second_ends[j : j + 2])
        piece_links.update(
            zip(first_pieces, second_pieces, strict=True)
            if len(first_pieces) == len(second_pieces)
            else product(first_pieces, second_pieces)
        )
    return np.array(sorted(piece_links), np.int64).reshape(-1, 2)
