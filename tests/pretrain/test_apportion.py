"""Rows divided among parts: laws, for any shares and any changes of shares."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.pretrain.order import UNIT, Apportionment, in_units

Stretches = tuple[list[int], np.ndarray]  # the first step of each, and its units of each part
weights = st.one_of(st.just(0.0), st.floats(1e-3, 1.0))


@st.composite
def stretches(draw: st.DrawFn) -> Stretches:
    parts = draw(st.integers(1, 7))
    firsts = [0, *sorted(draw(st.sets(st.integers(1, 40), max_size=3)))]
    shares = st.lists(weights, min_size=parts, max_size=parts).filter(any)
    return firsts, np.stack([in_units(draw(shares)) for _ in firsts])


@settings(max_examples=300)
@given(stretches(), st.integers(1, 9))
def test_every_part_is_always_within_a_row_of_its_exact_share(drawn: Stretches, rows: int) -> None:
    firsts, units = drawn
    apportioned = Apportionment(firsts, units, rows)
    before, exact = np.zeros(units.shape[1], np.int64), [Fraction(0)] * units.shape[1]
    for step in range(1, 61):
        now = units[sum(first < step for first in firsts) - 1].tolist()
        exact = [before_it + Fraction(rows * own, UNIT) for before_it, own in zip(exact, now, strict=True)]
        had = apportioned.upto(step)
        assert had.sum() == rows * step
        assert (had >= before).all()
        assert all(abs(count - due) < 1 for count, due in zip(had.tolist(), exact, strict=True))
        before = had


@given(stretches(), st.integers(1, 9), st.lists(st.integers(0, 60), min_size=1, max_size=5))
def test_it_does_not_matter_what_was_asked_before(drawn: Stretches, rows: int, asked: list[int]) -> None:
    apportioned = Apportionment(*drawn, rows)
    for step in asked:
        assert np.array_equal(apportioned.upto(step), Apportionment(*drawn, rows).upto(step))


@given(st.lists(weights, min_size=1, max_size=200).filter(any))
def test_units_are_whole_and_sum_to_one(shares: list[float]) -> None:
    units = in_units(shares)
    assert units.sum() == UNIT and (units >= 0).all()
    exact = np.array(shares) / np.sum(shares) * UNIT
    assert (np.abs(units - exact) <= len(shares)).all()
    assert all(units[i] == 0 for i, share in enumerate(shares) if not share) or len(shares) > 1


@pytest.mark.parametrize(
    ("shares", "units"),
    [((0.9, 0.1), (900_000_000, 100_000_000)), ((0.29, 0.71), (290_000_000, 710_000_000)), ((9, 1, 0), (9, 1, 0))],
)
def test_decimal_shares_are_exact(shares: tuple[float, ...], units: tuple[int, ...]) -> None:
    assert in_units(shares).tolist() == [unit * (UNIT // sum(units)) for unit in units]
