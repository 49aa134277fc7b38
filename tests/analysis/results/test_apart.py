"""Two objectives held against each other, by seed."""

from __future__ import annotations

from analysis.results.measured import Measured, judge_difference, judge_estimate
from analysis.statistics.verdicts import FAILS, HOLDS, NO_RECORDS, ONE_SEED, UNDECIDED


def seeds(*values: float) -> dict[int, Measured]:
    return {seed: Measured(value, None) for seed, value in enumerate(values)}


def test_the_difference_of_each_seed_decides() -> None:
    high, low = seeds(0.5, 0.7, 0.9), seeds(0.3, 0.51, 0.69)
    assert judge_difference(high, low, +1).verdict == HOLDS
    assert judge_difference(low, high, +1).verdict == FAILS and judge_difference(low, high, -1).verdict == HOLDS
    assert judge_difference(high, low, +1, bound=0.3).verdict == FAILS
    assert judge_difference(high, seeds(0.9, 0.5, 0.7), +1).verdict == UNDECIDED
    assert judge_difference(high, seeds(0.1), +1).verdict == ONE_SEED


def test_nothing_is_said_without_records() -> None:
    assert judge_estimate(None, +1).because == judge_difference(seeds(0.5), {}, +1).because == NO_RECORDS
