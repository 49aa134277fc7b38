"""Shuffles within kinds, and nulls."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.permutation import in_company, null, shuffled
from analysis.records.record import Null

KINDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=30)


@given(kinds=KINDS, seed=st.integers(0, 99))
def test_items_are_shuffled_among_their_kind(kinds: list[str], seed: int) -> None:
    made = shuffled(kinds, 5, seed)
    assert np.array_equal(made, shuffled(kinds, 5, seed))
    for row in made:
        assert sorted(row) == list(range(len(kinds)))
        assert [kinds[i] for i in row] == kinds


def test_every_order_comes_as_often() -> None:
    orders = Counter(map(tuple, shuffled(["a", "b", "a", "a"], 6000, 0).tolist()))
    assert len(orders) == 6
    assert all(abs(often - 1000) < 120 for often in orders.values())


@given(kinds=KINDS)
def test_company_is_of_ones_own_kind(kinds: list[str]) -> None:
    kept = in_company(kinds, 3)
    assert kept == [i for i in range(len(kinds)) if kinds.count(kinds[i]) >= 3]


def test_a_null_is_the_middle_of_its_values() -> None:
    made = null(np.arange(41) / 40)
    assert (made.low, made.high) == pytest.approx((0.025, 0.975))
    assert (made.chance, made.shuffles) == (0.5, 41)
    assert null(np.zeros(4), chance=0.2).chance == 0.2
    with pytest.raises(ValueError, match="a null of no shuffles"):
        null(np.empty(0))


def test_a_number_leaves_its_null_beyond_band_and_chance() -> None:
    made = Null(chance=0.5, low=0.2, high=0.4, shuffles=200)
    assert [made.left(value) for value in (0.3, 0.45, 0.5, 0.51)] == [False, False, False, True]
    assert [made.left(value, -1) for value in (0.3, 0.2, 0.19)] == [False, False, True]
