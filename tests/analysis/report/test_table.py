import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.report.table import HEADS, MISSING, NOTE, Table, cell, columns, inert, numeric, visible
from calque.analysis.statistics import Estimate

CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"])).map(str.strip)


@given(st.lists(st.tuples(CELLS, CELLS)), CELLS.filter(lambda note: not note.startswith("|")))
def test_markdown_is_read_back(rows, note):
    table = Table("a title", ("x", "y"), tuple(rows), note)
    assert Table.of_markdown(table.markdown).markdown == table.markdown


@given(st.text())
def test_any_text_is_valid_xml(text):
    node = ElementTree.Element("text")
    node.text = visible(text)
    xml = ElementTree.tostring(node, encoding="unicode")
    again = ElementTree.fromstring(xml).text or ""
    assert again == visible(text).replace("\r\n", "\n").replace("\r", "\n")  # XML normalises line endings


RECORDS = Path(__file__).parents[3] / "experiments" / "records"
TABLES = [path for path in sorted(RECORDS.glob("*/*.md")) if path.read_text().startswith("**")]
SHARES = st.floats(-1, 1)
is_number = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?").fullmatch


@pytest.mark.parametrize("path", TABLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_committed_tables_are_numbers_in_csv(path):
    table = Table.of_markdown(path.read_text())
    assert table.markdown == path.read_text()
    for i, head in enumerate(table.header):
        cells = [row[i] for row in table.rows]
        for name, column in columns(head, cells) if numeric(cells) else ():
            assert name.endswith(NOTE) or all(is_number(one) for one in column if one), name
    rows = list(csv.reader(io.StringIO(table.csv)))
    assert len(rows) == len(table.rows) + 1 and len({len(row) for row in rows}) == 1
    assert "−" not in table.csv and MISSING not in [one for row in rows for one in row]


ENDS = st.sampled_from(["", ", ZS at the floor", " (2 of 4)", " (1,049)", " of 1,049"])


@given(SHARES, SHARES, SHARES, ENDS)
def test_table_cells_split_into_numbers(mean, low, high, end):
    estimate = Estimate(mean, 3, min(mean, low), max(mean, high), error=1.0)
    parts = {name: values[0] for name, values in columns("x", [cell(estimate) + end])}
    assert float(parts["x"]) == pytest.approx(100 * mean, abs=0.0501)
    assert float(parts["x low"]) == pytest.approx(100 * estimate.low, abs=0.11)
    assert float(parts["x high"]) == pytest.approx(100 * estimate.high, abs=0.11)
    assert set(parts) <= {"x" + head for head in HEADS.values()}
    assert parts.get("x of", parts.get("x in brackets", "1049")) == "1049"
    assert bool(parts.get("x note")) == ("at the floor" in end or "2 of 4" in end)


FORMULAS = ["=1+1", "+cmd", "-a", "@SUM(A1)", "\t=1", "-1+cmd|' /C calc'!A0", "+1(A1)", "−x"]


@pytest.mark.parametrize("text", FORMULAS)
def test_text_is_never_a_formula(text):
    assert inert(text)[0] == "'"
    for name, cells in columns(text, [text, text, "1.0"]):
        assert name[0] == "'" and all(one[:1] not in "=+-@\t" or is_number(one) for one in cells if one)
