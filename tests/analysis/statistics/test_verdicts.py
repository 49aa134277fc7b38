from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calque.analysis.statistics import (
    CONFIDENCE,
    FAILS,
    FAILS_ALONE,
    HOLDS,
    HOLDS_ALONE,
    ONE_SEED,
    UNDECIDED,
    Verdict,
    estimate,
    holm,
    in_families,
    judge,
    over_items,
)

ABOVE, BELOW, OPEN = map(estimate, ([0.3, 0.31, 0.32], [-0.3, -0.31, -0.32], [0.2, -0.1, 0.0]))


def verdict(*found, side=1):
    return judge([(one, 0.0, side) for one in found], "because")


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ((ABOVE,), HOLDS),
        ((BELOW,), FAILS),
        ((OPEN,), UNDECIDED),
        ((ABOVE, ABOVE), HOLDS),
        ((ABOVE, OPEN), UNDECIDED),
        ((ABOVE, BELOW), FAILS),
        ((estimate([0.3] * 3),), UNDECIDED),  # identical seeds say nothing about others
        ((over_items(0.9, 0.001),), ONE_SEED),
        ((ABOVE, over_items(0.9, 0.001)), ONE_SEED),
        ((estimate([0.3, 0.301]),), HOLDS),  # two seeds can decide
    ],
)
def test_claims_need_all_their_comparisons(found, word):
    assert verdict(*found).verdict == word


def test_one_comparison_is_decided_by_its_interval():
    values = np.array([0.3, 0.35, 0.41])
    low, high = stats.t.interval(0.95, 2, loc=values.mean(), scale=stats.sem(values))
    cases = (low - 1e-6, HOLDS), (low + 1e-6, UNDECIDED), (high - 1e-6, UNDECIDED), (high + 1e-6, FAILS)
    for bound, word in cases:
        assert judge([(estimate(list(values)), bound, +1)], "").verdict == word


def test_many_comparisons_are_corrected():
    worse = estimate([-0.05, -0.06, -0.09])
    assert worse.high < 0
    assert verdict(worse).verdict == FAILS
    assert verdict(worse, *[ABOVE] * 4).verdict == UNDECIDED


PS = st.lists(st.floats(0, 1), min_size=1, max_size=7)


def by_definition(ps):
    ranked = sorted(ps)
    return [max(min(1.0, (len(ps) - i) * q) for i, q in enumerate(ranked) if q <= p) for p in ps]


def by_closed_testing(ps):
    """Marcus, Peritz and Gabriel (1976): the largest Bonferroni p of all sets of hypotheses that contain this
    one."""
    places = range(len(ps))
    sets = [each for size in range(1, len(ps) + 1) for each in combinations(places, size)]
    return [max(min(1.0, len(each) * min(ps[j] for j in each)) for each in sets if i in each) for i in places]


@given(PS)
def test_holm_equals_definition_and_closed_testing(ps):
    assert holm(ps) == pytest.approx(by_closed_testing(ps))
    if len(set(ps)) == len(ps):
        assert holm(ps) == pytest.approx(by_definition(ps))


def words(*verdicts):
    return [corrected.verdict for corrected in in_families(verdicts)]


def test_verdicts_are_corrected_within_families():
    weak, strong, open_ = Verdict(HOLDS, "", 0.04), Verdict(FAILS, "", 0.001), Verdict(UNDECIDED, "", 0.5)
    undecidable, fails = Verdict(ONE_SEED, ""), Verdict(FAILS, "", 0.03)
    assert words(("a", weak), ("a", strong), ("a", open_)) == [HOLDS_ALONE, FAILS, UNDECIDED]
    assert words(("a", fails), ("a", open_)) == [FAILS_ALONE, UNDECIDED]
    assert words(("a", weak), ("b", strong), ("b", open_)) == [HOLDS, FAILS, UNDECIDED]
    assert words(("a", weak), ("a", undecidable)) == [HOLDS, ONE_SEED]  # without a p, it is not counted
    certain, level = Verdict(HOLDS, "", 0.0), Verdict(HOLDS, "", 1 - CONFIDENCE)
    assert words(("a", certain), ("b", level)) == [HOLDS, HOLDS_ALONE]  # p must be below the level
