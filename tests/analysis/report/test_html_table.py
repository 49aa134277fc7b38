"""Tables as HTML: labels, kinds of rows, the best within noise, and their data as links."""

import re
from dataclasses import replace
from html import unescape
from urllib.parse import unquote

import pytest

from calque.analysis.report.html_table import RULE, best_cells, kind, table_html
from calque.analysis.report.latex import latex
from calque.analysis.report.table import Table

HEADER = ("objective", "transform", "source", "POS accuracy ZS", "POS accuracy Δ", "types")
ROWS = (
    ("MLM", "Trans", "ours", "50.0 ± 2.0", "40.0 ± 2.0", "55"),
    ("XLM", "Trans", "ours", "53.0 ± 2.0", "44.0 [42.1, 46.0]", "55"),
    ("LINK", "Trans", "ours", "45.0 ± 0.5", "42.0", "55"),
    ("MLM", "Inv", "ours", "10.0 ± 1.0", "–", "55"),
    ("XLM", "Trans", "published", "99.0", "1.0", "–"),
    ("majority", "Trans", "floor", "60.0", "–", "–"),
)
TABLE = Table("Scores <b>", HEADER, ROWS, "A note & more.", labels=3)


def test_the_best_within_noise_overlaps_the_best_mean_of_our_rows_in_a_block() -> None:
    assert best_cells(TABLE) == {(0, 3), (1, 3), (0, 4), (2, 4)}, (
        "more accuracy is better and less Δ; counts have no best"
    )
    near = replace(TABLE, rows=ROWS[:2])
    assert best_cells(near) == {(0, 4)}, "all accuracies are within noise"


@pytest.mark.parametrize(
    ("title", "marked"),
    [("Words aligned", set()), ("Alignment error rate by layer", {(0, 1)}), ("NLI by category: accuracy", {(1, 1)})],
)
def test_a_title_says_which_end_is_better_where_a_head_does_not(title: str, marked: set[tuple[int, int]]) -> None:
    rows = (("MLM", "30.0 ± 1.0"), ("XLM", "40.0 ± 1.0"))
    assert best_cells(Table(title, ("objective", "en-de"), rows)) == marked


def test_numbers_without_intervals_and_single_rows_have_no_best() -> None:
    heads = ("objective", "NER F1")
    assert best_cells(Table("t", heads, (("MLM", "30.0"), ("XLM", "40.0")))) == set()
    assert best_cells(Table("t", heads, (("MLM", "30.0 ± 1.0"),))) == set()


def test_rows_are_of_three_kinds() -> None:
    assert [kind(TABLE, row) for row in range(len(ROWS))] == ["ours"] * 4 + ["published", "floor"]


def test_labels_are_one_cell_and_everything_is_escaped() -> None:
    html = table_html(TABLE, "table-3")
    assert (
        '<tr data-kind=ours><th scope="row">MLM <small>Trans · ours</small></th><td class=best>50.0 ± 2.0</td>' in html
    )
    assert '<th scope="col">POS accuracy ZS</th>' in html
    assert "Scores &lt;b&gt;" in html and "<b>" not in html and "A note &amp; more." in html and RULE in html


def test_what_is_compared_comes_first_among_labels() -> None:
    html = table_html(Table("t", ("language", "objective", "loss"), (("Trans", "MLM", "1"),), labels=2), "t")
    assert '<th scope="col">objective <small>language</small></th>' in html
    assert '<th scope="row">MLM <small>Trans</small></th>' in html


def test_links_hold_the_data() -> None:
    links = dict(re.findall(r'download="([^"]+)" href="data:[^,]*,([^"]*)"', table_html(TABLE, "table-3")))
    assert {name: unquote(unescape(data)) for name, data in links.items()} == {
        "table-3.csv": TABLE.csv,
        "table-3.tex": latex(TABLE, "table-3"),
    }
    assert not any(re.search(r"[\s#<>]", data.replace(" ", "")) for data in links.values())
