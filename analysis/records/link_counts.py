"""The counts behind the error rate of word links, and the rates that follow from them (Och and Ney 2003)."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class LinkCounts:
    """The counts behind AER, precision, recall and F1, over `pairs` sentence pairs.

    Of the predicted links A, the sure gold links S and the possible ones P, which hold S: `predicted` is |A|, `sure`
    |S|, `found_sure` |A and S|, `found_possible` |A and P|. Counts add up, and the rates of their sum are the
    micro-average. A rate is None where its denominator is 0: there is nothing to be right or wrong about.
    """

    pairs: int = 0
    predicted: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0

    def __add__(self, other: LinkCounts) -> LinkCounts:
        return LinkCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

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


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
