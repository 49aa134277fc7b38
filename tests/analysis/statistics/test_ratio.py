"""Fieller's interval: a brute-force twin, the coverage that it names, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics.intervals import estimate, paired_error, ratio_over_items, ratio_over_seeds

UPPER, LOWER = [0.30, 0.34, 0.29, 0.37, 0.31], [0.60, 0.66, 0.62, 0.65, 0.63]
NUMBERS = st.lists(st.tuples(st.floats(-1, 1), st.floats(0.1, 1)), min_size=3, max_size=6)


def held(upper: list[float], lower: list[float], r: float) -> bool:
    """Whether Student's interval of upper - r lower, paired, holds 0: what Fieller's interval is made of."""
    found = stats.ttest_1samp(np.array(upper) - r * np.array(lower), 0)
    return bool(found.pvalue >= 0.05)


def test_it_holds_the_ratios_that_a_t_test_does_not_refuse() -> None:
    found = ratio_over_seeds(UPPER, LOWER)
    assert found and found.low is not None and found.high is not None and found.seeds == 5 and found.over == "seeds"
    assert found.mean == pytest.approx(np.mean(UPPER) / np.mean(LOWER))
    grid = np.linspace(0.3, 0.7, 401)
    inside = [r for r in grid if held(UPPER, LOWER, r)]
    assert (found.low, found.high) == pytest.approx((inside[0], inside[-1]), abs=1e-3)


@given(NUMBERS)
def test_both_ends_are_where_the_test_is_at_five_percent(values: list[tuple[float, float]]) -> None:
    upper, lower = map(list, zip(*values, strict=True))
    found = ratio_over_seeds(upper, lower)
    assume(found is not None and found.low is not None)
    assert found and found.low is not None and found.high is not None
    assume(found.high - found.low > 1e-3)
    width = found.high - found.low
    assert found.low <= found.mean + 1e-9 and found.mean <= found.high + 1e-9
    for end, outwards in ((found.low, -1), (found.high, 1)):
        assert held(upper, lower, end - outwards * 1e-3 * width)
        assert not held(upper, lower, end + outwards * 1e-3 * width)


@given(NUMBERS)
def test_it_is_undefined_just_where_the_lower_mean_is_not_beyond_0(values: list[tuple[float, float]]) -> None:
    upper, lower = map(list, zip(*values, strict=True))
    shifted = [value - 0.5 for value in lower]
    low = estimate(shifted).low
    assume(low is not None and abs(low) > 1e-9)
    assert low is not None
    assert (ratio_over_seeds(upper, shifted) is None) == (low < 0)


def test_of_what_does_not_vary_or_is_of_one_seed_there_is_no_interval() -> None:
    for upper, lower in (([0.2], [0.4]), ([0.2, 0.2], [0.4, 0.4]), ([0.2, 0.21, 0.22], [0.4, 0.42, 0.44])):
        found = ratio_over_seeds(upper, lower)
        assert found and found.mean == pytest.approx(0.5) and (found.low, found.seeds) == (None, len(upper))
    assert ratio_over_seeds([0.1], [0.0]) is None
    assert ratio_over_seeds([0.1, 0.1], [-0.2, -0.2]) is None
    with pytest.raises(ValueError, match="a ratio of 0 values"):
        ratio_over_seeds([], [])
    with pytest.raises(ValueError, match="a ratio of 1 values to 2"):
        ratio_over_seeds([1.0], [1.0, 2.0])


def test_seeds_cover_the_ratio_as_often_as_they_say() -> None:
    random, hits, draws = np.random.default_rng(0), 0, 2_000
    for _ in range(draws):
        lower = random.normal(0.5, 0.04, 5)
        upper = 0.4 * lower + random.normal(0, 0.05, 5)
        found = ratio_over_seeds(list(upper), list(lower))
        hits += bool(found and found.low is not None and found.high is not None and found.low <= 0.4 <= found.high)
    assert hits / draws == pytest.approx(0.95, abs=0.015)


def test_items_give_one_seed_an_interval() -> None:
    """Against the delta method, which Fieller's is near where the lower number is far from 0."""
    random, n = np.random.default_rng(0), 2_000
    a, b, low = (random.random(n) < share for share in (0.5, 0.8, 0.2))
    upper, lower = a.astype(float) - low, b.astype(float) - low
    values = float(upper.mean()), float(lower.mean())
    parts = [(column - column.mean()) for column in (upper, lower)]
    found = ratio_over_items(values, *parts)
    r = values[0] / values[1]
    error = paired_error(parts[0] - r * parts[1]) / values[1]
    assert found and found.half is not None and (found.over, found.seeds) == ("items", 1)
    assert found.mean == pytest.approx(r)
    assert found.half == pytest.approx(1.96 * error, rel=0.03)
    assert ratio_over_items((0.1, 0.001), *parts) is None
    with pytest.raises(ValueError, match="over 2000 items to one over 1999"):
        ratio_over_items(values, parts[0], parts[1][1:])
