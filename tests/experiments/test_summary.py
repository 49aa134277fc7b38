"""The report of a tiny study."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analysis.records.record import read
from derive.errors import BadInput
from derive.files import MANIFEST
from experiments.places import Places
from experiments.stages import ALIGNMENT, TRANSFER
from experiments.summary import summarise


def test_the_folder(done: Places) -> None:
    made = {path.name for path in done.report.iterdir()}
    tables = {f"{name}.{kind}" for name in ("claims", "table-3", "table-8") for kind in ("csv", "md")}
    assert made == tables | {"records.jsonl", "figures", "report.html"}
    assert any((done.report / "figures").iterdir())


def test_the_records_are_those_of_every_cell(done: Places) -> None:
    files = [done.evaluation(cell) / name for cell in done.study.cells for name in (ALIGNMENT, TRANSFER)]
    assert read(done.report / "records.jsonl") == [record for path in files for record in read(path)]


def test_the_page_says_what_it_rests_on(done: Places) -> None:
    page = (done.report / "report.html").read_text(encoding="utf-8")
    assert done.study.scale in page
    assert done.study.data_fingerprint in page
    for cell in done.study.cells:
        assert done.run(cell).name in page
    for said in (
        "Table 3",
        "Table 8",
        "alignment@1",
        "undecided",
        "The first sentences of preview.txt",
        "600 sentences and",
        "ids in an unfilled last row",
        "types never occur in the corpus",
        "torch",
    ):
        assert said in page, said
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_making_it_again_gives_the_same_tables(done: Places, tmp_path: Path) -> None:
    copy = Places(tmp_path / "runs", done.study)
    shutil.copytree(done.root, copy.root)
    shown = summarise(copy)
    for path in done.report.glob("*.csv"):
        assert (copy.report / path.name).read_bytes() == path.read_bytes()
    assert (done.report / "table-3.md").read_text(encoding="utf-8") in shown
    assert shown.endswith("report.html")


def test_a_cell_without_records_is_named(done: Places, tmp_path: Path) -> None:
    copy = Places(tmp_path / "runs", done.study)
    shutil.copytree(done.root, copy.root)
    shutil.rmtree(copy.report)
    cell = copy.study.cells[1]
    (copy.evaluation(cell) / MANIFEST).unlink()
    with pytest.raises(BadInput, match=f"not evaluated yet: {cell.name}; run `calque evaluate pocket` first"):
        summarise(copy)
    assert not copy.report.exists()


def test_damaged_records_leave_the_last_report(done: Places, tmp_path: Path) -> None:
    copy = Places(tmp_path / "runs", done.study)
    shutil.copytree(done.root, copy.root)
    before = (copy.report / "report.html").read_bytes()
    path = copy.evaluation(copy.study.cells[0]) / TRANSFER
    path.write_text(path.read_text(encoding="utf-8") + '{"study"\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"records\.jsonl:\d+: expected one JSON object a line"):
        summarise(copy)
    assert (copy.report / "report.html").read_bytes() == before


def test_a_damaged_manifest_is_named(done: Places, tmp_path: Path) -> None:
    copy = Places(tmp_path / "runs", done.study)
    shutil.copytree(done.root, copy.root)
    (copy.data / MANIFEST).write_text("{", encoding="utf-8")
    with pytest.raises(BadInput, match="not the manifest of a finished stage"):
        summarise(copy)
