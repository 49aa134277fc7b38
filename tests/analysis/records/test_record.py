"""Records have limits, and items are written short and read as they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.records.record import DELTA, GRADIENTS, HELD_OUT, READ, Items, Record

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


@pytest.mark.parametrize(
    ("hits", "of", "said"),
    [
        ("1*2", "1", "hits of 2 items, of 1"),
        ("1 x", "1 2", "whole numbers, as in '3 4\\*2', not 'x'"),
        ("-7", "8", "not '-7'"),
        ("3*-2", "1", "not '3\\*-2'"),
        ("9" * 5_000, "1", "not '999"),
        ("1*10000001", "1*10000001", "10,000,001 items; expected at most 10,000,000"),
    ],
)
def test_what_was_edited_into_no_items_is_refused(hits: str, of: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Items(hits, of)


def test_the_ratio_is_that_of_the_sums() -> None:
    assert Items("3 4*2", "9*3").ratio == 11 / 27
    assert Items("0*4", "0*4").ratio is None
    assert Items("1*10000000", "2*10000000").ratio == 0.5


@pytest.mark.parametrize(
    ("measure", "within", "outside"),
    [
        ("ZS", (0.0, 1.0), (-0.01, 1.01)),
        (HELD_OUT, (0.0, 0.5, 9.0), (-0.01,)),
        (READ, (0.0, 0.5, 1e9), (-1.0,)),
        (DELTA, (-1.0, 1.0), (-1.01, 1.01)),
        (GRADIENTS, (-1.0, 1.0), (-1.01, 1.01)),
    ],
)
def test_a_value_is_within_its_measures_limits(
    measure: str, within: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    for value in within:
        Record("run", measure, "metric", value, count=1).check()
    for value in outside:
        with pytest.raises(ValueError, match="value should be"):
            Record("run", measure, "metric", value, count=1).check()
