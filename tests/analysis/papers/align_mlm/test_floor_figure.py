"""The figure of scores above their floors, and the floors' lines in the other figures and rows in the tables."""

import csv
import io

import pytest

from calque.analysis.papers.align_mlm.dials import order_figure
from calque.analysis.papers.align_mlm.figures import delta_figure, floor_figure
from calque.analysis.papers.align_mlm.tables import alignment_table, scores_table
from calque.analysis.records.record import ORDER, Floor, Record
from calque.analysis.report.drawing import INK, SOFT
from calque.analysis.results.results import Results
from tests.analysis.drawn import OBJECTIVES, coordinates, legend, legible, panels, points
from tests.analysis.runs import number, runs
from tests.analysis.toy import METRICS, TRANSFORMS, joined, toy_published, toy_records

SOURCE, DERIVED = 0.2, 0.6
"""What the toy's majority and its unigram have."""


def floors(records: list[Record], transforms: tuple[str, ...] = TRANSFORMS) -> list[Floor]:
    """Majority and unigram of every task: the same in the source, apart where they are learnt in the language."""
    return [
        Floor(name, name, task, metric, value, 900, transform, learnt)
        for task, metrics in METRICS.items()
        for metric in metrics
        for transform in transforms
        for learnt, name, value in (
            ("source", "majority", SOURCE),
            ("source", "unigram", SOURCE),
            (transform, "majority", SOURCE),
            (transform, "unigram", DERIVED),
        )
    ]


def with_floors(seeds: int = 3) -> Results:
    records = toy_records(seeds)
    return Results(runs(records), records, toy_published(), floors(records))


def test_scores_and_lines_stand_where_their_numbers_are() -> None:
    made = with_floors()
    plot = floor_figure(made, "toy")
    assert plot and plot.name == "figure-floors"
    assert [panel.get_title() for panel in plot.figure.axes] == ["NLI accuracy, %", "NER F1, %", "POS accuracy, %"]
    for panel in plot.figure.axes:
        for name, (colour, marker) in OBJECTIVES.items():
            assert len(points(panel, marker, colour)) == 4, name  # SUP and ZS under two transforms
        lines = {dash: [line for line in panel.lines if line.get_linestyle() == dash] for dash in ("-", "--")}
        assert {float(y) for line in lines["-"] for y in coordinates(line)[1]} == {100 * SOURCE}
        assert {float(y) for line in lines["--"] for y in coordinates(line)[1]} == {100 * DERIVED}
        for line in (*lines["-"], *lines["--"]):  # each as wide as its group's markers, and apart from the other group
            left, right = coordinates(line)[0]
            (group,) = {round(left), round(right)}
            markers = [x for look in OBJECTIVES.values() for x, _ in points(panel, look[1], look[0])]
            own = [x for x in markers if abs(x - group) < 0.5]
            assert left < min(own) < max(own) < right and len(own) == 2 * len(OBJECTIVES)
    legible(plot.figure)
    assert {"ZS", "SUP", "baseline learnt in the source"} <= legend(plot.figure).keys()
    assert len(plot.floors) == 12 and "over seeds" in plot.caption


def test_without_floors_there_is_none_and_other_figures_say_nothing_of_them() -> None:
    bare = joined(toy_records(1))
    assert floor_figure(bare, "toy") is None
    plot = delta_figure(bare, "toy")
    assert plot and "floor" not in plot.caption and not any("floor" in text for text in legend(plot.figure))


def test_delta_has_a_line_where_nothing_is_transferred() -> None:
    made = with_floors()
    plot = delta_figure(made, "toy")
    assert plot
    legible(plot.figure)
    assert "no transfer: Δ with ZS at the floor" in legend(plot.figure)
    for title, transform in (("Trans", "trans"), ("Trans + Inv", "trans.inv")):
        dotted = [line for line in panels(plot)[title].lines if line.get_linestyle() == ":"]
        expected = [
            100 * (sum(one.value for one in made.scores("SUP", o, transform, t, m).values()) / 3 - SOURCE)
            for t, m in (("nli", "accuracy"), ("ner", "f1"), ("pos", "f1_bare_tags"))
            for o in made.objectives
        ]
        assert [float(coordinates(line)[1][0]) for line in dotted] == pytest.approx(expected)
    assert {floor.learnt for floor in plot.floors} == {"source"}


def test_order_has_the_floor_of_zero_shot_scores() -> None:
    transforms = ("trans", "trans.inv-50", "trans.inv")
    records = [
        record
        for place, name in enumerate(transforms)
        for record in (
            number(name, "MLM", 0, ORDER, "", "kendall", 0.5 * place, 99),
            *(number(name, "MLM", 0, measure, "pos", "accuracy", 0.8, 99) for measure in ("SUP", "ZS")),
        )
    ]
    plot = order_figure(Results(runs(records), records, floors=floors(records, transforms)), "toy")
    assert plot and "floor of ZS" in legend(plot.figure)
    (line,) = (line for line in panels(plot)["POS accuracy, ZS, %"].lines if line.get_color() == SOFT)
    x, y = coordinates(line)
    assert (list(x), list(y)) == ([0, 0.5, 1], [100 * SOURCE] * 3)
    assert not [line for line in panels(plot)["POS accuracy, Δ, points"].lines if line.get_color() == SOFT]
    assert len(plot.floors) == 3 and INK != SOFT


def test_tables_have_retained_transfer_beside_delta_and_a_row_for_each_baseline() -> None:
    made = with_floors()
    table = scores_table(made, "toy")
    assert list(table.header[3:7]) == [f"NLI accuracy {name}" for name in ("SUP", "ZS", "Δ", "retained")]
    rows = list(csv.DictReader(io.StringIO(table.csv)))
    low = [row for row in rows if row["source"] == "floor"]
    assert [(row["objective"], row["transform"]) for row in low] == [
        (name, title) for name in ("majority", "unigram") for title in ("Trans", "Trans + Inv")
    ]
    assert [(row["POS accuracy SUP"], row["POS accuracy ZS"], row["POS accuracy Δ"]) for row in low] == [
        ("20.0", "20.0", "")
    ] * 2 + [("60.0", "20.0", "")] * 2
    ours = next(row for row in rows if (row["objective"], row["transform"]) == ("ALIGN-MLM", "Trans"))
    low, value, high = (float(ours[f"POS accuracy retained{end}"]) for end in (" low", "", " high"))
    assert low < value == 101.3 < high
    published = next(row for row in rows if row["source"] == "published")
    assert published["POS F1 on bare tags retained"] == ""
    assert "Fieller" in table.note and "floor" not in scores_table(joined(toy_records(1)), "toy").note
    header = alignment_table(made, "toy").header
    assert header[header.index("POS accuracy Δ") + 1] == "POS accuracy retained"
