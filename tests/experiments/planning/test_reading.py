"""What a run reads: laws of shares and epochs."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.planning.reading import by_size, exponent_of, readings

SIZES = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.floats(1, 1e12), min_size=1, max_size=8)


def in_ids(sizes: dict[str, float]) -> dict[str, float]:
    """Of four bytes each."""
    return {name: size / 4 for name, size in sizes.items()}


@given(SIZES, st.floats(0, 1), st.floats(1, 1e12))
def test_shares_sum_to_one_and_what_is_drawn_to_all_that_is(
    sizes: dict[str, float], exponent: float, drawn: float
) -> None:
    made = readings(sizes, in_ids(sizes), by_size(sizes, exponent), drawn)
    assert sum(one.share for one in made) == pytest.approx(1)
    assert sum(one.drawn for one in made) == pytest.approx(drawn)
    assert [one.name for one in made] == list(sizes)


@given(SIZES, st.floats(1, 1e12))
def test_with_exponent_1_every_text_is_read_equally_often(sizes: dict[str, float], drawn: float) -> None:
    made = readings(sizes, in_ids(sizes), by_size(sizes, 1.0), drawn)
    assert [one.epochs for one in made] == pytest.approx([4 * drawn / sum(sizes.values())] * len(made))


@given(SIZES, st.floats(0.05, 0.95))
def test_below_1_a_smaller_text_has_the_smaller_share_and_is_read_more_often(
    sizes: dict[str, float], exponent: float
) -> None:
    each = readings(sizes, in_ids(sizes), by_size(sizes, exponent), 1e9)
    made = sorted(each, key=lambda one: one.bytes)
    for small, large in pairwise(made):
        assert small.share <= large.share * (1 + 1e-9)
        assert small.epochs >= large.epochs * (1 - 1e-9)


def test_worked_out_by_hand() -> None:
    """16 and 1 bytes with exponent 0.5 weigh 4 and 1; of 100 ids, 80 are of 4 ids, and 20 of half an id."""
    sizes = {"large": 16.0, "small": 1.0}
    large, small = readings(sizes, {"large": 4.0, "small": 0.5}, by_size(sizes, 0.5), 100)
    assert (large.share, large.ids, large.epochs) == (0.8, 4.0, 20.0)
    assert (small.share, small.ids, small.epochs) == (0.2, 0.5, 40.0)


def test_a_text_without_a_byte_is_not_drawn() -> None:
    sizes = {"none": 0.0, "some": 8.0}
    none, some = readings(sizes, {"none": 0.0, "some": 2.0}, by_size(sizes, 0.0), 10)
    assert (none.share, none.drawn, some.share) == (0.0, 0.0, 1.0)
    assert none.epochs == math.inf


@given(st.lists(st.floats(1, 1e12), min_size=2, max_size=8), st.floats(0, 2), st.floats(1e-3, 1e3))
def test_the_exponent_is_found_again(sizes: list[float], exponent: float, unit: float) -> None:
    if max(sizes) > 1.01 * min(sizes):
        assert exponent_of(sizes, [unit * size**exponent for size in sizes]) == pytest.approx(exponent, abs=1e-6)


def test_shares_of_no_exponent_have_none() -> None:
    assert exponent_of([1.0, 4.0, 16.0], [0.1, 0.2, 0.7]) is None
    assert exponent_of([4.0, 4.0], [0.5, 0.5]) is None  # any would do
    assert exponent_of([], []) is None
