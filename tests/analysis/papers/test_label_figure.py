"""The figure of self-made labels: every seed's line and their mean, at the steps of the records."""

import numpy as np
import pytest

from calque.analysis.papers.columns import specified_figure
from calque.analysis.papers.looks import BY_NAME
from calque.analysis.records.record import LABELS
from calque.analysis.report.plot import Plot
from calque.analysis.results.results import Results
from tests.analysis.aligned import END, STARTS, STEPS, aligned_records
from tests.analysis.drawn import MANY, coordinates, legend, legible, panels, points
from tests.analysis.toy import joined


def label_figure(results: Results, scale: str) -> Plot | None:
    return specified_figure("figure-labels", results, scale)


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
    assert plot and [*legend(plot.figure)] == ["XLM-Align", "XLM-Align after ALIGN-MLM", "XLM-Align, gold labels"]


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
