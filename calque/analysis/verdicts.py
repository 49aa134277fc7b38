"""Judge claims: whether a claim holds, does not hold, or is undecided, and corrections for several claims."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from calque.analysis.statistics import CONFIDENCE, Estimate, holm

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
    and of its opposite, if the claim can be tested; once corrected, `of` is the number of testable claims."""

    verdict: str
    because: str
    p: float | None = None
    of: int = 0


@dataclass(frozen=True)
class Claim:
    """A claim, its source, its family for correction, and its verdict."""

    text: str
    where: str
    family: str
    verdict: Verdict


Comparison = tuple[Estimate, float, int]
"""A number, a bound, and whether the number should be above (+1) or below (-1) the bound."""


def judge(comparisons: Sequence[Comparison], because: str) -> Verdict:
    """Judge a claim that is true if every comparison is true."""
    if not comparisons:
        return Verdict(UNDECIDED, NO_RECORDS)
    if any(estimate.seeds < 2 for estimate, _, _ in comparisons):
        return Verdict(ONE_SEED, because)
    ps, opposite = (
        [p for estimate, bound, side in comparisons if (p := estimate.p(bound, direction * side)) is not None]
        for direction in (+1, -1)
    )
    holds = 2 * max(ps) if len(ps) == len(comparisons) else math.inf
    fails = 2 * len(comparisons) * min(opposite) if opposite else math.inf
    verdict = HOLDS if holds < 1 - CONFIDENCE else FAILS if fails < 1 - CONFIDENCE else UNDECIDED
    return Verdict(verdict, because, min(1.0, holds, fails) if opposite else None)


def in_families(verdicts: Iterable[tuple[str, Verdict]]) -> list[Verdict]:
    """Correct verdicts, each given with its family's name, for multiple comparisons in the family."""
    claims, families = list(verdicts), dict[str, dict[int, float]]()
    for i, (family, verdict) in enumerate(claims):
        if verdict.p is not None:
            families.setdefault(family, {})[i] = verdict.p
    corrected = [verdict for _, verdict in claims]
    for ps in families.values():
        for i, p in zip(ps, holm([*ps.values()]), strict=True):
            alone = ALONE.get(corrected[i].verdict) if p >= 1 - CONFIDENCE else None
            corrected[i] = replace(corrected[i], verdict=alone or corrected[i].verdict, p=p, of=len(ps))
    return corrected
