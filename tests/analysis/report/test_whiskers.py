"""Intervals are drawn from their ends, and never beyond what a share or a difference can be."""

from __future__ import annotations

import numpy as np

from analysis.report.whiskers import DIFFERENCE, whiskers
from analysis.statistics.intervals import Estimate


def test_an_interval_need_not_be_symmetric_and_ends_with_its_kind() -> None:
    shares = [Estimate(0.5, 3, 0.4, 0.7), Estimate(0.9, 3, 0.6, 1.2), Estimate(0.1, 3, -0.2, 0.3)]
    np.testing.assert_allclose(whiskers(shares), [[10, 30, 10], [20, 10, 20]])
    differences = [Estimate(-0.9, 3, -1.4, -0.2), Estimate(0.9, 3, 0.2, 1.4)]
    np.testing.assert_allclose(whiskers(differences, DIFFERENCE), [[10, 70], [70, 10]])


def test_without_intervals_there_is_nothing_to_draw() -> None:
    assert whiskers([Estimate(0.5, 1)]) is None
    drawn = whiskers([Estimate(0.5, 1), Estimate(0.5, 2, 0.4, 0.6)])
    assert drawn is not None and np.isnan(drawn[:, 0]).all() and not np.isnan(drawn[:, 1]).any()
