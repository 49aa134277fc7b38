"""Items: a list of whole numbers is written short and read as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records.items import Items

numbers = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=40)


@given(numbers)
def test_what_is_kept_is_read(pairs: list[tuple[int, int]]) -> None:
    hits, of = [a for a, _ in pairs], [b for _, b in pairs]
    assert Items.over(hits, of).numbers == (hits, of)


def test_runs_of_one_number_are_written_once() -> None:
    assert Items.over([3, 4, 4], [9, 9, 9]) == Items("3 4*2", "9*3")


@pytest.mark.parametrize(("hits", "of"), [([1], [1, 2]), ([-1], [1]), ([1], [-1])])
def test_what_is_no_ratio_is_refused(hits: list[int], of: list[int]) -> None:
    with pytest.raises(ValueError, match="items"):
        Items.over(hits, of)


def test_lists_of_two_lengths_are_refused_when_they_are_read() -> None:
    with pytest.raises(ValueError, match="hits of 2 items, of 1"):
        _ = Items("1*2", "1").numbers
