"""The figure of word orders: real files, every share beside it."""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest

from analysis.papers.word_order import BETWEEN, drawn_shares, grammar_figure
from analysis.report.style import LOOKS
from tests.analysis.drawn import coordinates, laid_out, legend, legible, looked, points

COLUMNS = {
    "English": {"adjectives after nouns": 0.02, "SVO": 1.0, "OVS": 0.0},
    "French": {"adjectives after nouns": 0.75, "SVO": 1.0, "OVS": 0.0, "numerals before nouns": 0.9},
}


def test_the_same_shares_give_the_same_bytes_and_real_files(tmp_path: Path) -> None:
    first, again = (grammar_figure(COLUMNS, tmp_path / name, "Word order", "Of all heads.") for name in "ab")
    for kind in (".png", ".svg", ".csv"):
        assert first.with_suffix(kind).read_bytes() == again.with_suffix(kind).read_bytes()
    assert first.read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(first.with_suffix(".svg")).getroot().tag.endswith("svg")
    assert len(list(first.parent.iterdir())) == 3


def test_markers_stand_at_their_shares_in_the_rows_of_their_preferences() -> None:
    (panel,) = drawn_shares(COLUMNS, "Word order", "Of all heads.").axes
    rows = [label.get_text() for label in panel.get_yticklabels()]
    assert rows == ["adjectives after nouns", "SVO", "numerals before nouns"]  # nobody has OVS
    for place, (language, (colour, marker)) in enumerate(zip(COLUMNS, LOOKS, strict=False)):
        shares = COLUMNS[language]
        lift = BETWEEN * (place - 0.5)
        expected = sorted((100 * shares[row], y + lift) for y, row in enumerate(rows) if row in shares)
        assert points(panel, marker, colour) == [pytest.approx(point) for point in expected]


def test_the_data_have_every_share_and_no_invented_one(tmp_path: Path) -> None:
    path = grammar_figure(COLUMNS, tmp_path, "Word order", "Of all heads.", "two")
    with path.with_name("two.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["preference"]: (row["English"], row["French"]) for row in rows} == {
        "adjectives after nouns": ("0.02", "0.75"),
        "SVO": ("1.0", "1.0"),
        "OVS": ("0.0", "0.0"),
        "numerals before nouns": ("", "0.9"),
    }


def test_nothing_or_too_much_to_show_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2 languages with 0 preferences"):
        grammar_figure({"English": {"OVS": 0.0}, "French": {}}, tmp_path, "t", "c")
    many = {f"language {i}": {"SVO": 1.0} for i in range(len(LOOKS) + 1)}
    with pytest.raises(ValueError, match="up to 10"):
        grammar_figure(many, tmp_path, "t", "c")
    assert not list(tmp_path.iterdir())


def test_it_can_be_read_and_its_rows_are_as_high_among_many() -> None:
    heights = []
    for count, languages in ((3, 2), (24, len(LOOKS))):
        columns = {f"language {n}": {f"preference {row}": 0.1 * n for row in range(count)} for n in range(languages)}
        figure = drawn_shares(columns, "Word order of languages " * 6, "Of all heads that a grammar can order. " * 4)
        legible(figure)
        (panel,) = figure.axes
        heights.append(laid_out(figure)[0] / count)
        low, high = panel.get_xlim()
        assert low < 0 and low + high == 100, "0 and 100 lie as far from their ends"
        assert panel.get_ylim() == (count - 0.5, -0.5), "the first row is the uppermost"
        assert panel.get_xlabel() == "share, %"
        assert panel.get_title("left").startswith("Of all heads") and figure.get_suptitle().startswith("Word order")
        entries = {name: looked(entry) for name, entry in legend(figure).items()}
        assert entries == {name: (*look, "full", "None") for name, look in zip(columns, LOOKS, strict=False)}
        y = {round(y - row, 6) for line in panel.lines for row, y in enumerate(coordinates(line)[1])}
        assert len(y) == languages and sum(y) == pytest.approx(0)
    assert heights[0] == pytest.approx(heights[1], rel=0.3)
