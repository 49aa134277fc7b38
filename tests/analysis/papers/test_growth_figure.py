"""Alignment over the steps: every line's points, and intervals that do not collide."""

from dataclasses import replace
from itertools import combinations

import pytest
from matplotlib.collections import LineCollection

from calque.analysis.papers.columns import specified_figure
from calque.analysis.records.record import ALIGNMENT, Record
from calque.analysis.report.plot import Plot
from calque.analysis.results.measured import mean
from calque.analysis.results.results import Results
from tests.analysis.drawn import OBJECTIVES, intervals, laid_out, legend, legible, looked, panels, points
from tests.analysis.papers.align_mlm.test_delta_figure import many_records
from tests.analysis.runs import number
from tests.analysis.toy import STEPS, joined, toy_records


def growth_figure(results: Results, scale: str) -> Plot | None:
    return specified_figure("figure-growth", results, scale)


def test_lines_go_through_the_means_of_their_metric() -> None:
    results = joined(toy_records(3))
    drawn = panels(growth_figure(results, "toy"))
    assert list(drawn) == [f"{t}, {metric} types" for t in ("Trans", "Trans + Inv") for metric in ("all", "held-out")]
    for (title, panel), (transform, metric) in zip(
        drawn.items(), [(t, m) for t in ("trans", "trans.inv") for m in ("all", "held-out")], strict=True
    ):
        for objective, (colour, marker) in OBJECTIVES.items():
            expected = [mean(seeds) for seeds in results.growth(objective, transform, metric).values()]
            line = points(panel, marker, colour)
            assert [x for x, _ in line] == list(STEPS), title
            assert [y for _, y in line] == pytest.approx([100 * e.mean for e in expected if e])


def test_alignment_begins_at_nothing_and_steps_are_named_once_a_column() -> None:
    drawn = panels(growth_figure(joined(toy_records(1)), "toy"))
    assert {panel.get_ylim()[0] for panel in drawn.values()} == {0.0}
    named = {title for title, panel in drawn.items() if panel.get_xlabel() == "step of pretraining"}
    assert named == {"Trans + Inv, all types", "Trans + Inv, held-out types"}


def test_intervals_are_those_of_their_steps_and_few() -> None:
    results = joined(toy_records(3))
    panel = panels(growth_figure(results, "toy"))["Trans + Inv, all types"]
    found = intervals(panel)
    expected = {
        (step, round(100 * max(0.0, e.low), 4), round(100 * min(1.0, e.high), 4))
        for objective in results.objectives
        for step, seeds in results.growth(objective, "trans.inv", "all").items()
        if (e := mean(seeds)) and e.low is not None and e.high is not None
    }
    assert found and {(x, round(low, 4), round(high, 4)) for (x, low), (_, high) in found} <= expected


def test_long_lines_have_few_intervals_and_no_two_objectives_the_same_step() -> None:
    steps = range(250, 10_001, 250)
    records = [
        number("trans", o, n, ALIGNMENT, "", "all", 0.1 * i + 0.01 * n + step / 1e5, 99, step)
        for i, o in enumerate(OBJECTIVES)
        for n in range(2)
        for step in steps
    ]
    (panel,) = panels(growth_figure(joined(records), "toy")).values()
    barred = [
        {float(segment[0][0]) for segment in lines.get_segments()}
        for lines in panel.collections
        if isinstance(lines, LineCollection)
    ]
    assert len(barred) == 4 and all(1 <= len(line) <= 4 for line in barred)
    assert not any(line & other for line, other in combinations(barred, 2))
    assert set().union(*barred) <= set(steps)


def test_one_seed_has_no_bars_and_says_so() -> None:
    plot = growth_figure(joined(toy_records(1)), "toy")
    assert plot and "One seed" in plot.caption
    assert not any(intervals(panel) for panel in panels(plot).values())


def test_its_records_are_every_step_of_what_it_shows() -> None:
    plot = growth_figure(joined(toy_records(2)), "toy")
    assert plot
    assert {(r.metric, r.step) for r in plot.records if isinstance(r, Record)} == {
        (metric, step) for metric in ("all", "held-out") for step in STEPS
    }


def test_one_step_or_too_many_transforms_are_no_figure() -> None:
    last = [record for record in toy_records(1) if record.step == STEPS[-1]]
    assert growth_figure(joined(last), "toy") is None
    assert growth_figure(joined([]), "toy") is None
    assert growth_figure(joined(many_records()), "toy") is None


@pytest.mark.parametrize("count", [5, 7, 17, 40])
def test_a_long_line_has_four_to_eight_markers_and_few_intervals(count: int) -> None:
    records = [
        number("trans", "MLM", seed, ALIGNMENT, "", "all", step / 99 + 0.01 * seed, 99, step)
        for seed in range(2)
        for step in range(1, count + 1)
    ]
    (panel,) = panels(growth_figure(joined(records), "toy")).values()
    (line,) = (line for line in panel.lines if line.get_marker() == OBJECTIVES["MLM"][1])
    every = line.get_markevery()
    assert isinstance(every, int) and 4 <= len(range(0, count, every)) <= 8
    assert 3 <= len(intervals(panel)) <= 5


def test_a_short_line_has_all_its_markers_and_intervals() -> None:
    records = [
        number("trans", "MLM", seed, ALIGNMENT, "", "all", step / 9 + 0.01 * seed, 99, step)
        for seed in range(2)
        for step in (1, 2)
    ]
    (panel,) = panels(growth_figure(joined(records), "toy")).values()
    assert [low[0] for low, _ in intervals(panel)] == [1, 2]
    (line,) = (line for line in panel.lines if line.get_marker() == OBJECTIVES["MLM"][1])
    assert line.get_markevery() == 1


def test_it_can_be_read_and_steps_are_whole_numbers() -> None:
    many = joined(many_records()).transforms
    heights = []
    for transforms in (many[:1], many[:6]):
        records = [
            replace(record, step=1_000_000 * record.step // STEPS[0])
            for record in many_records()
            if record.language in transforms and record.measure == ALIGNMENT
        ]
        plot = growth_figure(joined(records), "toy")
        assert plot
        legible(plot.figure)
        heights += laid_out(plot.figure)
        entries = {name: looked(entry) for name, entry in legend(plot.figure).items()}
        assert entries == {name: (*look, "full", "-") for name, look in OBJECTIVES.items()}
        for place, panel in enumerate(plot.figure.axes):
            assert bool(panel.get_ylabel()) == (place % 2 == 0)
            assert panel.get_ylim() == plot.figure.axes[place - place % 2].get_ylim()
        ticks = [tick.label1 for tick in plot.figure.axes[-1].xaxis.get_major_ticks()]
        assert {"1,500,000", "4,000,000"} & {label.get_text() for label in ticks}
    assert heights == pytest.approx([heights[0]] * len(heights), rel=0.3)
    few = [replace(record, step=record.step // STEPS[0]) for record in toy_records(1) if record.step in STEPS[:2]]
    plot = growth_figure(joined(few), "toy")
    assert plot
    laid_out(plot.figure)
    assert all(float(tick).is_integer() for tick in plot.figure.axes[-1].get_xticks())


def test_scores_are_no_steps_of_alignment() -> None:
    """A study that measured alignment once, and other things at another step."""
    once = [r if r.measure == ALIGNMENT else replace(r, step=7) for r in toy_records(1)]
    assert growth_figure(joined([r for r in once if r.step in (STEPS[0], 7)]), "toy") is None
    assert growth_figure(joined([r for r in once if r.step in (*STEPS[:2], 7)]), "toy")
