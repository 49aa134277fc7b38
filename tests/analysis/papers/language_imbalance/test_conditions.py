"""Mixtures compared: which, what numbers they have, and token efficiency on made curves."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.papers.language_imbalance.conditions import (
    Curve,
    alone,
    conditions,
    contrasts,
    curves,
    ids_until,
)
from tests.analysis.mixed import CURVE, LOSSES, mixed


def test_mixtures_are_compared_with_equal_ones_of_as_many_languages() -> None:
    results = mixed()
    known = {condition.name: condition for condition in conditions(results)}
    assert list(known) == list(LOSSES)
    assert known["90-5-5"].size == 3
    assert (known["90-5-5"].main, known["90-5-5"].small) == ("source", ("trans", "trans2"))
    assert [name for name, condition in known.items() if condition.equal] == ["50-50", "33.33-33.33-33.33"]
    assert [name for name, condition in known.items() if condition.unequal] == ["90-10", "90-5-5"]
    assert [(equal.name, unequal.name) for equal, unequal in contrasts(results)] == [
        ("50-50", "90-10"),
        ("33.33-33.33-33.33", "90-5-5"),
    ]
    assert known["90-5-5"].across == [("trans", "trans2"), ("trans2", "trans")]
    assert known["90-10"].across == []


def test_efficiency_is_read_from_each_seeds_own_curve() -> None:
    results = mixed()
    assert alone(results) == "MLM"
    assert curves(results) == {seed: list(CURVE.values()) for seed in range(3)}
    for number, condition in enumerate(conditions(results)):
        found = condition.efficiencies("MLM", condition.small)
        for seed, off in enumerate((-0.01, 0.0, 0.01)):
            ids = 1_000 * 2 ** (4 - LOSSES[condition.name] - off * (1 + number / 10))
            assert math.exp(found.logs[seed].value) == pytest.approx(ids / 500)
        assert not found.beyond
    tens = next(condition for condition in conditions(results) if condition.name == "90-10")
    thin = tens.efficiencies("MLM", tens.small, "batch")
    assert math.exp(thin.logs[1].value) == pytest.approx(250 * 4 ** (4 - LOSSES["90-10"]) / 500)
    assert curves(results, "batch")[0] == [(250, 4), (1_000, 3), (4_000, 2)]
    low = conditions(mixed({"90-10": 1.5, "50-50": 4.5}))[1].efficiencies("MLM", ["trans"])
    assert low.beyond == {-1}
    high = conditions(mixed({"50-50": 1.5}))[0].efficiencies("MLM", ["trans"])
    assert high.beyond == {1} and math.exp(high.logs[0].value) == pytest.approx(4_000 / 500)


def test_numbers_of_pairs_are_means_over_them() -> None:
    results = mixed()
    condition = conditions(results)[3]
    good = 1 - LOSSES["90-5-5"] / 5
    for pairs, share in ((condition.outward, 2), (condition.homeward, 4), (condition.across, 8)):
        assert condition.between("MLM", pairs)[1].value == pytest.approx(good / share)
    assert condition.between("MLM", condition.outward, "pos")[1].value == pytest.approx(good)
    assert condition.between("MLM", condition.homeward, "pos")[1].value == pytest.approx(good - 0.1)
    assert condition.mean_of("MLM", condition.small, ("SUP", "accuracy"), "pos")[0].value == pytest.approx(0.95)
    assert condition.between("DICT-MLM", condition.outward) == {}


HALVED = ((1_000, 4.0), (2_000, 3.0), (4_000, 2.0))
"""A halving of the ids costs a nat."""


@pytest.mark.parametrize(
    ("loss", "ids"), [(4.0, 1_000), (3.5, 1_000 * math.sqrt(2)), (3.0, 2_000), (2.25, 2_000 * 2**0.75), (2.0, 4_000)]
)
def test_losses_on_a_made_curve(loss: float, ids: float) -> None:
    assert ids_until(HALVED, loss) == (pytest.approx(ids), 0)


def test_beyond_the_curve_nothing_is_extrapolated() -> None:
    assert (ids_until(HALVED, 1.9), ids_until(HALVED, 4.1)) == ((4_000, 1), (1_000, -1))


def test_a_curve_that_rises_is_taken_where_it_first_falls_so_low() -> None:
    noisy = ((1.0, 4.0), (2.0, 3.0), (4.0, 3.5), (8.0, 2.0))
    assert ids_until(noisy, 3.25)[0] < 2
    assert 4 < ids_until(noisy, 2.5)[0] < 8


def fall(points: list[tuple[float, float]]) -> Curve:
    """The same numbers in an order in which losses fall."""
    ids, losses = zip(*points, strict=True)
    return list(zip(sorted(ids), sorted(losses, reverse=True), strict=True))


point = st.tuples(st.floats(1, 1e9), st.floats(0.1, 9))
falling = st.lists(point, min_size=2, max_size=9, unique_by=lambda point: point[0]).map(fall)


@given(falling, st.floats(0, 10), st.floats(0, 10))
def test_a_lower_loss_needs_no_fewer_ids(curve: Curve, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert ids_until(curve, low)[0] >= ids_until(curve, high)[0] * (1 - 1e-9)


@given(falling)
def test_a_point_of_the_curve_is_its_own_measure(curve: Curve) -> None:
    for ids, loss in curve:
        found, beyond = ids_until(curve, loss)
        assert beyond == 0
        assert found <= ids * (1 + 1e-9)
        assert loss < curve[0][1] or found == curve[0][0]
