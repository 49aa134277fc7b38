"""The report of a tiny study."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calque.analysis.papers.catalog import PAPERS
from calque.analysis.records.json_rows import read
from calque.analysis.records.record import Floor, Record
from calque.analysis.records.run import Run
from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST
from calque.experiments.commands.study import write_report
from calque.experiments.comparison import compare_reports
from calque.experiments.report import summarise
from calque.experiments.summary import scale
from calque.experiments.tasks import read_floors
from tests.experiments.conftest import Done

INVERTED = {"kind": "Invert", "p": 1.0, "seed": 0}


@pytest.fixture
def copy(done: Done, tmp_path: Path) -> Done:
    """The study once more, to be damaged."""
    shutil.copytree(done.root, tmp_path / "runs")
    return Done(tmp_path / "runs", done.study)


@pytest.mark.parametrize("paper", [name for name, about in PAPERS.items() if not about.natural])
def test_every_paper_can_be_reported(done: Done, paper: Any, tmp_path: Path) -> None:
    shown = replace(done.study, paper=paper)
    assert str(summarise(shown, done.root, tmp_path / "report")).endswith("report.html")
    claims, figures = (tmp_path / "report" / name for name in ("claims.md", "figures"))
    if paper == "growth":
        assert not figures.exists() and not claims.exists()  # nothing that they draw is in this study
        return
    assert {path.suffix for path in figures.iterdir()} == {".png", ".svg", ".jsonl"}
    if paper == "xlm_align":
        assert not claims.exists()  # nothing that it compares is in this study
    else:
        assert claims.read_text(encoding="utf-8").startswith(f"**{PAPERS[paper].claims_title}, ")


def test_the_records_are_those_of_every_model(done: Done) -> None:
    expected = [record for model in done.models() for record in done.records(model)]
    assert read(done.report / "records.jsonl", Record) == expected


def test_the_floors_are_those_of_every_task_and_stand_in_table_and_page(done: Done) -> None:
    floors = read(done.report / "floors.jsonl", Floor)
    assert floors == [floor for step in done.study.baselines(done.root, 0) for floor in read_floors(step)]
    assert {(floor.learnt, floor.language) for floor in floors} == {
        ("source", "source"),
        ("source", "trans.inv"),
        ("trans.inv", "trans.inv"),
    }
    assert {(floor.baseline, floor.metric) for floor in floors} == {
        (name, metric) for name in ("majority", "unigram") for metric in ("accuracy", "f1_bare_tags")
    }
    table = (done.report / "table-3.md").read_text(encoding="utf-8")
    assert "POS accuracy retained" in table and table.count("| floor ") == 2
    assert "Floor, retained transfer" in (done.report / "report.html").read_text(encoding="utf-8")
    assert (done.report / "figures" / "figure-floors.png").is_file()


def test_the_runs_say_what_each_model_was_made_of(done: Done) -> None:
    runs = read(done.report / "runs.jsonl", Run)
    assert runs == [model.run for model in done.models()]
    mlm, align = runs
    assert (mlm.study, mlm.seed, mlm.layers, mlm.start) == ("pocket", 0, 1, None)
    assert mlm.languages[1].title == "Trans + Inv"
    assert mlm.languages[1].parts == ({"kind": "Transliterate", "overlap": 0.0, "seed": 0}, INVERTED)
    assert [part["kind"] for part in align.objective.parts] == ["MLM", "Align"] if align.objective else False


def test_the_page_says_what_it_rests_on(done: Done) -> None:
    page = (done.report / "report.html").read_text(encoding="utf-8")
    assert scale(done.study) in page
    assert done.data.name.removeprefix("languages-") in page
    for said in (
        "Table 3",
        "Table 8",
        "alignment@1",
        "undecided",
        "600 sentences, ",
        "ids in an unfilled last row",
        "types never occur in the corpus",
        "torch",
    ):
        assert said in page, said
    assert "http://" not in page and "https://" not in page


def test_a_model_without_records_is_named(copy: Done) -> None:
    shutil.rmtree(copy.report)
    step = copy.measures(copy.model("ALIGN-MLM"))["pos"]
    (step.folder / MANIFEST).unlink()
    with pytest.raises(BadInput, match=f"not computed yet: {step.title}; `calque run` does it"):
        write_report(copy.study, copy.root, copy.report, {})
    assert not copy.report.exists()


def test_damaged_records_leave_the_last_report(copy: Done) -> None:
    before = (copy.report / "report.html").read_bytes()
    path = copy.measures(copy.model("MLM"))["pos"].folder / "records.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("1", "2", 1), encoding="utf-8")
    with pytest.raises(BadInput, match="changed since it was written"):
        summarise(copy.study, copy.root, copy.report)
    assert (copy.report / "report.html").read_bytes() == before


def test_a_report_is_equal_to_itself_and_to_one_made_again(done: Done, tmp_path: Path) -> None:
    """What `calque compare` reads is what a report writes."""
    summarise(done.study, done.root, tmp_path / "again")
    expected = sum(len(done.records(model)) for model in done.models())
    found = compare_reports(done.report, tmp_path / "again")
    assert (found.equal, found.different, found.changed) == (expected, [], {})
