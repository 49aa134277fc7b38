"""Alignment error rate, precision, recall and F1 of word links against gold ones (Och and Ney 2003).

A are the links predicted, S the sure and P the possible gold links, S within P; all sums go over the corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

from derive.readers.gold import GoldLinks, Link


@dataclass(frozen=True)
class Score:
    """The counts behind AER, precision, recall and F1, over `pairs` sentence pairs.

    `predicted` is |A|, `sure` |S|, `found_sure` |A and S|, `found_possible` |A and P|. Scores add up, and their sum is
    the micro-average. A measure is None where its denominator is 0: there is nothing to be right or wrong about.
    """

    pairs: int = 0
    predicted: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def aer(self) -> float | None:
        """1 - (|A and S| + |A and P|) / (|A| + |S|)."""
        rate = _share(self.found_sure + self.found_possible, self.predicted + self.sure)
        return None if rate is None else 1 - rate

    @property
    def precision(self) -> float | None:
        """|A and P| / |A|."""
        return _share(self.found_possible, self.predicted)

    @property
    def recall(self) -> float | None:
        """|A and S| / |S|."""
        return _share(self.found_sure, self.sure)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall, 0 where both are."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None:
            return None
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def score(gold: GoldLinks, links: Iterable[Link]) -> Score:
    """The score of one sentence pair; a link that is predicted twice counts once."""
    predicted = frozenset(links)
    return Score(1, len(predicted), len(gold.sure), len(predicted & gold.sure), len(predicted & gold.possible))


def score_all(gold: Iterable[GoldLinks], links: Iterable[Iterable[Link]]) -> Score:
    """The score of a corpus: the sum over its sentence pairs, which may stream.

    Raises:
        ValueError: the two do not have the same number of sentence pairs.
    """
    return sum((score(*pair) for pair in zip(gold, links, strict=True)), Score())


def score_each(gold: Iterable[GoldLinks], links: Iterable[Sequence[Iterable[Link]]], aligners: int) -> list[Score]:
    """The scores of several aligners over a corpus; `links` has, for each sentence pair, those of every aligner.

    Raises:
        ValueError: the two do not have the same number of sentence pairs, or a pair not the links of every aligner.
    """
    totals = [Score()] * aligners
    for known, rows in zip(gold, links, strict=True):
        totals = [total + score(known, row) for total, row in zip(totals, rows, strict=True)]
    return totals


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
