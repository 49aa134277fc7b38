"""AER by layer: a panel an objective, and each line at its layers' means."""

from itertools import pairwise

import pytest

from analysis.papers.looks import looks
from analysis.papers.xlm_align.figures import contextual_figure
from analysis.records.record import AER, Record
from analysis.report.drawing import FILLS, INK, MOST
from analysis.results.measured import mean
from analysis.results.results import Results
from tests.analysis.aligned import STARTS, aligned_records
from tests.analysis.drawn import MANY, coordinates, intervals, laid_out, legend, legible, looked, panels
from tests.analysis.toy import joined


@pytest.fixture(scope="module")
def results() -> Results:
    return joined(aligned_records(STARTS, ("trans", "trans.inv"), 3))


def test_every_objective_has_a_panel_with_a_line_for_each_transform_and_way(results: Results) -> None:
    drawn = panels(contextual_figure(results, "toy"))
    assert list(drawn) == [
        "MLM",
        "XLM-Align",
        "XLM-Align, no DWA",
        "XLM-Align after ALIGN-MLM",
        "XLM-Align, gold labels",
    ]
    panel, objective = drawn["XLM-Align after ALIGN-MLM"], "XLM-ALIGN-after-ALIGN-MLM"
    lines = [line for line in panel.lines if len(line.get_xdata()) == 3]
    assert {line.get_color() for line in lines} == {looks(results)[objective][0]}
    assert len({(line.get_linestyle(), line.get_markerfacecolor()) for line in lines}) == len(lines) == 4
    shifts = [float(coordinates(line)[0][0]) for line in lines]
    steps = [after - before for before, after in pairwise(shifts)]
    assert sum(shifts) == pytest.approx(0) and steps == pytest.approx([steps[0]] * 3) and steps[0] > 0
    for line in lines:
        transform = "trans.inv" if line.get_markerfacecolor() == "#ffffff" else "trans"
        joint = line.get_linestyle() == "--"
        estimates = [mean(results.scores(AER, objective, transform, "", "aer", layer=n, joint=joint)) for n in range(3)]
        x, y = coordinates(line)
        assert list(x) == pytest.approx([0, 1, 2], abs=0.2) and x[2] - x[1] == pytest.approx(x[1] - x[0])
        assert list(y) == pytest.approx([100 * e.mean for e in estimates if e])
        expected = [[100 * max(0.0, e.low), 100 * min(1.0, e.high)] for e in estimates if e and e.low and e.high]
        drawn_ends = {at: [low, high] for (at, low), (_, high) in intervals(panel)}
        for place, ends in zip(x, expected, strict=True):
            assert drawn_ends[round(float(place), 6)] == pytest.approx(ends, abs=1e-3)


def test_objectives_and_transforms_look_as_in_the_other_figures(results: Results) -> None:
    """Also where the first of them have no error rates."""
    measured = [r for r in results.records if r.measure != AER or ("gold" in r.run and r.language == "trans.inv")]
    (panel,) = panels(contextual_figure(joined(measured), "toy")).values()
    assert {line.get_color() for line in panel.lines} == {looks(results)["XLM-ALIGN-gold"][0]}
    assert {line.get_markerfacecolor() for line in panel.lines} == {"#ffffff"}


def test_its_records_and_what_bars_mean(results: Results) -> None:
    several, single = (
        contextual_figure(joined(aligned_records(STARTS, seeds=2)), "toy"),
        contextual_figure(joined(aligned_records(STARTS, seeds=1)), "toy"),
    )
    assert several and single
    assert "intervals over seeds" in several.caption and "One seed." in single.caption
    assert not any(intervals(panel) for panel in panels(single).values())
    assert {r.measure for r in several.records if isinstance(r, Record)} == {AER}


def test_one_layer_nothing_measured_or_too_many_objectives_are_no_figure() -> None:
    assert contextual_figure(joined([]), "toy") is None
    single = [r for r in aligned_records(STARTS) if r.layer == 0]
    assert contextual_figure(joined(single), "toy") is None
    many = tuple(f"XLM-ALIGN-label{n}" for n in range(MANY + 1))
    assert contextual_figure(joined(aligned_records(many, seeds=1)), "toy") is None


def test_two_layers_are_a_figure_and_so_are_six_transforms() -> None:
    two = [r for r in aligned_records(STARTS, seeds=1) if r.measure != AER or r.layer in (0, 1)]
    assert [list(panel.get_xticks()) for panel in panels(contextual_figure(joined(two), "toy")).values()] == [
        [0, 1]
    ] * 5
    transforms = tuple(f"trans.inv-{10 * n}" for n in range(1, MOST + 2))
    assert contextual_figure(joined(aligned_records(("MLM",), transforms, 1)), "toy") is None
    plot = contextual_figure(joined(aligned_records(("MLM",), transforms[:MOST], 1)), "toy")
    (panel,) = panels(plot).values()
    single = {(line.get_linestyle(), line.get_fillstyle(), str(line.get_markerfacecolor())) for line in panel.lines}
    assert len(single) == 2 * MOST, "no two lines look the same"


def test_layers_stand_in_the_same_place_in_every_panel() -> None:
    """Also where one objective was not measured at all of them."""
    rows = [r for r in aligned_records(STARTS, seeds=1) if r.layer != 2 or "gold" not in r.run]
    plot = contextual_figure(joined(rows), "toy")
    assert plot and len({panel.get_xlim() for panel in plot.figure.axes}) == 1


def test_it_can_be_read_and_names_its_axes_where_they_end() -> None:
    """Five panels stand in two rows of four places, ten in three; a panel without one below it has its layers."""
    heights = []
    for objectives in (
        STARTS[:4],
        STARTS,
        (*STARTS, "XLM", "DICT-MLM", "ALIGN-MLM", "XLM-ALIGN-no-tlm", "XLM-ALIGN-rows"),
    ):
        results = joined(aligned_records(objectives, ("trans", "trans.inv"), 1))
        plot = contextual_figure(results, "toy")
        assert plot
        legible(plot.figure)
        heights += laid_out(plot.figure)
        axes, count = plot.figure.axes, len(objectives)
        assert [panel.get_xlabel() for panel in axes] == [""] * (count - 4) + ["layer"] * 4
        assert [panel.get_ylabel() for panel in axes] == ["" if place % 4 else "AER, %" for place in range(count)]
        for panel in axes:
            low, high = panel.get_ylim()
            assert low < 0 and low + high == 100, "0 and 100 lie as far from their ends"
            assert list(panel.get_xticks()) == [0, 1, 2]
            assert all(label.get_visible() for label in panel.get_xticklabels())
        assert [bool(panel.get_yticklabels()) for panel in axes] == [place % 4 == 0 for place in range(count)]
        assert {name: looked(entry) for name, entry in legend(plot.figure).items()} == {
            "Trans": (INK, "o", FILLS[0], "None"),
            "Trans + Inv": (INK, "o", FILLS[1], "None"),
            "each sentence encoded alone": (INK, "", "full", "-"),
            "both sentences in one row": (INK, "", "full", "--"),
        }
    assert heights == pytest.approx([heights[0]] * 19, rel=0.3)
