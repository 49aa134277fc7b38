"""Tables, and what their numbers are over."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.report.table import MISSING, Table, cell, percent, visible
from calque.analysis.statistics.intervals import Estimate

CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"])).map(str.strip)


@given(st.lists(st.tuples(CELLS, CELLS)), CELLS.filter(lambda note: not note.startswith("|")))
def test_markdown_is_read_back(rows: list[tuple[str, str]], note: str) -> None:
    table = Table("a title", ("x", "y"), tuple(rows), note)
    assert Table.of_markdown(table.markdown).markdown == table.markdown


def test_a_row_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells under 2 heads"):
        Table("t", ("a", "b"), (("1",),))


def test_a_cell_is_a_mean_with_half_its_interval_over_seeds() -> None:
    assert cell(None) == MISSING
    assert cell(Estimate(0.5, 3, 0.4, 0.6)) == cell(Estimate(0.5, 2, 0.4, 0.6)) == "50.0 ± 10.0"
    assert cell(Estimate(0.5, 1, 0.4, 0.6, "items")) == "50.0"  # an interval over items says nothing of other seeds


def test_percent_has_one_sign_and_none_for_nothing() -> None:
    assert [percent(share) for share in (0.1234, -0.002, -0.0004, 0.0)] == ["12.3", "−0.2", "0.0", "0.0"]


PARTS = ("the text", "the dictionary")


@given(st.text())
def test_any_text_can_stand_in_xml(text: str) -> None:
    node = ElementTree.Element("text")
    node.text = visible(text)
    xml = ElementTree.tostring(node, encoding="unicode")
    again = ElementTree.fromstring(xml).text or ""
    assert again == visible(text).replace("\r\n", "\n").replace("\r", "\n")  # as XML reads line ends
