"""The figure of transfer against order distance: its lines, and when there is none."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from calque.analysis.papers.align_mlm.dials import order_figure
from calque.analysis.records.record import ALIGNMENT, ORDER, Record
from calque.analysis.report.drawing import HALF, INK
from calque.analysis.results.measured import mean
from tests.analysis.drawn import MANY, OBJECTIVES, coordinates, intervals, laid_out, legend, legible, looked, panels
from tests.analysis.runs import number
from tests.analysis.saved import saved
from tests.analysis.toy import joined

DISTANCES = {
    "trans": 0.0,
    "trans.inv-25": 0.2,
    "trans.inv-50": 0.4,
    "trans.inv": 0.9,
    "trans.syn-verbfinal-0": 0.05,
    "trans.syn-verbfinal-100": 0.45,
}
LOSSES = {"MLM": 0.6, "ALIGN-MLM": 0.3}


def dial_records(
    seeds: int = 1, distances: dict[str, float] = DISTANCES, losses: dict[str, float] = LOSSES
) -> list[Record]:
    """Transfer that breaks between 0.2 and 0.4, whatever the distance comes from; `losses` are those of objectives."""
    records = []
    for seed in range(seeds):
        for objective, loss in losses.items():
            for transform, distance in distances.items():
                good = 1 / (1 + math.exp(30 * (distance - 0.3)))
                numbers = [
                    (ORDER, "", "kendall", distance, 0),
                    ("SUP", "pos", "accuracy", 0.95 + 0.001 * seed, 9),
                    ("ZS", "pos", "accuracy", 0.9 - loss * (1 - good), 9),
                    *((ALIGNMENT, "", "all", 0.9 * good, step) for step in (3, 9)),
                    *((ALIGNMENT, "", "held-out", 0.5 * good, step) for step in (3, 9)),
                ]
                records += [
                    number(transform, objective, seed, measure, task, metric, value, 900, step)
                    for measure, task, metric, value, step in numbers
                ]
    return records


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("seeds", [1, 2])
def test_lines_go_from_the_source_order_through_every_setting(seeds: int) -> None:
    """MLM's line of inversion is drawn full, that towards a verb-final order dashed, both from distance 0."""
    results = joined(dial_records(seeds))
    plot = order_figure(results, "toy")
    drawn = panels(plot)
    assert list(drawn) == [
        "POS accuracy, ZS, %",
        "POS accuracy, Δ, points",
        "alignment@1, all types, %",
        "alignment@1, held-out types, %",
    ]
    dials = {"-": ("trans", "trans.inv-25", "trans.inv-50", "trans.inv")}
    dials["--"] = ("trans", "trans.syn-verbfinal-0", "trans.syn-verbfinal-100")
    values = {
        "POS accuracy, ZS, %": lambda t: results.scores("ZS", "MLM", t, "pos", "accuracy"),
        "POS accuracy, Δ, points": lambda t: results.deltas("MLM", t, "pos", "accuracy"),
        "alignment@1, held-out types, %": lambda t: results.alignments("MLM", t, "held-out"),
    }
    colour, marker = OBJECTIVES["MLM"]
    for title, look in values.items():
        lines = {
            line.get_linestyle(): line
            for line in drawn[title].lines
            if line.get_marker() == marker and line.get_color() == colour
        }
        for dash, transforms in dials.items():
            x, y = coordinates(lines[dash])
            assert list(x) == pytest.approx([DISTANCES[t] for t in transforms])
            assert list(y) == pytest.approx([100 * e.mean for t in transforms if (e := mean(look(t)))])
    assert plot and ("over seeds" in plot.caption) == (seeds > 1)
    assert plot.figure.get_figwidth() == HALF


def test_its_records_are_those_of_the_last_step(tmp_path: Path) -> None:
    records = dial_records()
    drawing = saved(order_figure(joined(records), "toy"), tmp_path)
    expected = [record for record in records if record.step != 3]
    assert len(rows(drawing.records)) == len(expected)
    assert {(row["measure"], row.get("step", 0)) for row in rows(drawing.records)} == {
        (record.measure, record.step) for record in expected
    }


def test_two_distances_are_no_dial() -> None:
    two = {name: DISTANCES[name] for name in ("trans", "trans.inv")}
    assert order_figure(joined(dial_records(1, two)), "toy") is None
    without = [record for record in dial_records() if record.measure != ORDER]
    assert order_figure(joined(without), "toy") is None
    assert order_figure(joined([]), "toy") is None


def test_more_dials_than_dashes_are_not_drawn() -> None:
    dials = ("syn-romance-", "syn-verbfinal-", "syn-verbinitial-", "syn-romance-p", "inv-")
    many = {f"trans.{name}{percent}": 0.001 * percent * i for i, name in enumerate(dials, 1) for percent in (25, 50)}
    assert order_figure(joined(dial_records(1, {"trans": 0.0} | many)), "toy") is None
    fewer = {name: distance for name, distance in many.items() if ".inv-" not in name}
    assert order_figure(joined(dial_records(1, {"trans": 0.0} | fewer)), "toy")


def test_a_dial_that_was_not_turned_is_not_drawn() -> None:
    grid = {"trans": 0.0, "trans.inv": 0.7, "trans.syn-romance": 0.2}
    assert order_figure(joined(dial_records(1, grid)), "toy") is None


def test_more_objectives_than_looks_are_not_drawn() -> None:
    many = {f"XLM-{n}": 0.3 for n in range(1, MANY + 2)}
    assert order_figure(joined(dial_records(losses=many)), "toy") is None
    fewer = {name: loss for name, loss in many.items() if name != "XLM-1"}
    assert order_figure(joined(dial_records(losses=fewer | LOSSES)), "toy")


def test_it_can_be_read_and_its_lines_look_as_in_the_legend() -> None:
    """Markers of the first parameter are full, those of the others hollow."""
    plot = order_figure(joined(dial_records(2)), "toy")
    scores = [record for record in dial_records(2) if record.measure != ALIGNMENT]
    lower = order_figure(joined(scores), "toy")
    assert plot and lower
    legible(plot.figure)
    assert list(panels(lower)) == ["POS accuracy, ZS, %", "POS accuracy, Δ, points"]
    heights = [*laid_out(plot.figure), *laid_out(lower.figure)]
    assert heights == pytest.approx([heights[0]] * 6, rel=0.3)
    assert [panel.get_xlabel() for panel in plot.figure.axes] == ["", "", "order distance", "order distance"]
    assert not any(label.get_visible() for panel in plot.figure.axes[:2] for label in panel.get_xticklabels())
    entries = {name: looked(entry) for name, entry in legend(plot.figure).items()}
    assert list(entries.items())[:4] == [
        ("MLM", (*OBJECTIVES["MLM"], "full", "-")),
        ("ALIGN-MLM", (*OBJECTIVES["ALIGN-MLM"], "full", "-")),
        ("inversion", (INK, "", "full", "-")),
        ("towards verbfinal", (INK, "", "full", "--")),
    ]
    for panel in plot.figure.axes:
        for line in panel.lines:
            if line.get_marker() != "None":
                hollow = line.get_markerfacecolor() == "#ffffff"
                assert hollow == (line.get_linestyle() == "--")


def test_intervals_end_where_their_measures_do() -> None:
    """A score ends at 0, a loss does not; t of 12.7 with one degree of freedom, times 2, is 25 points each way."""
    names = ("trans", "trans.inv-25", "trans.inv-50")
    noisy = [
        replace(r, value=0.1 + 0.02 * (2 * int(r.run[-1]) - 1)) if r.measure == "ZS" else r
        for r in dial_records(2, {name: DISTANCES[name] for name in names}, {"MLM": 0.6})
        if r.measure in ("SUP", "ZS", ORDER)
    ]
    level = [replace(r, value=0.12) if r.measure == "SUP" else r for r in noisy]
    drawn = panels(order_figure(joined(level), "toy"))
    score, loss = (intervals(panel)[0] for panel in drawn.values())
    assert [y for _, y in score] == pytest.approx([0, 10 + 25.4], abs=0.1)
    assert [y for _, y in loss] == pytest.approx([2 - 25.4, 2 + 25.4], abs=0.1)


def test_parameters_are_told_apart_in_words() -> None:
    """How far each sentence moves, how many sentences move, and in the source's own script."""
    names = {"trans": 0.0, "inv-50": 0.4, "inv": 0.9}
    names |= {"trans.syn-verbfinal-50": 0.2, "trans.syn-verbfinal-75": 0.3}
    names |= {"trans.syn-verbfinal-p50": 0.2, "trans.syn-verbfinal-p75": 0.3}
    plot = order_figure(joined(dial_records(1, names)), "toy")
    assert plot and list(legend(plot.figure))[2:] == [
        "inversion, the source’s script",
        "towards verbfinal",
        "towards verbfinal, by sentences",
    ]


def test_scripts_do_not_share_a_line_and_a_single_point_is_none() -> None:
    names = {"trans": 0.0, "trans.inv": 0.9, "trans-25": 0.0, "trans-25.inv": 0.9, "trans-25.inv-50": 0.4}
    plot = order_figure(joined(dial_records(1, names)), "toy")
    assert plot and list(legend(plot.figure))[2:] == ["inversion", "inversion, 25 % of the types shared"]
    lines = {line.get_linestyle(): coordinates(line)[0].tolist() for line in plot.figure.axes[0].lines}
    assert lines == {"-": [0.0, 0.9], "--": [0.0, 0.4, 0.9]}
    # a quarter of the types shared, with no record of that script in the source's own order
    alone = {"trans": 0.0, "trans.inv-50": 0.4, "trans.inv": 0.9, "trans-25.inv": 0.9}
    plot = order_figure(joined(dial_records(1, alone)), "toy")
    assert plot and {line.get_linestyle() for line in plot.figure.axes[0].lines} == {"-"}
