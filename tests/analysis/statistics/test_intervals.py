"""Intervals: against scipy, and that they cover as often as they say."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics.intervals import estimate, item_error, over_items, paired

shares = st.lists(st.floats(0, 1), min_size=2, max_size=9)


@given(shares)
def test_the_interval_is_students_t(values: list[float]) -> None:
    found = estimate(values)
    assert found.low is not None and found.high is not None
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    if error > 1e-12:
        low, high = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=error)
        assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.low <= found.mean + 1e-12 and found.mean <= found.high + 1e-12


def test_one_seed_has_no_interval() -> None:
    found = estimate([0.4])
    assert (found.mean, found.seeds, found.low, found.high, found.half) == (0.4, 1, None, None, None)


def test_no_seed_has_no_mean() -> None:
    with pytest.raises(ValueError, match="no values"):
        estimate([])


def test_pairs_are_of_one_seed_and_cancel_what_it_does() -> None:
    found = paired({0: 0.5, 1: 0.7, 2: 0.9, 7: 0.1}, {2: 0.8, 1: 0.6, 0: 0.4})
    assert found.seeds == 3
    assert found.mean == pytest.approx(0.1)
    assert found.half == pytest.approx(0, abs=1e-12)


def test_the_t_interval_covers_95_percent() -> None:
    random = np.random.default_rng(0)
    hits = [
        (e.low or 0) <= 0.5 <= (e.high or 0) for e in (estimate(list(random.normal(0.5, 0.1, 3))) for _ in range(2000))
    ]
    assert np.mean(hits) == pytest.approx(0.95, abs=0.015)


def test_one_seeds_difference_over_items_covers_at_least_95_percent() -> None:
    random = np.random.default_rng(0)
    hits = []
    for _ in range(2000):
        a, b = random.binomial(400, 0.8) / 400, random.binomial(400, 0.6) / 400
        found = over_items(a - b, [item_error(a, 400), item_error(b, 400)])
        assert found.over == "items" and found.low is not None and found.high is not None
        hits.append(found.low <= 0.2 <= found.high)
    assert np.mean(hits) == pytest.approx(0.95, abs=0.015)


def test_none_of_few_items_is_not_certain() -> None:
    assert item_error(0.0, 100) > 0 and item_error(1.0, 100) == pytest.approx(item_error(0.0, 100))
    assert item_error(0.3, 10**6) == pytest.approx(math.sqrt(0.3 * 0.7 / 10**6), rel=1e-4)
