"""Mixtures compared: which, and what numbers they have."""

from __future__ import annotations

import math

import pytest

from analysis.papers.language_imbalance.conditions import (
    Curve,
    alone,
    between,
    conditions,
    contrasts,
    curves,
    efficiencies,
    measured,
)
from tests.analysis.mixed import CURVE, LOSSES, mixed


def test_mixtures_are_compared_with_equal_ones_of_as_many_languages() -> None:
    results = mixed()
    known = {condition.name: condition for condition in conditions(results)}
    assert list(known) == list(LOSSES)
    assert known["90-5-5"].languages == ("source", "trans", "trans2")
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
    assert curves(results) == dict.fromkeys(range(3), Curve(tuple(CURVE.values())))
    for number, condition in enumerate(conditions(results)):
        found = efficiencies(results, condition, "MLM", condition.small)
        for seed, off in enumerate((-0.01, 0.0, 0.01)):
            ids = 1_000 * 2 ** (4 - LOSSES[condition.name] - off * (1 + number / 10))
            assert math.exp(found.logs[seed].value) == pytest.approx(ids / 500)
        assert not found.beyond
    tens = next(condition for condition in conditions(results) if condition.name == "90-10")
    thin = efficiencies(results, tens, "MLM", tens.small, "batch")
    assert math.exp(thin.logs[1].value) == pytest.approx(250 * 4 ** (4 - LOSSES["90-10"]) / 500)
    assert curves(results, "batch")[0].points == ((250, 4), (1_000, 3), (4_000, 2))
    low = efficiencies(mixed({"90-10": 1.5, "50-50": 4.5}), conditions(mixed())[0], "MLM", ["trans"])
    assert low.beyond == {-1}
    high = efficiencies(mixed({"50-50": 1.5}), conditions(mixed())[0], "MLM", ["trans"])
    assert high.beyond == {1} and math.exp(high.logs[0].value) == pytest.approx(4_000 / 500)


def test_numbers_of_pairs_are_means_over_them() -> None:
    results = mixed()
    condition = conditions(results)[3]
    good = 1 - LOSSES["90-5-5"] / 5
    for pairs, share in ((condition.outward, 2), (condition.homeward, 4), (condition.across, 8)):
        assert between(results, condition, "MLM", pairs)[1].value == pytest.approx(good / share)
    assert between(results, condition, "MLM", condition.outward, "pos")[1].value == pytest.approx(good)
    assert between(results, condition, "MLM", condition.homeward, "pos")[1].value == pytest.approx(good - 0.1)
    assert measured(results, condition, "MLM", condition.small, ("SUP", "accuracy"), "pos")[0].value == pytest.approx(
        0.95
    )
    assert between(results, condition, "DICT-MLM", condition.outward) == {}
