"""The figure of transfer against order distance: its lines, where they break, and when there is none."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from analysis.papers.align_mlm.order_figure import STEEPEST, Line, order_figure
from analysis.papers.looks import OTHERS, OWN
from analysis.records.record import ALIGNMENT, ORDER, Record
from analysis.report.style import FULL
from analysis.results.measured import mean
from analysis.statistics.intervals import Estimate
from tests.analysis.drawn import coordinates, panels
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


@pytest.mark.parametrize("seeds", [1, 3])
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
    colour, marker = OWN["MLM"]
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
    assert plot.figure.get_figwidth() == FULL


def test_the_largest_loss_is_marked_and_the_mark_explained() -> None:
    plot = order_figure(joined(dial_records()), "toy")
    panel = panels(plot)["POS accuracy, ZS, %"]
    broad = [coordinates(line)[0].tolist() for line in panel.lines if line.get_linewidth() == STEEPEST["linewidth"]]
    assert sorted(broad) == [[0.05, 0.45], [0.05, 0.45], [0.2, 0.4], [0.2, 0.4]]
    assert plot and [text.get_text() for text in plot.figure.legends[0].get_texts()] == [
        "MLM",
        "ALIGN-MLM",
        "inversion",
        "towards verbfinal",
        "largest loss between neighbours",
    ]


def test_it_says_where_each_line_breaks(tmp_path: Path) -> None:
    drawing = saved(order_figure(joined(dial_records()), "toy"), tmp_path)
    zero_shot = next(text for text in drawing.details if text.startswith("POS accuracy, ZS"))
    assert "; ALIGN-MLM (inversion) worsens most from distance 0.20 to 0.40, by 27.2 points" in zero_shot
    assert "ALIGN-MLM (towards verbfinal) worsens most from distance 0.05 to 0.45, by 29.7 points" in zero_shot
    aligned = [text for text in drawing.details if text.startswith("alignment@1")]
    for text, loss in zip(aligned, ("81.5", "45.3"), strict=True):
        assert f"MLM (inversion) worsens most from distance 0.20 to 0.40, by {loss} points" in text
    assert len(drawing.details) == 4


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


def test_a_line_that_only_improves_has_no_break() -> None:
    line = Line("MLM", "inversion", ((0.0, Estimate(0.2, 1)), (0.1, Estimate(0.5, 1)), (0.2, Estimate(0.6, 1))))
    assert line.worst(-1)[1] < 0
    assert line.worst(+1) == (0, pytest.approx(0.3))


def test_scripts_do_not_share_a_line(tmp_path: Path) -> None:
    names = {"trans": 0.0, "trans.inv": 0.9, "trans-25": 0.0, "trans-25.inv": 0.9, "trans-25.inv-50": 0.4}
    drawing = saved(order_figure(joined(dial_records(1, names)), "toy"), tmp_path)
    assert "MLM (inversion) worsens most from distance 0.00 to 0.90" in drawing.details[0]
    assert "MLM (inversion, 25 % of the types shared) worsens most from distance 0.00 to 0.40" in drawing.details[0]


def test_more_objectives_than_looks_are_not_drawn() -> None:
    many = {f"XLM-{n}": 0.3 for n in range(1, len(OTHERS) + 2)}
    assert order_figure(joined(dial_records(losses=many)), "toy") is None
    fewer = {name: loss for name, loss in many.items() if name != "XLM-1"}
    assert order_figure(joined(dial_records(losses=fewer | LOSSES)), "toy")
