"""Intervals never go beyond what a share or a difference can be, and are faint where they are wide."""

import pytest
from matplotlib.collections import LineCollection

from analysis.report.drawing import DIFFERENCE, INK, WIDE, draw_intervals, ends, styled
from analysis.statistics.intervals import Estimate
from tests.analysis.drawn import intervals


def test_an_interval_need_not_be_symmetric_and_ends_with_its_kind() -> None:
    shares = [Estimate(0.5, 3, 0.4, 0.7), Estimate(0.9, 3, 0.6, 1.2), Estimate(0.1, 3, -0.2, 0.3)]
    assert ends(shares) == [pytest.approx(both) for both in ((40, 70), (60, 100), (0, 30))]
    differences = [Estimate(-0.9, 3, -1.4, -0.2), Estimate(0.9, 3, 0.2, 1.4)]
    assert ends(differences, DIFFERENCE) == [pytest.approx(both) for both in ((-100, -20), (20, 100))]


def test_only_intervals_that_are_there_are_drawn() -> None:
    with styled(3, 2, "Bars") as figure:
        panel = figure.subplots()
        draw_intervals(panel, [1, 2], ends([Estimate(0.5, 1), Estimate(0.5, 1)]), INK)
        assert not panel.collections
        draw_intervals(panel, [1, 2], ends([Estimate(0.5, 1), Estimate(0.5, 2, 0.4, 0.6)]), INK)
        assert intervals(panel) == [((2, 40), (2, 60))]
        draw_intervals(panel, [3], [(10, 20)], INK, across=True)
        assert ((10, 3), (20, 3)) in intervals(panel)


def test_a_wide_interval_is_thinner_and_paler_than_a_narrow_one() -> None:
    with styled(3, 2, "Bars") as figure:
        panel = figure.subplots()
        draw_intervals(panel, [1, 2], [(0, WIDE), (0, WIDE + 1)], INK)
    (lines,) = panel.collections
    assert isinstance(lines, LineCollection)
    narrow, wide = zip(lines.get_linewidths(), lines.get_colors()[:, 3], strict=True)
    assert wide[0] < narrow[0] and wide[1] < narrow[1]
