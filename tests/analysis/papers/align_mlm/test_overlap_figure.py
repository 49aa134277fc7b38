"""Transfer against what is shared: points, dials, tables, and when there is nothing to draw."""

import csv
import io
from pathlib import Path

import pytest

from calque.analysis.papers.align_mlm.dials import (
    LOOK,
    NEW,
    overlap_figure,
    overlap_tables,
    sharers,
    sharing_findings,
)
from calque.analysis.papers.columns import specified_tables
from calque.analysis.records.record import ALIGNMENT, SHARING, Record
from calque.analysis.report.drawing import INK
from tests.analysis.drawn import coordinates, laid_out, legend, legible, panels
from tests.analysis.runs import number
from tests.analysis.saved import saved
from tests.analysis.toy import joined, toy_records

SHARES = {
    "trans": 0.0,
    "trans-25": 0.2,
    "trans-25-most": 0.8,
    "trans-25-least": 0.02,
    "trans-100-function": 0.3,
    "trans-100-names": 0.08,
    "trans-50-content": 0.25,
    "trans-stems-25": 0.1,
    "trans-stems-50": 0.2,
    "trans-stems-100": 0.4,
    "trans-25.inv": 0.2,
}
OBJECTIVES = ("MLM", "ALIGN-MLM")


def records(seeds: int = 2, shares: dict[str, float] = SHARES) -> list[Record]:
    """The more is shared, the less is lost."""
    made = []
    for seed in range(seeds):
        for objective in OBJECTIVES:
            for language, share in shares.items():
                numbers = [
                    (SHARING, "", "types", share / 2, 300, 0),
                    (SHARING, "", "tokens", share, 9_000, 0),
                    (SHARING, "", "words", 0 if "stems" in language else share, 7_000, 0),
                    ("SUP", "pos", "accuracy", 0.95 - 0.01 * seed, 900, 9),
                    ("ZS", "pos", "accuracy", 0.5 + 0.4 * share, 900, 9),
                    (ALIGNMENT, "", "held-out", 0.1 + share / 2, 200, 9),
                    (ALIGNMENT, "", "held-out-form", 0.6, 40, 9),
                    (ALIGNMENT, "", "held-out-lemma", 0.2, 30, 9),
                ]
                made += [
                    number(language, objective, seed, measure, task, metric, value, count, step)
                    for measure, task, metric, value, count, step in numbers
                ]
    return made


def test_languages_that_differ_in_more_than_what_is_shared_are_left_out() -> None:
    shown = sharers(joined(records()))
    assert [sharer.language for sharer in shown][:3] == ["trans", "trans-25-least", "trans-100-names"]
    assert {sharer.language for sharer in shown} == SHARES.keys() - {"trans-25.inv"}
    assert {sharer.kind for sharer in shown} == {*LOOK}


def test_points_stand_at_their_shares_and_lines_join_a_dial() -> None:
    results = joined(records())
    plot = overlap_figure(results, "toy")
    drawn = panels(plot)
    assert list(drawn) == [
        f"{objective} {title}" for objective in OBJECTIVES for title in ("POS accuracy, Δ", "alignment@1, %")
    ]
    delta = drawn["MLM POS accuracy, Δ"]
    colour, marker = LOOK["stems"]
    (dots,) = [line for line in delta.lines if line.get_marker() == marker]
    x, y = coordinates(dots)
    assert list(x) == pytest.approx([10, 20, 40])
    assert list(y) == pytest.approx([100 * (0.945 - 0.5 - 0.4 * share) for share in (0.1, 0.2, 0.4)])
    (dial,) = [line for line in delta.lines if line.get_linestyle() == "-" and line.get_color() == colour]
    assert list(coordinates(dial)[0]) == pytest.approx([0, 10, 20, 40])  # from a new script on
    assert plot and "over seeds" in plot.caption
    dials = [line for line in delta.lines if line.get_linestyle() == "-" and line.get_color() != INK]
    assert dials == [dial]  # of other kinds there is one point each
    zeros = {title: [line for line in panel.lines if line.get_color() == INK] for title, panel in drawn.items()}
    assert [len(lines) for lines in zeros.values()] == [1, 0, 1, 0]
    assert {*coordinates(zeros["MLM POS accuracy, Δ"][0])[1]} == {0}


def test_its_letters_can_be_read_and_nothing_lies_upon_another() -> None:
    plot = overlap_figure(joined(records()), "toy")
    assert plot
    laid_out(plot.figure)
    legible(plot.figure)
    assert set(legend(plot.figure)) == {NEW, *LOOK}


def test_it_shows_the_records_of_its_points(tmp_path: Path) -> None:
    drawing = saved(overlap_figure(joined(records()), "toy"), tmp_path)
    assert len(drawing.records.read_text().splitlines()) == 2 * len(OBJECTIVES) * (len(SHARES) - 1) * 4


def test_a_finding_has_the_share_of_the_text_that_a_name_does_not_tell() -> None:
    (finding,) = sharing_findings(joined(records(shares={name: SHARES[name] for name in ("trans", "trans-25.inv")})))
    assert "Trans 25 % shared + Inv 10.0 % of the types, 20.0 % of the text" in finding and finding.count("%") == 3
    assert list(sharing_findings(joined(records(shares={"trans": 0.0})))) == []


def test_two_shares_are_no_comparison() -> None:
    few = {name: SHARES[name] for name in ("trans", "trans-25")}
    assert overlap_figure(joined(records(shares=few)), "toy") is None
    assert overlap_figure(joined(toy_records()), "toy") is None
    assert list(overlap_tables(joined(toy_records()), "toy")) == []


def test_tables_have_a_row_for_each_language_and_objective() -> None:
    results = joined(records())
    tables = {**dict(overlap_tables(results, "toy")), **dict(specified_tables("align_mlm", results, "toy"))}
    rows = list(csv.DictReader(io.StringIO(tables["overlap"].csv)))
    assert len(rows) == len(OBJECTIVES) * (len(SHARES) - 1)
    row = next(row for row in rows if row["language"] == "Trans 50 % of stems shared")
    assert (row["types"], row["sub-words"], row["words"]) == ("10.0", "20.0", "0.0")
    assert row["POS accuracy Δ"].startswith("36.5")
    forms = list(csv.DictReader(io.StringIO(tables["forms"].csv)))
    assert len(forms) == len(OBJECTIVES) * len(SHARES)
    assert (forms[0]["types"], forms[0]["types (none known)"]) == ("40", "30")
    assert forms[0]["another form known"].startswith("60.0")
