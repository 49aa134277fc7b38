"""Committed records are read by the code as it is, and committed tables and claims are those that they make."""

from pathlib import Path

import pytest

from calque.derive.strict_json import loads
from calque.experiments.names import study
from calque.experiments.report import tables_of
from calque.experiments.summary import scale
from tests.experiments.committed import ROOT, committed, read

STUDIES = {
    "pocket": "align_mlm",
    "objectives_pocket": "equal_terms",
    "objectives_seconds": "equal_terms",
    "control": "align_mlm",
    "knowledge": "align_mlm",
    "growth": "growth",
    "classroom": "align_mlm",
    "order_dial": "align_mlm",
    "overlap": "align_mlm",
    "xlm_align_pocket": "xlm_align",
    "xlm_align_ablations": "xlm_align",
    "languages": "language_imbalance",
    "word_alignment": "links",
    "xlm_align_small": "xtreme",
    "xtreme_small": "xtreme",
    "xtreme_curve": "xtreme",
    "xtreme_continued": "xtreme",
}


@pytest.mark.parametrize(("name", "paper"), STUDIES.items())
def test_tables_and_claims_are_those_of_the_records(name: str, paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALQUE_DATA", "data")  # a study only names its files
    monkeypatch.setenv("CALQUE_ENCODER", "encoder")
    check_committed(name, paper)


def test_tables_and_claims_of_real_text_are_those_of_the_records(calque_data: Path) -> None:
    check_committed("wikipedia_small", "align_mlm")  # it looks for files where CALQUE_DATA says


def check_committed(name: str, paper: str) -> None:
    """Compare a study's committed tables and claims with those that its committed records make now."""
    results, about = read(name, paper), loads(committed(ROOT / name / "about.json"))
    size = about.get("scale") or scale(study(name))  # of records that are older than the study
    tables = tables_of(results, paper, size)
    assert {f"{table}.md" for table in tables} == {path.name for path in (ROOT / name).glob("*.md")}
    for file, table in tables.items():
        assert table.markdown == committed(ROOT / name / f"{file}.md"), file
    assert ("null" in tables) == (len(results.seeds) > 1)
