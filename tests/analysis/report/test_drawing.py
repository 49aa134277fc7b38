"""Parts of figures: what they tell apart looks different, and intervals end where they should."""

import pytest

from calque.analysis.report.drawing import (
    DIFFERENCE,
    FILLS,
    INK,
    LOOKS,
    draw_intervals,
    ends,
    key,
    legend,
    styled,
)
from calque.analysis.statistics.intervals import Estimate
from tests.analysis.drawn import intervals, legible


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


def test_no_two_looks_or_transforms_look_the_same() -> None:
    assert len({colour for colour, _ in LOOKS}) == len({marker for _, marker in LOOKS}) == len(LOOKS)
    assert len(set(FILLS)) == len(FILLS)


@pytest.mark.parametrize(("name", "columns"), [("MLM", 3), ("XLM-Align after ALIGN-MLM", 3), ("a long name " * 4, 2)])
def test_a_legend_has_as_many_columns_as_its_names_leave_room_for(name: str, columns: int) -> None:
    with styled(6, 4, "Bars") as figure:
        figure.subplots()
        made = legend(figure, [key(f"{name} {i}", INK, "o") for i in range(6)], 3)
    assert figure.legends == [made]
    legible(figure)
    left = {round(text.get_window_extent().x0) for text in made.get_texts()}
    assert len(left) == columns
