"""Sentence pairs as flat columns, and fast_align's prior (Dyer, Chahuneau and Smith 2013).

A cell is a target word with one source word (or the null word) that it may come from: P pairs, R target
words, C cells. The prior of source position i of n for target position j of m is proportional to exp(tension
* h), h = -|i / n - j / m|, so sums over i are two geometric series.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from calque.derive.links.aligner import Links, Pair

NULL = 0  # the id of the null word, the source of target words without a link
NULL_SHARE = 0.08  # the prior probability of the null word
TENSION = 4.0  # the initial tension
_LOWEST, _HIGHEST = 0.1, 14.0
_STEPS, _RATE = 8, 20.0
_CELLS = 2**16  # cells per chunk, so that its columns fit the processor's cache


@dataclass(frozen=True)
class PairChunk:
    """A few sentence pairs as ids: `sources`, with a null word before each sentence, `targets` (R,), and the
    number of words on each side, `n` and `m` (P,)."""

    sources: np.ndarray
    targets: np.ndarray
    n: np.ndarray
    m: np.ndarray


def chunks(
    pairs: Iterable[Pair], source_id: Callable[[str], int], target_id: Callable[[str], int]
) -> Iterator[PairChunk]:
    """Cut a stream of sentence pairs, each with words on both sides or on neither, into chunks."""
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
    """The cells of a chunk, by target word, null word first. i (C,): the source word's position from 1, 0
    for the null word; row (C,): the target word's number; start (R,): the cell of each target word's null
    word."""

    def __init__(self, chunk: PairChunk) -> None:
        self._chunk = chunk
        self._pair = np.repeat(np.arange(len(chunk.m)), chunk.m)
        self._m, self._n = chunk.m[self._pair], chunk.n[self._pair]
        self._j = places(chunk.m) + 1
        width = self._n + 1
        self.start = np.cumsum(width) - width
        self.row = np.repeat(np.arange(len(width)), width)
        self.i = np.arange(len(self.row)) - self.start[self.row]
        self._source = self.i / self._n[self.row]

    def keys(self, stride: int) -> np.ndarray:
        """Number each cell's word pair, (C,): source id * stride + target id."""
        width = self._chunk.n + 1
        first = (np.cumsum(width) - width)[self._pair]
        return self._chunk.sources[first[self.row] + self.i] * stride + self._chunk.targets[self.row]

    def prior(self, tension: float) -> np.ndarray:
        """The prior probability of each cell, (C,)."""
        h = nearness(self._source, (self._j / self._m)[self.row])
        scale = partition(self._j, self._m, self._n, tension) / (1.0 - NULL_SHARE)
        prior = np.exp(tension * h) / scale[self.row]
        prior[self.start] = NULL_SHARE
        return prior

    def posterior(self, joint: np.ndarray) -> np.ndarray:
        """The probability of each cell given its target word, (C,), from joint probabilities (C,)."""
        # Summed sequentially, as in a loop: the last bits decide between equally likely words.
        return joint / np.bincount(self.row, joint)[self.row]

    def feature(self, posterior: np.ndarray) -> float:
        """Return the expected h, summed over target words. Target positions start at 0 here, as in the
        published tool."""
        h = nearness(self._source, ((self._j - 1) / self._m)[self.row])
        h[self.start] = 0.0
        return float(np.sum(h * posterior))

    def links(self, joint: np.ndarray, reverse: bool) -> list[Links]:
        """Return each pair's links, from target words to their best source word (ties: null, then the first).
        `reverse` exchanges the sides."""
        hits = np.flatnonzero(joint == np.maximum.reduceat(joint, self.start)[self.row])
        first = hits[np.diff(self.row[hits], prepend=-1) > 0]
        linked = self.i[first] > 0
        i, j, pair = self.i[first][linked] - 1, self._j[linked] - 1, self._pair[linked]
        if reverse:
            i, j = j, i
        order = np.lexsort((j, i, pair))
        links = list(zip(i[order].tolist(), j[order].tolist(), strict=True))
        ends = np.cumsum(np.bincount(pair, minlength=len(self._chunk.m))).tolist()
        return [links[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]

    def tables(self, posterior: np.ndarray, reverse: bool) -> list[np.ndarray]:
        """Return each link's probability, (source words, target words) per pair; `reverse` exchanges the
        sides."""
        sizes = (self._chunk.n + 1) * self._chunk.m
        by_pair = np.split(posterior, np.cumsum(sizes)[:-1])
        tables = zip(by_pair, self._chunk.n.tolist(), self._chunk.m.tolist(), strict=True)
        linked = [cells.reshape(m, n + 1)[:, 1:] for cells, n, m in tables]
        return linked if reverse else [table.T for table in linked]


def nearness(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """fast_align's feature h for relative positions: minus their distance, 0 on the diagonal."""
    return -np.abs(source - target)


def partition(j: np.ndarray, m: np.ndarray, n: np.ndarray, tension: float) -> np.ndarray:
    """Z: the sum over i of exp(tension * h)."""
    return _sums(j, m, n, tension)[0]


def slope(j: np.ndarray, m: np.ndarray, n: np.ndarray, tension: float) -> np.ndarray:
    """The derivative of log Z with respect to the tension, as in the published tool, which exchanges the two
    lengths in Z."""
    return _sums(j, m, n, tension)[1] / partition(j, n, m, tension)


def optimise(tension: float, mean: float, m: np.ndarray, n: np.ndarray, pairs: np.ndarray) -> float:
    """Return the tension after a few steps of gradient ascent. `mean` is the expected h per target word;
    `pairs` (S,) counts the sentence pairs with each of the distinct lengths `m` and `n` (S,)."""
    shape = np.repeat(np.arange(len(m)), m)
    j, weight = places(m) + 1, pairs[shape] / np.sum(m * pairs)
    for _ in range(_STEPS):
        expected = float(np.sum(weight * slope(j, m[shape], n[shape], tension)))
        tension = min(max(tension + _RATE * (mean - expected), _LOWEST), _HIGHEST)
    return tension


def places(lengths: np.ndarray) -> np.ndarray:
    """Count 0, 1, ... within each of the concatenated segments of these lengths."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)


def _sums(j: np.ndarray, m: np.ndarray, n: np.ndarray, tension: float) -> tuple[np.ndarray, np.ndarray]:
    below = np.floor(j * n / m)  # the last position not past the diagonal
    step, ratio = 1.0 / n, np.exp(-tension / n)
    z, hz = np.zeros(below.shape), np.zeros(below.shape)
    for first, count in ((below, below), (below + 1, n - below)):
        # With exchanged lengths j may be past the end. The published tool then computes the count as an
        # unsigned 32-bit integer, so the series is practically infinite.
        count = np.where(count < 0, count + 2.0**32, count)
        h = nearness(first / n, j / m)
        height, rest, gap = np.exp(tension * h), ratio**count, 1.0 - ratio
        series = height * (1.0 - rest) / gap
        z += series
        hz += h * series - step * (series * ratio - height * count * rest) / gap
    return z, hz
