"""Parallel sentences of two languages, and links of their words where any are known.

Shapes: N sentence pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from derive.language import Language
from derive.links.stored import StoredLinks, of_pieces
from derive.vocabulary import gather


@dataclass(frozen=True)
class PairLines:
    """The numbers of each pair's lines in two corpora, read where they are asked for.

    `sides` are (N,) int64, or None where a pair's line has the pair's own number.
    """

    size: int
    sides: tuple[np.ndarray | None, np.ndarray | None] = (None, None)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, pair: int) -> tuple[int, int]:
        if not 0 <= pair < self.size:
            raise IndexError(f"pair {pair} of {self.size}")
        first, second = (pair if side is None else int(side[pair]) for side in self.sides)
        return first, second

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return map(self.__getitem__, range(self.size))

    def of(self, pairs: np.ndarray, side: int) -> np.ndarray:
        """The lines of some pairs on one side (0 or 1)."""
        numbers = self.sides[side]
        return pairs if numbers is None else np.asarray(numbers)[pairs]


@dataclass(frozen=True)
class Bitext:
    """Parallel sentences of two languages.

    `lines` are the numbers of a pair's lines in the two corpora. `known` says whether the gold alignment
    of their words is (they were derived); of a translation it is not, but `estimated` may hold links that were learnt.
    """

    first: Language
    second: Language
    lines: PairLines
    known: bool
    estimated: StoredLinks | None = None

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def names(self) -> tuple[str, str]:
        """Of its languages, the first and the second."""
        return self.first.name, self.second.name

    @property
    def linked(self) -> bool:
        """Whether there are links of its words, gold or estimated."""
        return self.known or self.estimated is not None

    def links(self, pair: int) -> np.ndarray:
        """Links of words of pair number `pair`, (k, 2) int64, sorted: estimated ones where there are some, or gold.

        Gold links are those of words that derive from the same word of the source: a bijection. There are none of a
        translation without estimated ones.
        """
        if self.estimated is not None:
            return self.estimated[pair]
        if not self.known:
            return np.empty((0, 2), np.int64)
        a, b = self.lines[pair]
        first, second = self.first.corpus.order(a).astype(np.int64), self.second.corpus.order(b)
        return np.stack([np.arange(len(first)), np.argsort(second)[first]], axis=1)

    def piece_links(self, pair: int) -> np.ndarray:
        """Links of sub-words of pair number `pair`, (m, 2) int64, sorted: see `derive.links.stored.of_pieces`."""
        a, b = self.lines[pair]
        return of_pieces(self.links(pair), self.first.corpus.line_pieces(a), self.second.corpus.line_pieces(b))

    def targets(self, pair: int, turned: bool = False) -> np.ndarray:
        """Where in the second sentence each id of the first has its link, from 0: the first of several, -1 for none.

        (n,) int64, n the ids of the first sentence; `turned` asks the other way round.
        """
        if self.known and self.estimated is None:
            places = self._source_pieces(pair)
            asked, derived_places = places[::-1] if turned else places
            return np.argsort(derived_places)[asked]
        mine, theirs = (1, 0) if turned else (0, 1)
        side = (self.second if turned else self.first).corpus
        made = np.full(len(side[self.lines[pair][mine]]), -1)
        links = self.piece_links(pair)
        links = links[np.lexsort((links[:, theirs], links[:, mine]))][::-1]
        made[links[:, mine]] = links[:, theirs]  # the last assignment of an id stays: that of its first link
        return made

    def ids(self, pair: int) -> tuple[np.ndarray, np.ndarray]:
        """The ids of both sides of pair number `pair`, as a model has them."""
        a, b = self.lines[pair]
        return self.first.ids(self.first.corpus[a]), self.second.ids(self.second.corpus[b])

    def _source_pieces(self, pair: int) -> tuple[np.ndarray, np.ndarray]:
        """The place in the source of each sub-word of either sentence: words move, their sub-words stay together."""
        a, b = self.lines[pair]
        first, second = self.first.corpus.order(a), self.second.corpus.order(b)
        pieces = self.first.corpus.line_pieces(a)[np.argsort(first)]
        places = np.arange(int(pieces.sum()))
        return gather(places, pieces, first), gather(places, pieces, second)

    def order(self, seed: int) -> np.ndarray:
        """The numbers of all pairs, (N,), in the order in which `sample` takes them."""
        return np.random.default_rng(seed).permutation(len(self))

    def sample(self, fraction: float, seed: int) -> np.ndarray:
        """The numbers, ascending, of the pairs that may be used: `fraction` of them, drawn without replacement."""
        return np.sort(self.order(seed)[: round(fraction * len(self))])
