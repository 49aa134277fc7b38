"""Tables as HTML: labels, kinds of rows, and their data as links."""

import re
from html import unescape
from urllib.parse import unquote

from calque.analysis.report.html_table import kind, table_html
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


def test_rows_are_of_three_kinds() -> None:
    assert [kind(TABLE, row) for row in ROWS] == ["ours"] * 4 + ["published", "floor"]


def test_labels_are_one_cell_and_everything_is_escaped() -> None:
    html = table_html(TABLE, "table-3")
    assert '<tr data-kind=ours><th scope="row">MLM <small>Trans · ours</small></th><td>50.0 ± 2.0</td>' in html
    assert '<th scope="col">POS accuracy ZS</th>' in html
    assert "Scores &lt;b&gt;" in html and "<b>" not in html and "A note &amp; more." in html


def test_links_hold_the_data() -> None:
    links = dict(re.findall(r'download="([^"]+)" href="data:[^,]*,([^"]*)"', table_html(TABLE, "table-3")))
    assert {name: unquote(unescape(data)) for name, data in links.items()} == {
        "table-3.csv": TABLE.csv,
        "table-3.tex": latex(TABLE, "table-3"),
    }
    assert not any(re.search(r"[\s#<>]", data.replace(" ", "")) for data in links.values())
