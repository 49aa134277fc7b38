"""fast_align: IBM model 2, reparametrised with a single position parameter (Dyer, Chahuneau and Smith 2013).

t(f | e) has a Dirichlet prior and is learnt by variational Bayes. As in the published tool, the last of the
`passes` is used only for aligning, and the first does not update the tension.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, tee
from typing import Self

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.lazy import special
from calque.derive.links.aligner import Aligner, LeftOut, Links, Pair, Scored
from calque.derive.links.cells import NULL, TENSION, Cells, PairChunk, chunks, optimise
from calque.derive.links.symmetrise import Symmetrisation, grow_diag_final_and

LONGEST = 1024  # maximum words in a sentence; memory grows with the product of a pair's lengths
_ALPHA = 0.01  # the concentration of the Dirichlet prior over t(. | e)
_UNSEEN = 1e-9  # t for words that never co-occur, and the initial t for all words
_ROOM = 2**20  # number of keys buffered before they are merged


@dataclass(frozen=True)
class FastAlign:
    """A trained model for one direction, with at most one link per target word; `reverse` exchanges the
    sides. `keys` are the sorted pairs of co-occurring words, and `probabilities` their values of t. Scores
    are posterior probabilities given the target word. `unlearnt` counts sentence pairs not used in
    training."""

    reverse: bool
    source_ids: dict[str, int]
    target_ids: dict[str, int]
    keys: np.ndarray
    probabilities: np.ndarray
    tension: float
    unlearnt: LeftOut
    left_out: LeftOut = field(default_factory=LeftOut, init=False)

    @classmethod
    def train(cls, pairs: Iterable[Pair], passes: int = 5, *, reverse: bool = False) -> Self:
        """Learn from sentence pairs, which are read once and stored in up to four bytes per cell."""
        if passes < 1:
            raise ValueError(f"passes must be at least 1, not {passes}")
        counted = count(NULL + 1)
        source_ids: defaultdict[str, int] = defaultdict(counted.__next__)
        target_ids: defaultdict[str, int] = defaultdict(count().__next__)
        unlearnt = LeftOut()
        turned = enumerate(_turned(pairs, reverse), start=1)
        kept = (pair for line, pair in turned if _usable(pair, line, unlearnt))
        corpus = list(chunks(kept, source_ids.__getitem__, target_ids.__getitem__))
        if not corpus:
            reasons = ", ".join(unlearnt.described()) or "no sentence pairs at all"
            raise BadInput(f"no usable sentence pairs to learn from: {reasons}")
        keys = _distinct(Cells(chunk).keys(len(target_ids) + 1) for chunk in corpus)
        probabilities, tension = _learn(corpus, keys, len(target_ids) + 1, passes - 1)
        return cls(reverse, dict(source_ids), dict(target_ids), keys, probabilities, tension, unlearnt)

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        for cells, joint in self._joint(pairs):
            yield from cells.links(joint, self.reverse)

    def align_with_tables(self, pairs: Iterable[Pair]) -> Iterator[tuple[Links, np.ndarray]]:
        """Yield each pair's links and the scores of all possible links, (n, m); the shape is (0, 0) if it is
        left out."""
        for cells, joint in self._joint(pairs):
            tables = cells.tables(cells.posterior(joint), self.reverse)
            yield from zip(cells.links(joint, self.reverse), tables, strict=True)

    def _joint(self, pairs: Iterable[Pair]) -> Iterator[tuple[Cells, np.ndarray]]:
        no_source, no_target = len(self.source_ids) + 1, len(self.target_ids)
        turned = enumerate(_turned(pairs, self.reverse), start=1)
        for chunk in chunks(
            (pair if _usable(pair, line, self.left_out) else ((), ()) for line, pair in turned),
            lambda word: self.source_ids.get(word, no_source),
            lambda word: self.target_ids.get(word, no_target),
        ):
            cells = Cells(chunk)
            keys = cells.keys(no_target + 1)
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            t = np.where(self.keys[place] == keys, self.probabilities[place], _UNSEEN)
            yield cells, t * cells.prior(self.tension)


@dataclass(frozen=True)
class StatisticalAligner(Aligner):
    """fast_align in both directions, symmetrised; scores are averaged (DeNero and Klein 2007)."""

    forward: FastAlign
    reverse: FastAlign
    symmetrisation: Symmetrisation = grow_diag_final_and

    @classmethod
    def train(
        cls, pairs: Iterable[Pair], symmetrisation: Symmetrisation = grow_diag_final_and, passes: int = 5
    ) -> Self:
        """Train both directions on sentence pairs, which are read twice."""
        forward, reverse = (FastAlign.train(pairs, passes, reverse=turned) for turned in (False, True))
        return cls(forward, reverse, symmetrisation)

    @property
    def name(self) -> str:
        return f"fast_align, {self.symmetrisation.__name__.replace('_', '-')}"

    @property
    def left_out(self) -> LeftOut:
        return self.forward.left_out

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        there, back = tee(pairs)
        return map(self.symmetrisation, self.forward.align(there), self.reverse.align(back))

    def align_scored(self, pairs: Iterable[Pair]) -> Iterator[Scored]:
        there, back = tee(pairs)
        both = zip(self.forward.align_with_tables(there), self.reverse.align_with_tables(back), strict=True)
        for (forward, one), (reverse, other) in both:
            links = self.symmetrisation(forward, reverse)
            yield {(i, j): float(one[i, j] + other[i, j]) / 2 for i, j in links}


def _learn(corpus: list[PairChunk], keys: np.ndarray, stride: int, passes: int) -> tuple[np.ndarray, float]:
    small = np.min_scalar_type(len(keys))
    ids = [np.searchsorted(keys, Cells(chunk).keys(stride)).astype(small) for chunk in corpus]
    lengths = np.concatenate([np.stack([chunk.m, chunk.n]) for chunk in corpus], axis=1)
    (m, n), pairs = np.unique(lengths, axis=1, return_counts=True)
    source, words = keys // stride, int(lengths[0].sum())
    probabilities, tension = np.full(len(keys), _UNSEEN), TENSION
    for number in range(passes):
        expected, feature = np.zeros(len(keys)), 0.0
        for chunk, key in zip(corpus, ids, strict=True):
            cells = Cells(chunk)
            posterior = cells.posterior(probabilities[key] * cells.prior(tension))
            np.add.at(expected, key.astype(np.intp), posterior)  # sequential: chunk sizes have no effect
            feature += cells.feature(posterior)
        if number:
            tension = optimise(tension, feature / words, m, n, pairs)
        expected += _ALPHA
        totals = np.bincount(source, expected)
        probabilities = np.exp(special.digamma(expected) - special.digamma(totals)[source])
    return probabilities, tension


def _distinct(parts: Iterable[np.ndarray]) -> np.ndarray:
    merged, waiting, size = np.empty(0, np.int64), [], 0
    for part in parts:
        waiting.append(_unique(part))
        size += len(waiting[-1])
        if size > max(_ROOM, len(merged)):
            merged, waiting, size = _unique(np.concatenate([merged, *waiting])), [], 0
    return _unique(np.concatenate([merged, *waiting]))


def _unique(keys: np.ndarray) -> np.ndarray:
    keys = np.sort(keys)
    return keys[np.diff(keys, prepend=-1) > 0]


def _turned(pairs: Iterable[Pair], reverse: bool) -> Iterable[Pair]:
    return ((target, source) for source, target in pairs) if reverse else pairs


def _usable(pair: Pair, line: int, left_out: LeftOut) -> bool:
    n, m = map(len, pair)
    if not n or not m:
        left_out.add("sentence pairs with an empty side", line)
    elif max(n, m) > LONGEST:
        left_out.add(f"sentence pairs with more than {LONGEST:,} words on a side", line)
    else:
        return True
    return False
