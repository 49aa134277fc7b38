from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calque.analysis.statistics import spearman

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


def test_rho_depends_on_ranks_only():
    x, y = [float(i) for i in range(20)], [float((7 * i) % 20 - i) for i in range(20)]
    assert spearman([a / 1000 for a in x], [100 * b - 7 for b in y]) == spearman(x, y)
