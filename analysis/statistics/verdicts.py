"""Verdicts: each claim holds, does not hold, or is undecided, by itself; `families` judges several together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.statistics.intervals import CONFIDENCE, Estimate

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
ONE_SEED = "undecided: one seed"
"""One training run says nothing of how far others would differ from it, and they differ more than test items do."""
AT_FLOOR = "undecided: at the floor"
"""What was not beyond a baseline that has learnt nothing says nothing of those that are compared."""
NO_RECORDS = "no records"


@dataclass(frozen=True)
class Verdict:
    """What the records say of a claim, and the number and interval that it rests on.

    `p` is two-sided: the p of the claim, or of its contrary, doubled; None where nothing can be decided.
    """

    verdict: str
    because: str
    p: float | None = None


@dataclass(frozen=True)
class Comparison:
    """A number that should lie above (`side` +1) or below (-1) a bound."""

    estimate: Estimate
    bound: float
    side: int

    def p(self, direction: int) -> float | None:
        """One-sided p for it (`direction` +1) or for its contrary (-1)."""
        return self.estimate.p(self.bound, direction * self.side)


def judge(comparisons: Sequence[Comparison], because: str) -> Verdict:
    """The verdict on a claim that is true if every comparison is.

    It holds when each does: that needs no correction. It does not hold when one of them does not by an interval as much
    wider as there are comparisons (Bonferroni), for among many one fails by chance.
    """
    if not comparisons:
        return Verdict(UNDECIDED, NO_RECORDS)
    if any(comparison.estimate.seeds < 2 for comparison in comparisons):
        return Verdict(ONE_SEED, because)
    for_it, against = ([comparison.p(direction) for comparison in comparisons] for direction in (+1, -1))
    known_for, known_against = ([p for p in ps if p is not None] for ps in (for_it, against))
    holds = 2 * max(known_for) if len(known_for) == len(comparisons) else 1.0
    fails = 2 * len(comparisons) * min(known_against) if known_against else 1.0
    verdict = HOLDS if holds < 1 - CONFIDENCE else FAILS if fails < 1 - CONFIDENCE else UNDECIDED
    return Verdict(verdict, because, min(1.0, holds, fails) if known_against else None)


def points(estimate: Estimate) -> str:
    """A share in points, with its interval and what that covers."""
    if estimate.low is None or estimate.high is None:
        seeds = "one seed" if estimate.seeds == 1 else f"{estimate.seeds} seeds that do not differ"
        return f"{100 * estimate.mean:.1f} points, {seeds}"
    covers = f"{estimate.seeds} seeds" if estimate.over == "seeds" else "one seed: the interval covers test items only"
    interval = f"[{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"
    return f"{100 * estimate.mean:.1f} points, 95 % interval {interval}, {covers}"
