"""Small multiples: every mixture in its panel, the paper's numbers beside ours, and the curve of a language alone."""

import math

import pytest

from calque.analysis.papers.language_imbalance.figures import curve_figure, imbalance_figure
from calque.analysis.report.drawing import INK
from calque.analysis.report.plot import Plot
from tests.analysis.drawn import OBJECTIVES, coordinates, intervals, legend, legible, looked, panels, points
from tests.analysis.mixed import CURVE, LOSSES, PRINTED, THINNER, mixed

MLM, ALIGN = (OBJECTIVES[name] for name in ("MLM", "ALIGN-MLM"))


def grid(plot: Plot | None) -> list[list]:  # type: ignore[type-arg]
    """Rows of panels: efficiency, transfer, alignment; columns: two languages, and three."""
    assert plot is not None
    axes = plot.figure.axes
    return [axes[i : i + 2] for i in range(0, len(axes), 2)]


def test_every_number_stands_in_its_panel() -> None:
    rows = grid(imbalance_figure(mixed(), "toy"))
    assert [panel.get_title() for panel in rows[0]] == ["2 languages", "3 languages"]
    assert [len(row) for row in rows] == [2, 2, 2]
    for panel, names in zip(rows[0], (("50-50", "90-10"), ("33.33-33.33-33.33", "90-5-5")), strict=True):
        found = [y for _, y in points(panel, MLM[1], MLM[0])]
        assert found == pytest.approx([2 ** (4 - LOSSES[name]) * 2 for name in names])
        assert panel.get_yscale() == "log"
    transfer = [y for _, y in points(rows[1][0], MLM[1], MLM[0])]
    assert transfer == pytest.approx([100 * (1 - LOSSES[name] / 5) for name in ("50-50", "90-10")])
    labels = [label.get_text() for label in rows[2][1].get_xticklabels()]
    assert labels == ["33.3", "90"]


def test_intervals_are_drawn_where_there_are_some() -> None:
    ends = intervals(grid(imbalance_figure(mixed(), "toy"))[0][0])
    assert len(ends) == 4 and all(low < high for (_, low), (_, high) in ends)
    assert not intervals(grid(imbalance_figure(mixed(seeds=1), "toy"))[0][0])


def test_published_numbers_stand_beside_their_mixtures() -> None:
    plot = imbalance_figure(mixed(), "toy")
    rows = grid(plot)
    assert [y for _, y in points(rows[0][0], "D", INK)] == [0.89, 2.08]
    assert not points(rows[0][1], "D", INK)
    assert plot and plot.published == PRINTED
    assert looked(legend(plot.figure)["published, another kind of model"]) == (INK, "D", "none", "None")
    bare = imbalance_figure(mixed(published=()), "toy")
    assert bare and "published, another kind of model" not in legend(bare.figure)


def test_the_curve_is_the_language_alone_and_points_the_small_ones() -> None:
    plot = curve_figure(mixed(), "toy")
    drawn = panels(plot)
    assert list(drawn) == ["2 languages", "3 languages", "4 languages"][: len(drawn)]
    panel = drawn["2 languages"]
    drawn_curves = {line.get_linestyle(): line for line in panel.lines if len(coordinates(line)[0]) == len(CURVE)}
    expected = {"-": list(CURVE.values()), "--": [*THINNER.values(), CURVE[400]]}
    for dash, points_ in expected.items():
        assert [tuple(point) for point in zip(*coordinates(drawn_curves[dash]), strict=True)] == points_
    two = sorted(loss for name, loss in LOSSES.items() if name.startswith(("50-50", "90-10", "10-90")))
    for marker, colour, off in ((MLM[1], MLM[0], 0.0), (ALIGN[1], ALIGN[0], 0.1)):
        assert sorted(y + off for _, y in points(panel, marker, colour)) == pytest.approx(two)
    both = [{x for x, _ in points(panel, marker, colour)} for colour, marker in (MLM, ALIGN)]
    assert math.prod(x for (x,) in both) == pytest.approx(500**2), "side by side around the ids that they read"
    assert {text.get_text() for text in drawn["3 languages"].texts} == {"33.3 %", "5 %"}


def test_they_can_be_read() -> None:
    for plot in (imbalance_figure(mixed(), "toy"), curve_figure(mixed(), "toy")):
        assert plot
        legible(plot.figure)
        assert plot.records


def test_without_mixtures_there_is_no_figure() -> None:
    assert imbalance_figure(mixed({}), "toy") is None
    assert curve_figure(mixed({}), "toy") is None
