"""Judge whether a claim holds, before and after correction for its family (Holm 1979)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from calque.analysis.statistics.intervals import CONFIDENCE, Estimate

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
ONE_SEED = "undecided: one seed"  # a single run does not show how much results vary between runs
AT_FLOOR = "undecided: at the floor"  # the scores do not exceed a model-free baseline
NO_RECORDS = "no records"
HOLDS_ALONE, FAILS_ALONE = "holds before correction only", "fails before correction only"
ALONE = {HOLDS: HOLDS_ALONE, FAILS: FAILS_ALONE}  # for verdicts that do not survive correction
WEAKEST = (FAILS, FAILS_ALONE, AT_FLOOR, ONE_SEED, UNDECIDED, HOLDS_ALONE, HOLDS)
"""Verdicts in order of precedence: a claim with several comparisons gets the first of their verdicts."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim, and the number behind it. `p` is twice the smaller of the p-values of the claim
    and of its opposite, if the claim can be tested."""

    verdict: str
    because: str
    p: float | None = None


@dataclass(frozen=True)
class Claim:
    """A claim, its source, its family for correction, and its verdict."""

    text: str
    where: str
    family: str
    verdict: Verdict


Comparison = tuple[Estimate, float, int]
"""A number, a bound, and whether the number should be above (+1) or below (-1) it."""


def judge(comparisons: Sequence[Comparison], because: str) -> Verdict:
    """Judge a claim that is true if every comparison is true."""
    if not comparisons:
        return Verdict(UNDECIDED, NO_RECORDS)
    if any(estimate.seeds < 2 for estimate, _, _ in comparisons):
        return Verdict(ONE_SEED, because)
    for_it, against = (
        [p for estimate, bound, side in comparisons if (p := estimate.p(bound, way * side)) is not None]
        for way in (+1, -1)
    )
    holds = 2 * max(for_it) if len(for_it) == len(comparisons) else math.inf
    fails = 2 * len(comparisons) * min(against) if against else math.inf
    verdict = HOLDS if holds < 1 - CONFIDENCE else FAILS if fails < 1 - CONFIDENCE else UNDECIDED
    return Verdict(verdict, because, min(1.0, holds, fails) if against else None)


def points(estimate: Estimate) -> str:
    """Format a share in points, with its interval and a note on the interval's coverage."""
    mean = f"{100 * estimate.mean:.1f} points"
    seeds = "one seed" if estimate.seeds == 1 else f"{estimate.seeds} seeds"
    if estimate.interval is None:
        return f"{mean}, {seeds}" + (" that do not differ" if estimate.seeds > 1 else "")
    covers = ": the interval covers test items only" if estimate.over == "items" else ""
    low, high = estimate.interval
    return f"{mean}, 95 % interval [{100 * low:.1f}, {100 * high:.1f}], {seeds}{covers}"


@dataclass(frozen=True)
class Corrected:
    """A verdict corrected for its family, its adjusted p-value, and the number of testable claims."""

    verdict: str
    p: float | None
    of: int


def holm(ps: Sequence[float]) -> list[float]:
    """Adjust p-values for multiple comparisons (Holm 1979)."""
    return [p for p, _ in holm_intervals(ps)]


def holm_intervals(ps: Sequence[float]) -> list[tuple[float, float]]:
    """Each adjusted p-value (Holm 1979), and the confidence level at which its interval excludes the null if
    and only if that p-value is below 5 %."""
    adjusted, worst = [(0.0, 0.0)] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        number = len(ps) - rank
        worst = max(worst, number * ps[place])
        level = (1 - CONFIDENCE) * (ps[place] / worst if worst else 1 / number)
        adjusted[place] = min(1.0, worst), 1 - level
    return adjusted


def in_families(verdicts: Iterable[tuple[str, Verdict]]) -> list[Corrected]:
    """Correct verdicts, each given with its family's name, for multiple comparisons in the family."""
    claims = list(verdicts)
    corrected = [Corrected(verdict.verdict, None, 0) for _, verdict in claims]
    families: dict[str, dict[int, float]] = {}
    for i, (family, verdict) in enumerate(claims):
        if verdict.p is not None:
            families.setdefault(family, {})[i] = verdict.p
    for ps in families.values():
        for i, p in zip(ps, holm(list(ps.values())), strict=True):
            word = corrected[i].verdict
            corrected[i] = Corrected(ALONE.get(word, word) if p >= 1 - CONFIDENCE else word, p, len(ps))
    return corrected
