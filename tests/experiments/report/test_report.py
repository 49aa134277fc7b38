from dataclasses import replace

import pytest

from calque.analysis.papers.catalog import PAPERS
from calque.analysis.records.json_rows import read
from calque.analysis.records.record import Floor
from calque.experiments.report.comparison import compare_reports
from calque.experiments.report.report import summarise
from calque.experiments.study.tasks import read_floors


@pytest.mark.parametrize("paper", [name for name, about in PAPERS.items() if not about.natural])
def test_every_kind_of_report_can_be_written(done, paper, tmp_path):
    shown = replace(done.study, paper=paper)
    assert str(summarise(shown, done.root, tmp_path / "report")).endswith("report.html")
    claims, figures = (tmp_path / "report" / name for name in ("claims.md", "figures"))
    if paper == "growth":
        assert not figures.exists() and not claims.exists()  # the study lacks what they show
        return
    assert {path.suffix for path in figures.iterdir()} == {".png", ".svg", ".jsonl"}
    if paper == "xlm_align":
        assert not claims.exists()  # the study lacks what it compares
    else:
        assert claims.read_text().startswith(f"**{PAPERS[paper].claims_title}, ")


def test_floors_are_reported(done):
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
    table = (done.report / "table-3.md").read_text()
    assert "POS accuracy retained" in table and table.count("| floor ") == 2
    assert "Floor, retained transfer" in (done.report / "report.html").read_text()
    assert (done.report / "figures" / "figure-floors.png").is_file()


def test_repeated_report_is_equal(done, tmp_path):
    summarise(done.study, done.root, tmp_path / "again")
    expected = sum(len(done.records(model)) for model in done.models())
    found = compare_reports(done.report, tmp_path / "again")
    assert (found.equal, found.different, found.changed) == (expected, [], {})
