"""Verdicts: what seeds decide, of one comparison or several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.statistics.intervals import Estimate, estimate, over_items
from analysis.statistics.verdicts import (
    FAILS,
    HOLDS,
    NO_RECORDS,
    ONE_SEED,
    UNDECIDED,
    Comparison,
    Verdict,
    judge,
    points,
)

ABOVE, BELOW, OPEN = (estimate(values) for values in ([0.3, 0.31, 0.32], [-0.3, -0.31, -0.32], [0.2, -0.1, 0.0]))


def verdict(*found: Estimate, side: int = 1) -> Verdict:
    return judge([Comparison(one, 0.0, side) for one in found], "because")


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ((ABOVE,), HOLDS),
        ((BELOW,), FAILS),
        ((OPEN,), UNDECIDED),
        ((ABOVE, ABOVE), HOLDS),
        ((ABOVE, OPEN), UNDECIDED),
        ((ABOVE, BELOW), FAILS),
        ((estimate([0.3] * 3),), UNDECIDED),  # seeds that do not differ say nothing of others
        ((over_items(0.9, 0.001),), ONE_SEED),
        ((ABOVE, over_items(0.9, 0.001)), ONE_SEED),
        ((estimate([0.3, 0.301]),), HOLDS),  # two seeds can decide
    ],
)
def test_a_claim_is_decided_by_all_its_comparisons(found: tuple[Estimate, ...], word: str) -> None:
    assert verdict(*found).verdict == word


def test_without_a_comparison_there_are_no_records() -> None:
    assert judge([], "") == Verdict(UNDECIDED, NO_RECORDS)


def test_one_comparison_is_decided_where_its_interval_ends() -> None:
    values = np.array([0.3, 0.35, 0.41])
    low, high = stats.t.interval(0.95, 2, loc=values.mean(), scale=stats.sem(values))
    for bound, word in ((low - 1e-6, HOLDS), (low + 1e-6, UNDECIDED), (high - 1e-6, UNDECIDED), (high + 1e-6, FAILS)):
        assert judge([Comparison(estimate(list(values)), bound, +1)], "").verdict == word


def test_p_is_two_sided_and_no_more_than_1() -> None:
    values = [0.3, -0.1, 0.5]
    assert verdict(estimate(values)).p == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    slightly = estimate([-0.3, 0.1, 0.1])  # doubled, the p of both and that of the contrary are above 1
    assert verdict(slightly, slightly).p == 1
    assert verdict(estimate([0.3] * 3)).p is None


def test_of_many_comparisons_one_fails_by_chance() -> None:
    """One of five rivals is worse by an interval that just clears 0: among five, that is no finding."""
    values = [-0.05, -0.06, -0.09]
    worse = estimate(values)
    assert worse.high is not None and worse.high < 0
    assert verdict(worse).verdict == FAILS
    assert verdict(worse, *[ABOVE] * 4).verdict == UNDECIDED


def test_two_seeds_of_one_objective_are_called_different_as_seldom_as_is_said() -> None:
    """Drawn from one distribution, three seeds each: items alone once told 69 % of such pairs apart."""
    random = np.random.default_rng(0)
    words = [verdict(estimate(list(random.normal(0, 0.1, 3) - random.normal(0, 0.1, 3)))).verdict for _ in range(2000)]
    assert np.mean([word != UNDECIDED for word in words]) == pytest.approx(0.05, abs=0.015)


def test_points_say_what_the_interval_covers() -> None:
    assert points(estimate([0.1, 0.2])) == "15.0 points, 95 % interval [-48.5, 78.5], 2 seeds"
    assert points(over_items(0.5, 0.05)).endswith("one seed: the interval covers test items only")
    assert points(over_items(0.5, None)) == "50.0 points, one seed"
    assert points(estimate([0.5] * 3)) == "50.0 points, 3 seeds that do not differ"
