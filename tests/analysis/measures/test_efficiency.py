"""Token efficiency on made curves."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.efficiency import Curve, Efficiency

MADE = Curve.of([(4_000, 2.0), (1_000, 4.0), (2_000, 3.0)])
"""A halving of the ids costs a nat."""


@pytest.mark.parametrize(
    ("loss", "ids"), [(4.0, 1_000), (3.5, 1_000 * math.sqrt(2)), (3.0, 2_000), (2.25, 2_000 * 2**0.75), (2.0, 4_000)]
)
def test_losses_on_a_made_curve(loss: float, ids: float) -> None:
    assert MADE.ids(loss) == (pytest.approx(ids), 0)
    assert MADE.efficiency(loss, 500) == Efficiency(pytest.approx(ids / 500))


def test_beyond_the_curve_nothing_is_extrapolated() -> None:
    assert MADE.efficiency(1.9, 500) == Efficiency(8.0, 1)
    assert MADE.efficiency(4.1, 500) == Efficiency(2.0, -1)


def test_a_curve_that_rises_is_taken_where_it_first_falls_so_low() -> None:
    noisy = Curve(((1.0, 4.0), (2.0, 3.0), (4.0, 3.5), (8.0, 2.0)))
    assert noisy.ids(3.25)[0] < 2
    assert 4 < noisy.ids(2.5)[0] < 8


@pytest.mark.parametrize("points", [(), ((1, 2),), ((0, 3), (1, 2)), ((1, 3), (1, 2))])
def test_what_is_no_curve_is_refused(points: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(ValueError, match="a curve has two points at least"):
        Curve(points)


def fall(points: list[tuple[float, float]]) -> Curve:
    """The same numbers in an order in which losses fall."""
    ids, losses = zip(*points, strict=True)
    return Curve(tuple(zip(sorted(ids), sorted(losses, reverse=True), strict=True)))


point = st.tuples(st.floats(1, 1e9), st.floats(0.1, 9))
falling = st.lists(point, min_size=2, max_size=9, unique_by=lambda point: point[0]).map(fall)


@given(falling, st.floats(0, 10), st.floats(0, 10))
def test_a_lower_loss_needs_no_fewer_ids(curve: Curve, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert curve.ids(low)[0] >= curve.ids(high)[0] * (1 - 1e-9)


@given(falling)
def test_a_point_of_the_curve_is_its_own_measure(curve: Curve) -> None:
    for ids, loss in curve.points:
        found, beyond = curve.ids(loss)
        assert beyond == 0
        assert found <= ids * (1 + 1e-9)
        assert loss < curve.points[0][1] or found == curve.points[0][0]
