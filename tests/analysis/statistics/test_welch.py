"""Welch's test against scipy's."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from calque.analysis.statistics.intervals import welch

SAMPLES = st.lists(st.integers(0, 1_000), min_size=2, max_size=8)


@given(SAMPLES, SAMPLES)
def test_welch_is_scipys(ours: list[int], theirs: list[int]) -> None:
    assume(len({*ours}) > 1 and len({*theirs}) > 1)
    a, b = ([value / 1_000 for value in each] for each in (ours, theirs))
    assert welch(a, b) == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)
    assert welch(a, b) == pytest.approx(welch(b, a))
    assert welch(a[:1], b) == pytest.approx(stats.ttest_ind(a[:1], b).pvalue)


@pytest.mark.parametrize(("ours", "theirs"), [([0.1], [0.2]), ([0.1, 0.1], [0.2, 0.2]), ([0.1], [0.2, 0.2, 0.2])])
def test_what_does_not_vary_cannot_be_judged(ours: list[float], theirs: list[float]) -> None:
    assert welch(ours, theirs) is None


def test_one_sample_may_be_constant() -> None:
    p = welch([0.5, 0.5, 0.5], [0.1, 0.2, 0.3])
    assert p is not None and 0 < p < 0.05
