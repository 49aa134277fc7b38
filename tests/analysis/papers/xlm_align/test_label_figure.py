"""The figure of self-made labels: every seed's line and their mean, at the steps of the records."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.papers.looks import BY_NAME, looks
from analysis.papers.xlm_align.figures import label_figure
from analysis.records.record import LABELS
from analysis.report.drawing import MOST
from tests.analysis.aligned import END, STARTS, STEPS, aligned_records
from tests.analysis.drawn import MANY, coordinates, laid_out, legend, legible, looked, panels, points
from tests.analysis.runs import number
from tests.analysis.toy import joined


def test_lines_go_through_every_seed_and_their_mean() -> None:
    results = joined(aligned_records(STARTS, ("trans", "trans.inv"), 2))
    plot = label_figure(results, "toy")
    drawn = panels(plot)
    assert list(drawn) == [
        f"{t}, {kind}" for t in ("Trans", "Trans + Inv") for kind in ("label precision", "words with a label")
    ]
    growth = results.growth("XLM-ALIGN", "trans", "precision", LABELS)
    colour, marker, _ = BY_NAME["XLM-ALIGN"]
    mean_line = points(drawn["Trans, label precision"], marker, colour)
    assert [x for x, _ in mean_line] == list(STEPS)
    assert [y for _, y in mean_line] == pytest.approx(
        [100 * np.mean([measured.value for measured in seeds.values()]) for seeds in growth.values()]
    )
    thin = [line for line in drawn["Trans, label precision"].lines if line.get_linewidth() < 1]
    assert len(thin) == 2 * 3  # two seeds of the three objectives that label
    firsts = sorted(coordinates(line)[1][0] for line in thin if line.get_linestyle() == "-")
    assert firsts == pytest.approx(sorted(100 * measured.value for measured in growth[STEPS[0]].values()))
    assert plot and "seeds" in plot.caption
    assert {(r.measure, r.metric) for r in plot.records} == {(LABELS, "precision"), (LABELS, "share")}


def test_the_legend_has_only_what_labels_itself() -> None:
    plot = label_figure(joined(aligned_records(STARTS)), "toy")
    names = [text.get_text() for text in plot.figure.legends[0].get_texts()] if plot else []
    assert names == ["XLM-Align", "XLM-Align after ALIGN-MLM", "XLM-Align, gold labels"]


def test_long_names_stay_on_the_paper() -> None:
    kinds = ("unfiltered", "gold", "rows", "no-tlm", "no-tlm-gold", "no-tlm-rows")
    results = joined(aligned_records(tuple(f"XLM-ALIGN-{kind}{END}" for kind in kinds), seeds=1))
    plot = label_figure(results, "toy")
    assert plot and max(map(len, legend(plot.figure))) > 35
    legible(plot.figure)


def test_one_seed_is_one_line_and_says_so() -> None:
    plot = label_figure(joined(aligned_records(STARTS, seeds=1)), "toy")
    assert plot and "One seed." in plot.caption
    assert all(line.get_linewidth() > 1 for panel in panels(plot).values() for line in panel.lines)


def test_nothing_measured_or_too_many_objectives_are_no_figure() -> None:
    assert label_figure(joined([]), "toy") is None
    many = tuple(f"XLM-ALIGN-label{n}" for n in range(MANY + 1))
    assert label_figure(joined(aligned_records(many, seeds=1)), "toy") is None


@pytest.mark.parametrize("count", [5, 17, 40])
def test_a_long_line_has_four_to_eight_markers(count: int) -> None:
    steps = range(1, count + 1)
    records = [number("trans", "XLM-ALIGN", 0, LABELS, "", "precision", n / 99, 99, n) for n in steps]
    panel = panels(label_figure(joined(records), "toy"))["Trans, label precision"]
    (line,) = panel.lines
    every = line.get_markevery()
    assert isinstance(every, int) and 4 <= len(range(0, count, every)) <= 8


def test_it_can_be_read_and_steps_are_whole_numbers() -> None:
    transforms = tuple(f"trans.inv-{10 * n}" for n in range(1, MOST + 2))
    heights = []
    for some in (transforms[:1], transforms[:MOST]):
        records = [replace(r, step=10_000 * r.step) for r in aligned_records(STARTS, some, 1)]
        results = joined(records)
        plot = label_figure(results, "toy")
        assert plot
        legible(plot.figure)
        heights += laid_out(plot.figure)
        entries = [looked(entry) for entry in legend(plot.figure).values()]
        labelling = [looks(results)[STARTS[place]] for place in (1, 3, 4)]
        assert entries == [(one.colour, one.marker, "full", one.dash) for one in labelling]
        for place, panel in enumerate(plot.figure.axes):
            low, high = panel.get_ylim()
            assert low == 0 and high > 100
            assert panel.get_ylabel() == ("" if place % 2 else "share, %")
            assert panel.get_xlabel() == ("step, the steps of the start included" if place >= 2 * len(some) - 2 else "")
        labels = {label.get_text() for label in plot.figure.axes[-1].get_xticklabels()}
        assert {"1,000,000", "4,000,000"} & labels
    assert heights == pytest.approx([heights[0]] * len(heights), rel=0.3)
    assert label_figure(joined(aligned_records(STARTS, transforms, 1)), "toy") is None
    few = [replace(r, step=r.step // 100) for r in aligned_records(STARTS, seeds=1) if r.step in STEPS[:2]]
    plot = label_figure(joined(few), "toy")
    assert plot
    laid_out(plot.figure)
    assert all(float(tick).is_integer() for tick in plot.figure.axes[-1].get_xticks())
