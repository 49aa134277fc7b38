from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.report.table import Table, visible

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
