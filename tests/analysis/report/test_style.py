"""Nothing that a figure tells apart looks the same."""

import pytest

from analysis.report.drawing import FILLS, INK, LOOKS, fills, key, legend, styled
from tests.analysis.drawn import legible


def test_no_two_looks_or_transforms_look_the_same() -> None:
    assert len({colour for colour, _ in LOOKS}) == len({marker for _, marker in LOOKS}) == len(LOOKS)
    transforms = [f"t{i}" for i in range(len(FILLS))]
    assert list(fills(transforms)) == transforms and len(set(fills(transforms).values())) == len(FILLS)


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


@pytest.mark.parametrize(("name", "columns"), [("MLM", 3), ("XLM-Align after ALIGN-MLM", 2), ("a long name " * 4, 1)])
def test_a_legend_has_as_many_columns_as_its_names_leave_room_for(name: str, columns: int) -> None:
    with styled(6, 4, "Bars") as figure:
        figure.subplots()
        made = legend(figure, [key(f"{name} {i}", INK, "o") for i in range(6)], 3)
    assert figure.legends == [made]
    legible(figure)
    left = {round(text.get_window_extent().x0) for text in made.get_texts()}
    assert len(left) == columns
