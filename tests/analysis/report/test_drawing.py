"""Parts of figures: what they tell apart looks different, and intervals end where they should."""

import matplotlib as mpl
import pytest
from matplotlib.collections import LineCollection
from matplotlib.font_manager import FontEntry, findfont, fontManager

from calque.analysis.report.drawing import (
    DIFFERENCE,
    FILLS,
    FONT,
    HEAD,
    INK,
    LOOKS,
    WIDE,
    draw_intervals,
    ends,
    key,
    legend,
    prefer_own_font,
    small_multiples,
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


def test_a_wide_interval_is_thinner_and_paler_than_a_narrow_one() -> None:
    with styled(3, 2, "Bars") as figure:
        panel = figure.subplots()
        draw_intervals(panel, [1, 2], [(0, WIDE), (0, WIDE + 1)], INK)
    narrow, wide = (lines for lines in panel.collections if isinstance(lines, LineCollection))
    assert wide.get_linewidths()[0] < narrow.get_linewidths()[0]
    assert wide.get_colors()[0, 3] < narrow.get_colors()[0, 3]
    assert panel.dataLim.ymax == WIDE, "the axis does not stretch to the wide one"


def test_no_two_looks_or_transforms_look_the_same() -> None:
    assert len({colour for colour, _ in LOOKS}) == len({marker for _, marker in LOOKS}) == len(LOOKS)
    assert len(set(FILLS)) == len(FILLS)


def test_a_figure_has_its_size_and_bears_its_title() -> None:
    with styled(6.5, 4, "Bars") as figure:
        assert tuple(figure.get_size_inches()) == (6.5, 4)
    assert figure.get_suptitle() == "Bars"


def test_a_title_that_is_wider_than_the_figure_is_broken_into_lines() -> None:
    said = "12 layers of width 384, at most 3,000 training examples and 240 test items of a language"
    with styled(4, 3, f"Bars\n{said}") as figure:
        panel = figure.subplots()
        figure.draw_without_rendering()
    (title,) = figure.texts
    box = title.get_window_extent()
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
    assert box.y0 >= panel.get_tightbbox().y1 and box.y1 <= figure.bbox.y1


@pytest.mark.parametrize(("panels", "columns"), [(1, 2), (3, 3), (4, 2), (5, 2), (5, 3), (3, 1)])
def test_axes_are_labelled_below_the_last_panel_of_a_column_and_left_of_each_row(panels: int, columns: int) -> None:
    names, drawn = [(f"panel {i}", i) for i in range(panels)], list[int]()
    parts = small_multiples("Panels", names, lambda _, i: drawn.append(i), columns, 1.5, ("below", "left"))
    with parts as (figure, axes):
        assert axes.shape == (-(-panels // columns), min(columns, panels))
    assert drawn == list(range(panels)) and figure.get_size_inches()[1] == HEAD + 1.5 * len(axes)
    for i, panel in enumerate(figure.axes):
        assert panel.get_title() == f"panel {i}"
        assert panel.get_xlabel() == ("below" if i + columns >= panels else "")
        assert panel.get_ylabel() == ("left" if i % columns == 0 else "")


def test_panels_are_open_above_and_have_their_grid_behind() -> None:
    with styled(3, 2, "Bars") as figure:
        panel = figure.subplots()
        frame = figure.legend(handles=[key("bar", INK, "o")])
    assert {side for side, spine in panel.spines.items() if spine.get_visible()} == {"left", "bottom"}
    lines = [*panel.get_xgridlines(), *panel.get_ygridlines()]
    assert all(line.get_visible() for line in lines) and panel.get_axisbelow() is True
    assert not frame.get_frame_on()


def test_a_key_has_no_line_unless_it_is_of_one_and_the_papers_is_small() -> None:
    usual, small, line = key("a", INK, "o"), key("b", INK, "o", small=True), key("c", INK, "o", line="--")
    assert [one.get_linestyle() for one in (usual, small, line)] == ["None", "None", "--"]
    assert small.get_markersize() < usual.get_markersize() == line.get_markersize()
    assert not usual.get_xdata() and usual.get_label() == "a"


@pytest.mark.parametrize(("name", "columns"), [("MLM", 3), ("XLM-Align after ALIGN-MLM", 3), ("a long name " * 4, 2)])
def test_a_legend_has_as_many_columns_as_its_names_leave_room_for(name: str, columns: int) -> None:
    with styled(6, 4, "Bars") as figure:
        figure.subplots()
        made = legend(figure, [key(f"{name} {i}", INK, "o") for i in range(6)], 3)
    assert figure.legends == [made]
    legible(figure)
    left = {round(text.get_window_extent().x0) for text in made.get_texts()}
    assert len(left) == columns


@pytest.mark.parametrize("only", [False, True], ids=["beside", "alone"])
def test_a_systems_file_of_the_font_is_not_used(only: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    own = findfont(FONT)
    other = FontEntry(fname="/fonts/DejaVuSans.ttf", name=FONT, style="normal", variant="normal", weight=400)
    listed = [font for font in fontManager.ttflist if font.name != FONT or not only]
    monkeypatch.setattr(fontManager, "ttflist", [other, *listed])
    prefer_own_font()
    assert other not in fontManager.ttflist and findfont(FONT, rebuild_if_missing=False) == own
    assert own.startswith(mpl.get_data_path())
