"""Verdicts, by themselves and after correction for their family."""

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calque.analysis.statistics.intervals import CONFIDENCE, Estimate, estimate, over_items
from calque.analysis.statistics.verdicts import (
    FAILS,
    FAILS_ALONE,
    HOLDS,
    HOLDS_ALONE,
    NO_RECORDS,
    ONE_SEED,
    UNDECIDED,
    Corrected,
    Verdict,
    holm,
    in_families,
    judge,
    points,
)

ABOVE, BELOW, OPEN = (estimate(values) for values in ([0.3, 0.31, 0.32], [-0.3, -0.31, -0.32], [0.2, -0.1, 0.0]))


def verdict(*found: Estimate, side: int = 1) -> Verdict:
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
        assert judge([(estimate(list(values)), bound, +1)], "").verdict == word


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


PS = st.lists(st.floats(0, 1), min_size=1, max_size=7)


def by_definition(ps: list[float]) -> list[float]:
    """Holm (1979), as its definition reads."""
    ranked = sorted(ps)
    return [max(min(1.0, (len(ps) - i) * q) for i, q in enumerate(ranked) if q <= p) for p in ps]


def by_closed_testing(ps: list[float]) -> list[float]:
    """Marcus, Peritz and Gabriel (1976): the worst Bonferroni p of all sets of hypotheses that have this one."""
    places = range(len(ps))
    sets = [each for size in range(1, len(ps) + 1) for each in combinations(places, size)]
    return [max(min(1.0, len(each) * min(ps[j] for j in each)) for each in sets if i in each) for i in places]


@given(PS)
def test_holm_is_its_definition_and_closed_testing(ps: list[float]) -> None:
    assert holm(ps) == pytest.approx(by_closed_testing(ps))
    if len(set(ps)) == len(ps):
        assert holm(ps) == pytest.approx(by_definition(ps))


@given(PS)
def test_a_corrected_p_is_no_smaller_and_keeps_the_order(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= a <= 1 for p, a in zip(ps, adjusted, strict=True))
    assert all(adjusted[i] <= adjusted[j] for i in range(len(ps)) for j in range(len(ps)) if ps[i] <= ps[j])


@given(PS, st.randoms(use_true_random=False))
def test_the_order_of_claims_is_nothing_to_it(ps: list[float], random: Random) -> None:
    places = list(range(len(ps)))
    random.shuffle(places)
    adjusted = holm(ps)
    assert holm([ps[i] for i in places]) == [adjusted[i] for i in places]


def test_numbers_of_r() -> None:
    """p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") of R, of which statsmodels prints the same."""
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.03]) == [0.03] and holm([]) == []


def test_a_family_has_a_false_finding_once_in_twenty_at_most() -> None:
    random = np.random.default_rng(0)
    families = [min(holm(list(random.random(10)))) < 0.05 for _ in range(2000)]
    alone = [random.random(10).min() < 0.05 for _ in range(2000)]
    assert np.mean(families) <= 0.065 and np.mean(alone) > 0.3


def words(*verdicts: tuple[str, Verdict]) -> list[str]:
    return [corrected.verdict for corrected in in_families(verdicts)]


def test_a_verdict_may_not_stand_in_its_family_and_others_are_nothing_to_it() -> None:
    weak, strong, open_ = Verdict(HOLDS, "", 0.04), Verdict(FAILS, "", 0.001), Verdict(UNDECIDED, "", 0.5)
    undecidable, fails = Verdict(ONE_SEED, ""), Verdict(FAILS, "", 0.03)
    assert words(("a", weak), ("a", strong), ("a", open_)) == [HOLDS_ALONE, FAILS, UNDECIDED]
    assert words(("a", fails), ("a", open_)) == [FAILS_ALONE, UNDECIDED]
    assert words(("a", weak), ("b", strong), ("b", open_)) == [HOLDS, FAILS, UNDECIDED]
    assert words(("a", weak), ("a", undecidable)) == [HOLDS, ONE_SEED]  # it is no test, and costs nothing
    certain, level = Verdict(HOLDS, "", 0.0), Verdict(HOLDS, "", 1 - CONFIDENCE)
    assert words(("a", certain), ("b", level)) == [HOLDS, HOLDS_ALONE]  # below the level, and not at it


def test_the_corrected_p_and_the_size_of_its_family_are_told() -> None:
    three = [("a", Verdict(HOLDS, "", 0.01)), ("a", Verdict(UNDECIDED, "", 0.2)), ("a", Verdict(ONE_SEED, ""))]
    assert in_families(three) == [
        Corrected(HOLDS, 0.02, 2),
        Corrected(UNDECIDED, 0.2, 2),
        Corrected(ONE_SEED, None, 0),
    ]
