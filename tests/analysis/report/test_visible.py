"""What XML excludes is shown as a sign, and everything else stays."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from analysis.report.table import visible


def test_control_characters_have_a_sign_and_white_space_stays() -> None:
    assert visible("a\x01b\x1f\x7f\x85\x9f\ud800\udfff\ufffe\uffff") == "a�b��������"
    assert visible(" ~\xa0\ud7ff\ue000�") == " ~\xa0\ud7ff\ue000�", "what stands beside them stays"
    assert visible("a\tb\nc é ա 😀") == "a\tb\nc é ա 😀"


@given(st.text())
def test_any_text_can_stand_in_xml(text: str) -> None:
    node = ElementTree.Element("text")
    node.text = visible(text)
    xml = ElementTree.tostring(node, encoding="unicode")
    again = ElementTree.fromstring(xml).text or ""
    assert again == visible(text).replace("\r\n", "\n").replace("\r", "\n")  # as XML reads line ends
