"""The figure of facts: a bar for each number, its levels as lines, and nothing without records."""

from pathlib import Path

from analysis.papers.knowledge import GROUPS, knowledge_figure
from tests.analysis.saved import saved
from tests.analysis.told import told
from tests.analysis.toy import joined, toy_records


def test_the_figure_has_a_bar_for_each_group_and_objective_and_saves_its_records(tmp_path: Path) -> None:
    plot = knowledge_figure(joined([*told(3), *toy_records(3)]), "scale")
    assert plot is not None
    (panel,) = plot.figure.axes
    assert len(panel.patches) == 2 * len(GROUPS)
    assert [round(bar.get_height()) for bar in panel.patches][:4] == [91, 81, 61, 31]
    lines = [line for line in panel.lines if len(line.get_xdata()) == 2]
    assert [round(float(line.get_ydata()[0])) for line in lines] == [51, 26, 56, 31, 18]
    bars = [panel.patches[place] for place in (2, 3, 6, 7)]  # carried ones, whose nulls the records have
    for line, bar in zip(lines, bars, strict=False):
        assert line.get_xdata()[0] < bar.get_x() < bar.get_x() + bar.get_width() < line.get_xdata()[1]
    drawing = saved(plot, tmp_path)
    assert drawing.png.stat().st_size > 10_000
    assert len(plot.records) == 3 * 2 * 7


def test_without_facts_there_is_none() -> None:
    assert knowledge_figure(joined(toy_records(1)), "scale") is None
