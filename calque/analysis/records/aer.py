"""The alignment error rate (AER) of word links, compared with gold links (Och and Ney 2003)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from itertools import starmap

from calque.derive.readers.parallel import GoldPair, Link


@dataclass(frozen=True)
class LinkCounts:
    """For predicted links A, sure gold links S and possible gold links P: |A|, |S|, |A ∩ S| and |A ∩ P|, over
    `pairs` sentence pairs. Rates are None if the denominator is 0."""

    pairs: int = 0
    predicted: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0

    def __add__(self, other: LinkCounts) -> LinkCounts:
        return LinkCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def aer(self) -> float | None:
        """The alignment error rate, 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), for predicted links A, sure links
        S and possible links P, which include S (Och and Ney 2003)."""
        rate = _share(self.found_sure + self.found_possible, self.predicted + self.sure)
        return None if rate is None else 1 - rate

    @property
    def rates(self) -> tuple[float | None, ...]:
        """AER, precision, recall and F1."""
        precision, recall = _share(self.found_possible, self.predicted), _share(self.found_sure, self.sure)
        f1 = 2 * precision * recall / (precision + recall) if precision and recall else 0.0
        return self.aer, precision, recall, None if precision is None or recall is None else f1


def _share(part: int, total: int) -> float | None:
    return part / total if total else None


def score(gold: GoldPair, links: Iterable[Link]) -> LinkCounts:
    """Count a sentence pair's predicted, gold and correct links."""
    predicted = frozenset(links)
    correct = len(predicted & gold.sure), len(predicted & gold.possible)
    return LinkCounts(1, len(predicted), len(gold.sure), *correct)


def score_all(gold: Iterable[GoldPair], links: Iterable[Iterable[Link]]) -> LinkCounts:
    """Sum the link counts over a corpus."""
    return sum(starmap(score, zip(gold, links, strict=True)), LinkCounts())
