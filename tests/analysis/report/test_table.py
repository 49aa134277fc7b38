from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.report.table import Table, cell, numeric, visible
from calque.analysis.statistics import Estimate
from docs.update import table_of

CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"])).map(str.strip)


@given(st.lists(st.tuples(CELLS, CELLS)), CELLS.filter(lambda note: not note.startswith("|")))
def test_markdown_is_read_back(rows, note):
    table = Table("a title", ("x", "y"), tuple(rows), note)
    assert table_of(table.markdown).markdown == table.markdown


@given(st.text())
def test_any_text_is_valid_xml(text):
    node = ElementTree.Element("text")
    node.text = visible(text)
    xml = ElementTree.tostring(node, encoding="unicode")
    again = ElementTree.fromstring(xml).text or ""
    assert again == visible(text).replace("\r\n", "\n").replace("\r", "\n")  # XML normalises line endings


RECORDS = Path(__file__).parents[3] / "experiments" / "records"
TABLES = [path for path in sorted(RECORDS.glob("*/*.md")) if path.read_text().startswith("**")]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_committed_tables_are_read_back(path):
    assert table_of(path.read_text()).markdown == path.read_text()


SHARES = st.floats(-1, 1)


@given(SHARES, SHARES, SHARES, st.sampled_from(["", ", ZS at the floor", " (2 of 4)", " / 38.5"]))
def test_cells_with_numbers_are_recognised(mean, low, high, end):
    estimate = Estimate(mean, 3, min(mean, low), max(mean, high), error=1.0)
    assert numeric([cell(estimate) + end]) and not numeric(["MLM", "250k", "dictionary 50%"])
