"""Sentence pairs stored as flat arrays, and fast_align's prior (Dyer, Chahuneau and Smith 2013).

A cell pairs a target word with a possible partner: a source word or the null word. Shapes: P sentence pairs,
R target words, C cells. The prior probability that target position j of m is aligned to source position i of
n is proportional to exp(tension * h) with h = -|i / n - j / m|, so the sum over i consists of two geometric
series.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from calque.derive.links.aligner import Links, Pair
from calque.derive.ragged import Ragged, ends_of, ranges

NULL = 0  # the id of the null word, the partner of target words without a link
NULL_SHARE = 0.08  # the prior probability of the null word
TENSION = 4.0  # the initial tension
_LOWEST, _HIGHEST = 0.1, 14.0
_STEPS, _RATE = 8, 20.0
_CELLS = 2**16  # approximate number of cells per chunk; its arrays should fit into the processor's cache


@dataclass(frozen=True)
class PairChunk:
    """Sentence pairs as ids: `sources`, with a null word before each sentence; `targets` (R,); and the
    numbers of source and target words per pair, `n` and `m` (P,)."""

    sources: np.ndarray
    targets: np.ndarray
    n: np.ndarray
    m: np.ndarray


def chunks(
    pairs: Iterable[Pair], source_id: Callable[[str], int], target_id: Callable[[str], int]
) -> Iterator[PairChunk]:
    """Divide a stream of sentence pairs, with words on both sides or on neither, into chunks."""
    sources, targets, n, m, cells = array("i"), array("i"), array("i"), array("i"), 0

    def chunk() -> PairChunk:
        return PairChunk(*(np.array(column, dtype=np.int64) for column in (sources, targets, n, m)))

    for source, target in pairs:
        sources.append(NULL)
        sources.extend(map(source_id, source))
        targets.extend(map(target_id, target))
        n.append(len(source))
        m.append(len(target))
        cells += (len(source) + 1) * len(target)
        if cells >= _CELLS:
            yield chunk()
            sources, targets, n, m, cells = array("i"), array("i"), array("i"), array("i"), 0
    if n:
        yield chunk()


class Cells:
    """A chunk's cells, grouped by target word, with the null word first. i (C,): the source word's 1-based
    position, or 0 for the null word. row (C,): the index of the target word. start (R,): the index of each
    target word's first cell."""

    def __init__(self, chunk: PairChunk) -> None:
        self._chunk = chunk
        self._pair = np.repeat(np.arange(len(chunk.m)), chunk.m)
        self._m, self._n = chunk.m[self._pair], chunk.n[self._pair]
        self._j = ranges(1, chunk.m)
        width = self._n + 1
        self.start = ends_of(width)[:-1]
        self.row = np.repeat(np.arange(len(width)), width)
        self.i = ranges(0, width)
        self._source = self.i / self._n[self.row]

    def keys(self, stride: int) -> np.ndarray:
        """Return a key for each cell's word pair, (C,): source id * stride + target id."""
        first = ends_of(self._chunk.n + 1)[self._pair]
        return self._chunk.sources[first[self.row] + self.i] * stride + self._chunk.targets[self.row]

    def prior(self, tension: float) -> np.ndarray:
        """Return the prior probability of each cell, (C,)."""
        h = _nearness(self._source, (self._j / self._m)[self.row])
        scale = partition(self._j, self._m, self._n, tension) / (1.0 - NULL_SHARE)
        prior = np.exp(tension * h) / scale[self.row]
        prior[self.start] = NULL_SHARE
        return prior

    def posterior(self, joint: np.ndarray) -> np.ndarray:
        """Normalise joint probabilities (C,) to the probability of each cell given its target word, (C,)."""
        # bincount sums sequentially; the last bits decide between equally likely words.
        return joint / np.bincount(self.row, joint)[self.row]

    def feature(self, posterior: np.ndarray) -> float:
        """Return the expectation of h, summed over target words, with 0-based target positions as in the
        published tool."""
        h = _nearness(self._source, ((self._j - 1) / self._m)[self.row])
        h[self.start] = 0.0
        return float(np.sum(h * posterior))

    def links(self, joint: np.ndarray, reverse: bool) -> list[Links]:
        """Link each target word to its most probable source word, and return each pair's links. Ties go to
        the null word, then to the first word. `reverse` exchanges the sides."""
        hits = np.flatnonzero(joint == np.maximum.reduceat(joint, self.start)[self.row])
        first = hits[np.diff(self.row[hits], prepend=-1) > 0]
        linked = self.i[first] > 0
        i, j, pair = self.i[first][linked] - 1, self._j[linked] - 1, self._pair[linked]
        if reverse:
            i, j = j, i
        order = np.lexsort((j, i, pair))
        links = list(zip(i[order].tolist(), j[order].tolist(), strict=True))
        ends = ends_of(np.bincount(pair, minlength=len(self._chunk.m))).tolist()
        return [links[start:end] for start, end in pairwise(ends)]

    def tables(self, posterior: np.ndarray, reverse: bool) -> list[np.ndarray]:
        """Return each pair's link probabilities, (source words, target words); `reverse` exchanges the
        sides."""
        sizes = (self._chunk.n + 1) * self._chunk.m
        tables = zip(Ragged.of(posterior, sizes), self._chunk.n.tolist(), self._chunk.m.tolist(), strict=True)
        linked = [cells.reshape(m, n + 1)[:, 1:] for cells, n, m in tables]
        return linked if reverse else [table.T for table in linked]


def _nearness(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The feature h."""
    return -np.abs(source - target)


def partition(j: np.ndarray, m: np.ndarray, n: np.ndarray, tension: float) -> np.ndarray:
    """Return the normaliser Z: the sum over i of exp(tension * h)."""
    return _sums(j, m, n, tension)[0]


def slope(j: np.ndarray, m: np.ndarray, n: np.ndarray, tension: float) -> np.ndarray:
    """Return the derivative of log Z with respect to the tension, with the lengths exchanged, as in the
    published tool."""
    return _sums(j, m, n, tension)[1] / partition(j, n, m, tension)


def optimise(tension: float, mean: float, m: np.ndarray, n: np.ndarray, pairs: np.ndarray) -> float:
    """Update the tension by gradient ascent, given the mean of h over target words; `pairs` (S,) counts the
    sentence pairs with each combination of lengths `m` and `n` (S,)."""
    shape = np.repeat(np.arange(len(m)), m)
    j, weight = ranges(1, m), pairs[shape] / np.sum(m * pairs)
    for _ in range(_STEPS):
        expected = float(np.sum(weight * slope(j, m[shape], n[shape], tension)))
        tension = min(max(tension + _RATE * (mean - expected), _LOWEST), _HIGHEST)
    return tension


def _sums(j: np.ndarray, m: np.ndarray, n: np.ndarray, tension: float) -> tuple[np.ndarray, np.ndarray]:
    below = np.floor(j * n / m)  # the last position at or before the diagonal
    step, ratio = 1.0 / n, np.exp(-tension / n)
    z, hz = np.zeros(below.shape), np.zeros(below.shape)
    for first, count in ((below, below), (below + 1, n - below)):
        # If the lengths are exchanged (see `slope`), the count may be negative, which the published tool
        # stores as an unsigned integer: the series is then practically infinite.
        count = np.where(count < 0, count + 2.0**32, count)
        h = _nearness(first / n, j / m)
        height, rest, gap = np.exp(tension * h), ratio**count, 1.0 - ratio
        series = height * (1.0 - rest) / gap
        z += series
        hz += h * series - step * (series * ratio - height * count * rest) / gap
    return z, hz
