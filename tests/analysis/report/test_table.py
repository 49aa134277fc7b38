"""Tables, and what their numbers are over."""

import csv
import io
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.papers.align_mlm.claims import align_mlm_claims
from calque.analysis.papers.align_mlm.tables import scores_table
from calque.analysis.report.claims_table import claims_table
from calque.analysis.report.table import MISSING, Table, cell, coverage, covered, over_seeds, percent, visible
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate
from tests.analysis.runs import runs
from tests.analysis.toy import toy_records


def test_markdown_lines_up() -> None:
    table = Table("a < b", ("x", "long head"), (("<script>", "1"), ("b", "2")), "note & more")
    lines = table.markdown.splitlines()
    assert len({len(line) for line in lines[2:6]}) == 1


def test_csv_has_every_cell_below_its_head() -> None:
    table = Table("t", ("x", "y"), (("a, b", "1"), ('"', "2")), "note")
    assert list(csv.reader(io.StringIO(table.csv))) == [["x", "y"], ["a, b", "1"], ['"', "2"]]


CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"])).map(str.strip)


@given(st.lists(st.tuples(CELLS, CELLS)), CELLS.filter(lambda note: not note.startswith("|")))
def test_markdown_is_read_back(rows: list[tuple[str, str]], note: str) -> None:
    table = Table("a title", ("x", "y"), tuple(rows), note)
    assert Table.of_markdown(table.markdown).markdown == table.markdown


def test_markdown_keeps_labels_apart() -> None:
    table = Table("t", ("objective", "transform", "NLI"), (("MLM", "a|b", "1"),), labels=2)
    assert r"| MLM       | a\|b      | 1   |" in table.markdown


def test_a_row_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells under 2 heads"):
        Table("t", ("a", "b"), (("1",),))


def test_a_cell_is_a_mean_with_half_its_interval_over_seeds() -> None:
    assert cell(None) == MISSING
    assert cell(Estimate(0.5, 3, 0.4, 0.6)) == cell(Estimate(0.5, 2, 0.4, 0.6)) == "50.0 ± 10.0"
    assert cell(Estimate(0.5, 1, 0.4, 0.6, "items")) == "50.0"  # an interval over items says nothing of other seeds


def test_percent_has_one_sign_and_none_for_nothing() -> None:
    assert [percent(share) for share in (0.1234, -0.002, -0.0004, 0.0)] == ["12.3", "−0.2", "0.0", "0.0"]


def test_one_seed_is_said_to_have_no_interval() -> None:
    assert over_seeds([7]) == "one seed (7), no interval"
    several = over_seeds([0, 2])
    assert several.startswith("2 seeds (0, 2), mean ± half the 95 % interval over seeds, or the interval where")
    assert several.endswith("seeds share the corpus, the dictionary and the test items")


PARTS = ("the text", "the dictionary")


def test_what_seeds_draw_and_what_they_share() -> None:
    assert covered(()) == "seeds share the corpus, the dictionary and the test items"
    assert covered(PARTS) == "each seed draws anew the text and the dictionary; the rest is shared"
    assert coverage([0, 1, 2], ()) == f"over 3 seeds of the model alone: {covered(())}"
    assert coverage([0, 1, 2], PARTS) == f"over 3 seeds of model and data: {covered(PARTS)}"
    assert coverage([4], PARTS).startswith("over the test items of one seed")


def test_tables_and_claims_say_what_their_seeds_draw() -> None:
    """Only what every model's seed draws counts."""
    records = toy_records(2)
    all_runs = runs(records)
    for first, said, of_data in (
        (PARTS, "each seed draws anew the text and the dictionary", "verdicts are about other draws of these too"),
        (PARTS[:1], "each seed draws anew the text;", "verdicts are about other draws of these too"),
        ((), "seeds share the corpus", "verdicts say nothing of other data"),
    ):
        redrawn = [replace(all_runs[0], redrawn=first), *(replace(run, redrawn=PARTS) for run in all_runs[1:])]
        results = Results(redrawn, records)
        assert said in scores_table(results, "toy").note
        claims = claims_table(results, align_mlm_claims(results), "toy")
        assert claims is not None
        note = claims.note
        assert of_data in note and said[1:] in note


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
