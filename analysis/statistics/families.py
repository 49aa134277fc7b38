"""Families of claims: each p corrected for the others of its family (Holm 1979), and the verdict that is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.statistics.intervals import CONFIDENCE
from analysis.statistics.verdicts import FAILS, HOLDS, Verdict

HOLDS_ALONE, FAILS_ALONE = "holds alone, not after correction", "fails alone, not after correction"
ALONE = {HOLDS: HOLDS_ALONE, FAILS: FAILS_ALONE}
"""What becomes of a verdict that the correction takes back."""


@dataclass(frozen=True)
class Corrected:
    """A verdict among those of its family: the words for it, its adjusted p, and of how many.

    `p` is None where nothing can be decided: such a claim is no test, and costs the others nothing.
    """

    verdict: str
    p: float | None
    of: int


def holm(ps: Sequence[float]) -> list[float]:
    """Each p adjusted for all of them (Holm 1979): at 5 %, at most one family in twenty has any false finding."""
    adjusted, worst = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        worst = max(worst, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = worst
    return adjusted


def in_families(verdicts: Iterable[tuple[str, Verdict]]) -> list[Corrected]:
    """Each verdict, with its family's name beside it, among those of its family that anything can be decided about."""
    judged = list(verdicts)
    corrected = [Corrected(verdict.verdict, None, 0) for _, verdict in judged]
    for family in {name for name, _ in judged}:
        places = [i for i, (name, verdict) in enumerate(judged) if name == family and verdict.p is not None]
        for i, p in zip(places, holm([judged[i][1].p or 0.0 for i in places]), strict=True):
            word = judged[i][1].verdict
            corrected[i] = Corrected(ALONE.get(word, word) if p >= 1 - CONFIDENCE else word, p, len(places))
    return corrected
