import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calque.analysis.statistics import (
    CONFIDENCE,
    estimate,
    holm,
    item_error,
    over_items,
    paired_error,
    per_item,
    spearman,
)
from calque.analysis.verdicts import (
    FAILS,
    FAILS_ALONE,
    HOLDS,
    HOLDS_ALONE,
    ONE_SEED,
    UNDECIDED,
    Verdict,
    in_families,
    judge,
)

shares = st.lists(st.floats(0, 1), min_size=2, max_size=9)


@given(shares, st.floats(-1, 2), st.sampled_from((-1, 1)))
def test_interval_and_p_equal_students_t(values, bound, side):
    found, error = estimate(values), np.std(values, ddof=1) / math.sqrt(len(values))
    if found.error is None:
        assert found.p(bound, side) is None
    elif error > 1e-9:
        low, high = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=error)
        assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high)) and found.symmetric
        tested = stats.ttest_1samp(values, bound, alternative="greater" if side > 0 else "less")
        assert found.p(bound, side) == pytest.approx(tested.pvalue)


def test_errors_by_hand():
    """Shares are computed with two hits and two misses more (6 of 12 becomes 8 of 16), paired errors with one
    item for and one against."""
    assert item_error(6 / 12, 12) == pytest.approx(math.sqrt(1 / 2 * 1 / 2 / 16))
    assert item_error(0 / 12, 12) == pytest.approx(math.sqrt(1 / 8 * 7 / 8 / 16))
    assert per_item([2, 0], [2, 2]).tolist() == [0.5, -0.5]
    assert per_item([3, 0, 0], [3, 1, 2]).tolist() == [0.75, -0.25, -0.5]
    assert paired_error(np.array([1.0] * 7 + [-1.0] * 7)) == pytest.approx(1 / math.sqrt(16))
    assert paired_error(np.zeros(2)) == pytest.approx(math.sqrt(2 / 4 / 4))


def test_sentence_error_equals_a_bootstrap():
    random = np.random.default_rng(1)
    of = random.integers(5, 30, 240)
    hits = random.binomial(of, np.clip(random.normal(0.8, 0.1, 240), 0, 1))
    picks = random.integers(240, size=(4_000, 240))
    drawn = np.std(hits[picks].sum(1) / of[picks].sum(1))
    assert drawn < paired_error(per_item(hits.tolist(), of.tolist())) < 1.1 * drawn


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.9])
def test_paired_interval_covers_95_percent(shared):
    """On the fraction `shared` of 400 items, two models are right or wrong together."""
    random, hits = np.random.default_rng(0), []
    for _ in range(1000):
        together, alone = random.random(400) < shared, random.random((3, 400))
        a, b = (np.where(together, alone[0] < 0.7, alone[i] < p).astype(int) for i, p in ((1, 0.8), (2, 0.6)))
        error = paired_error(per_item(a, [1] * 400) - per_item(b, [1] * 400))
        found = over_items(float(a.mean() - b.mean()), error)
        hits.append(found.low <= (1 - shared) * 0.2 <= found.high)
    assert np.mean(hits) == pytest.approx(0.95, abs=0.02)


points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=4, max_size=12).filter(
    lambda rows: all(len(set(column)) > 1 for column in zip(*rows, strict=True))
)


@given(points)
def test_rho_equals_scipy_with_delta_negated(rows):
    x, y = zip(*rows, strict=True)
    found = spearman(x, y, draws=99)
    assert found.rho == pytest.approx(-stats.spearmanr(x, y).statistic, abs=1e-12)


@given(points.filter(lambda rows: len(rows) <= 6))
@settings(max_examples=30)
def test_exact_p_counts_every_pairing(rows):
    x, y = zip(*rows, strict=True)
    found = spearman(x, y, draws=99)
    assert found.exact
    every = [abs(stats.spearmanr(x, order).statistic) for order in permutations(y)]
    assert found.p == pytest.approx(np.mean(np.array(every) >= abs(found.rho) - 1e-9))


def test_random_p_agrees_with_scipy():
    random = np.random.default_rng(1)
    x = random.normal(size=20)
    y = -x + 1.5 * random.normal(size=20)
    found = spearman(list(x), list(y))
    assert not found.exact
    assert found.p == pytest.approx(stats.spearmanr(x, y).pvalue, abs=0.01)


def test_interval_contains_rho_and_depends_on_the_seed():
    x, y = list(range(20)), [(7 * i) % 20 - i for i in range(20)]
    first, again, other = spearman(x, y), spearman(x, y), spearman(x, y, seed=1)
    assert first == again and first != other
    assert first.low <= first.rho <= first.high <= 1


@pytest.mark.parametrize(
    ("x", "y"),
    [([1, 2], [2, 1]), ([1, 2, 3], [3, 2, 1]), ([1, 1, 1, 1], [1, 2, 3, 4]), ([1, 2, 3, 4], [5, 5, 5, 5])],
)
def test_no_rho_where_none_is_defined(x, y):
    assert spearman(x, y) is None


def test_rho_permutes_within_groups():
    x, y = [1.0, 2.0, 3.0, 7.0, 9.0, 8.0], [5.0, 3.0, 4.0, 1.0, 2.0, 0.5]
    groups = ["a"] * 3 + ["b"] * 3
    found = spearman(x, y, groups=groups)
    orders = [(*first, *second) for first in permutations(y[:3]) for second in permutations(y[3:])]
    every = np.array([-stats.spearmanr(x, order).statistic for order in orders])
    assert found.exact
    assert found.p == pytest.approx(
        np.mean(np.abs(every - every.mean()) >= abs(found.rho - every.mean()) - 1e-9)
    )
    assert found.rho == pytest.approx(-stats.spearmanr(x, y).statistic)


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


def by_closed_testing(ps):
    """Marcus, Peritz and Gabriel (1976): the largest Bonferroni p of all sets of hypotheses that contain this
    one."""
    places = range(len(ps))
    sets = [each for size in range(1, len(ps) + 1) for each in combinations(places, size)]
    return [max(min(1.0, len(each) * min(ps[j] for j in each)) for each in sets if i in each) for i in places]


@given(PS)
def test_holm_equals_closed_testing(ps):
    assert holm(ps) == pytest.approx(by_closed_testing(ps))


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


def test_one_seed_has_no_interval():
    alone = estimate([0.25])
    assert (alone.mean, alone.seeds, alone.interval, alone.error) == (0.25, 1, None, None)
