"""Spearman's rho: against scipy, and the laws of its p and its interval."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calque.analysis.statistics.correlation import Correlation, spearman

points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=4, max_size=12).filter(
    lambda rows: all(len(set(column)) > 1 for column in zip(*rows, strict=True))
)


@given(points)
def test_rho_is_scipys_with_delta_turned(rows: list[tuple[int, int]]) -> None:
    x, y = zip(*rows, strict=True)
    found = spearman(x, y, draws=99)
    assert found is not None
    assert found.rho == pytest.approx(-stats.spearmanr(x, y).statistic, abs=1e-12)


@given(points.filter(lambda rows: len(rows) <= 6))
@settings(max_examples=30)
def test_exact_p_counts_every_pairing(rows: list[tuple[int, int]]) -> None:
    x, y = zip(*rows, strict=True)
    found = spearman(x, y, draws=99)
    assert found is not None and found.exact
    every = [abs(stats.spearmanr(x, order).statistic) for order in permutations(y)]
    assert found.p == pytest.approx(np.mean(np.array(every) >= abs(found.rho) - 1e-9))


def test_exact_p_of_four_points_in_order_is_2_of_24() -> None:
    found = spearman([0.1, 0.2, 0.3, 0.4], [4, 3, 2, 1])
    assert found is not None
    assert (found.rho, found.p, found.low) == (pytest.approx(1), pytest.approx(2 / 24), None)


def test_random_p_agrees_with_scipys() -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=20)
    y = -x + 1.5 * random.normal(size=20)
    found = spearman(list(x), list(y))
    assert found is not None and not found.exact
    assert found.p == pytest.approx(stats.spearmanr(x, y).pvalue, abs=0.01)


def test_the_interval_holds_rho_and_the_seed_decides_it() -> None:
    x, y = list(range(20)), [(7 * i) % 20 - i for i in range(20)]
    first, again, other = spearman(x, y), spearman(x, y), spearman(x, y, seed=1)
    assert first is not None and first == again and first != other
    assert first.low is not None and first.high is not None
    assert first.low <= first.rho <= first.high <= 1


@pytest.mark.parametrize(
    ("x", "y"),
    [([1, 2], [2, 1]), ([1, 2, 3], [3, 2, 1]), ([1, 1, 1, 1], [1, 2, 3, 4]), ([1, 2, 3, 4], [5, 5, 5, 5])],
)
def test_no_rho_where_none_is_defined(x: list[float], y: list[float]) -> None:
    assert spearman(x, y) is None


def test_groups_of_one_point_have_no_other_pairing() -> None:
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1], groups=list("abcd")) is None


def test_within_transforms_the_sign_may_turn() -> None:
    aligned = [0.1, 0.2, 0.3, 0.4]
    groups = {"trans": (aligned, [4.0, 3, 2, 1]), "trans.inv": (aligned, [1.0, 2, 3, 4])}
    found = {name: rho.rho for name, its in groups.items() if (rho := spearman(*its)) is not None}
    assert found == {"trans": pytest.approx(1), "trans.inv": pytest.approx(-1)}


def test_pairings_within_groups_are_counted() -> None:
    x, y = [1.0, 2.0, 3.0, 7.0, 9.0, 8.0], [5.0, 3.0, 4.0, 1.0, 2.0, 0.5]
    groups = ["a"] * 3 + ["b"] * 3
    found = spearman(x, y, groups=groups)
    orders = [(*first, *second) for first in permutations(y[:3]) for second in permutations(y[3:])]
    every = np.array([-stats.spearmanr(x, order).statistic for order in orders])
    assert found is not None and found.exact
    assert found.p == pytest.approx(np.mean(np.abs(every - every.mean()) >= abs(found.rho - every.mean()) - 1e-9))
    assert found.rho == pytest.approx(-stats.spearmanr(x, y).statistic)


def test_random_pairings_within_groups_agree_with_all_of_them() -> None:
    random = np.random.default_rng(2)
    groups = np.repeat(["a", "b"], 13)
    x = random.normal(size=26) + 3 * (groups == "b")
    y = -0.5 * x + random.normal(size=26)
    found = spearman(list(x), list(y), groups=list(groups))
    few = [spearman(list(x[g]), list(y[g]), groups=list(groups[g])) for g in (np.r_[0:12, 13:25],)]
    assert found is not None and not found.exact and few[0] is not None and few[0].exact
    sampled = [spearman(list(x), list(y), groups=list(groups), seed=seed) for seed in (1, 2)]
    assert all(other and other.p == pytest.approx(found.p, abs=0.02) for other in sampled)


def test_nothing_but_a_transforms_effect_is_no_finding() -> None:
    """p <= .05 in 24 % of draws where pairings cross transforms, in 5 % at most where they do not."""
    random, groups = np.random.default_rng(0), np.repeat([0, 1, 2], 4)
    crossing, inside = [], []
    for _ in range(80):
        effect = random.normal(size=3)[groups] * 2
        x, y = effect + random.normal(size=12), -effect + random.normal(size=12)
        rank_x, rank_y = list(x), list(y)
        a, b = spearman(rank_x, rank_y, draws=9), spearman(rank_x, rank_y, draws=9, groups=list(groups))
        assert a is not None and b is not None
        crossing.append(a.p <= 0.05)
        inside.append(b.p <= 0.05)
    assert np.mean(crossing) > 0.2
    assert np.mean(inside) <= 0.1


@pytest.mark.parametrize(("n", "known"), [(7, False), (8, True)])
def test_there_is_an_interval_from_eight_points(n: int, known: bool) -> None:
    found = spearman(list(range(n)), [(3 * i) % n - i for i in range(n)])
    assert found is not None
    assert (found.low is not None, found.beyond(0.0, +1) is not None) == (known, known)


def test_beyond_is_how_often_the_bootstrap_is_on_the_other_side() -> None:
    found = spearman(list(range(20)), [(7 * i) % 20 - i for i in range(20)])
    assert found is not None and found.low is not None
    above, below = found.beyond(found.low, +1), found.beyond(found.low, -1)
    assert above == pytest.approx(0.025, abs=0.002) and below == pytest.approx(0.975, abs=0.002)


@pytest.mark.parametrize("of_one", [12, 13], ids=["counted", "drawn"])
def test_the_order_of_the_points_decides_nothing(of_one: int) -> None:
    random, n = np.random.default_rng(3), 2 * of_one
    x, y, groups = random.integers(5, size=n), random.normal(size=n), np.repeat(["a", "b"], of_one)
    order = random.permutation(n)
    one = spearman(x.tolist(), y.tolist(), groups=groups.tolist(), draws=200)
    other = spearman(x[order].tolist(), y[order].tolist(), groups=groups[order].tolist(), draws=200)
    assert one is not None and one == other


def test_a_group_in_which_nothing_differs_leaves_the_others_their_exact_p() -> None:
    """Thirteen points of one alignment are too many to count; whatever they are paired with, rho is the same."""
    small = [1.0, 2.0, 3.0, 4.0]
    for order in permutations(small):
        alone = spearman(small, order)
        y = [5.0 + i for i in range(13)] + list(order)
        found = spearman([0.0] * 13 + small, y, draws=3_000, groups=["a"] * 13 + ["b"] * 4)
        assert alone is not None and found is not None and not found.exact
        assert found.p == pytest.approx(alone.p, abs=0.03)


def test_the_observed_pairing_counts_among_random_ones() -> None:
    found = spearman(list(range(20)), list(range(0, -20, -1)), draws=99)
    assert found is not None and found.p == pytest.approx(1 / 100)


def test_beyond_by_hand() -> None:
    """Of three draws, two lie at the bound or on the wrong side of it; the number observed counts as one more."""
    found = Correlation(0.2, 0.1, 9, 0.1, 0.3, True, np.array([0.1, 0.2, 0.3]))
    assert (found.beyond(0.2, +1), found.beyond(0.2, -1)) == (3 / 4, 3 / 4)
    assert (found.beyond(0.25, +1), found.beyond(0.25, -1)) == (3 / 4, 2 / 4)
    assert replace(found, rhos=np.empty(0)).beyond(0.2, +1) is None


def test_an_interval_leaves_out_as_much_above_as_below() -> None:
    found = spearman(list(range(20)), [(7 * i) % 20 - i for i in range(20)])
    assert found is not None and found.high is not None and found.high < 1
    assert found.beyond(found.high, -1) == pytest.approx(0.025, abs=0.002)


def test_rho_its_p_and_its_interval_know_ranks_alone() -> None:
    x, y = [float(i) for i in range(20)], [float((7 * i) % 20 - i) for i in range(20)]
    assert spearman([a / 1000 for a in x], [100 * b - 7 for b in y]) == spearman(x, y)


def test_draws_without_a_rho_are_drawn_again() -> None:
    """One point of ten differs in either column: a third of all draws lacks it."""
    found = spearman([1.0] + [0.0] * 9, [0.0] * 9 + [1.0], draws=500)
    assert found is not None and len(found.rhos) == 500 and np.isfinite(found.rhos).all()
