"""Committed records are read by the code as it is, and committed tables and claims are those that they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.papers.xlm_align.link_tables import choices_table, layers_table, measures_table, ways_table
from analysis.papers.xlm_align.systems import Systems
from analysis.report.claims_table import claims_table, null_table
from derive.strict_json import loads
from experiments.names import study
from experiments.natural_report import tables_of
from analysis.papers.published import published_layers
from experiments.reporting import PAPERS
from tests.experiments.committed import ROOT, committed, continued, natural, read

GRIDS = (
    ("pocket", "align_mlm"),
    ("objectives_pocket", "equal_terms"),
    ("objectives_seconds", "equal_terms"),
    ("control", "align_mlm"),
    ("knowledge", "align_mlm"),
    ("growth", "growth"),
    ("classroom", "align_mlm"),
    ("order_dial", "align_mlm"),
    ("overlap", "align_mlm"),
    ("xlm_align_pocket", "xlm_align"),
    ("xlm_align_ablations", "xlm_align"),
    ("languages", "language_imbalance"),
)


@pytest.mark.parametrize(("name", "paper"), GRIDS)
def test_tables_and_claims_are_those_of_the_records(name: str, paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALQUE_DATA", "data")  # a study only names its files
    check_committed(name, paper)


def test_tables_and_claims_of_real_text_are_those_of_the_records(calque_data: Path) -> None:
    check_committed("wikipedia_small", "align_mlm")  # it looks for files where CALQUE_DATA says


def check_committed(name: str, paper: str) -> None:
    """Hold a study's committed tables and claims against those that its committed records make now."""
    results, about = read(name, paper), loads(committed(ROOT / name / "about.json"))
    scale = about.get("scale") or study(name).scale  # of records that are older than the study
    for file, table in PAPERS[paper].tables(results, scale):
        assert table.markdown == committed(ROOT / name / f"{file}.md"), file
    if null := null_table(results, scale):
        assert null.markdown == committed(ROOT / name / "null.md")
    assert (null is None) == (len(results.seeds) < 2)
    if asked := PAPERS[paper].claims(results):
        claims = claims_table(results, asked, scale, PAPERS[paper].claimed)
        assert claims.markdown == committed(ROOT / name / "claims.md")


def test_tables_of_word_alignment_are_those_of_its_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALQUE_DATA", "data")
    made = study("word_alignment")
    systems = Systems(read("word_alignment", "xlm_align"), made.sets)
    scale = loads(committed(ROOT / "word_alignment" / "about.json"))["scale"]
    tables = {
        "measures": measures_table(systems, scale),
        "ways": ways_table(systems, scale),
        "layers": layers_table(systems, "xlm-align", published_layers("xlm_align"), scale),
        "choices": choices_table(systems),
    }
    for file, table in tables.items():
        assert table.markdown == committed(ROOT / "word_alignment" / f"{file}.md"), file


@pytest.mark.parametrize("name", ["xlm_align_small", "xtreme_small", "xtreme_curve", "xtreme_continued"])
def test_tables_of_natural_languages_are_those_of_their_records(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = natural(name, monkeypatch)
    for file, table in tables_of(continued(made), made.scale):
        assert table.markdown == committed(ROOT / made.name / f"{file}.md"), file
