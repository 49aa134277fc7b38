import re
from dataclasses import replace
from functools import reduce
from html import unescape

import pytest

from calque.analysis.papers.catalogue import PAPERS
from calque.analysis.records.json_rows import read
from calque.analysis.records.record import Floor, Record
from calque.derive.files import files_of, parse_json
from calque.experiments.report.report import summarise
from calque.experiments.report.summary import scale
from calque.experiments.settings.override import override, replaced
from calque.experiments.study.tasks import read_floors
from tests.experiments.committed import ROOT, committed, natural
from tests.experiments.conftest import Done
from tests.experiments.test_records import STUDIES


@pytest.mark.parametrize("paper", [name for name in PAPERS if name != "xtreme"])
def test_every_kind_of_report_can_be_written(done, paper, tmp_path):
    variants = [({}, replace(done.study, paper=paper))]
    assert str(summarise(variants, done.root, tmp_path / "report")).endswith("report.html")
    claims, figures = (tmp_path / "report" / name for name in ("claims.md", "figures"))
    assert {path.suffix for path in figures.iterdir()} == {".png", ".svg", ".jsonl"}
    assert claims.read_text().startswith(f"**{PAPERS[paper].claims_title}, ")


def test_report_shows_the_first_sentence_of_the_preview(done):
    _, first, second = re.split(r"^\d+\.\n", (done.data / "preview.txt").read_text(), flags=re.MULTILINE)[:3]
    page = unescape((done.report / "report.html").read_text())
    assert f"<pre>{first.rstrip()}" in page and second.rstrip() not in page


def test_floors_are_reported(done):
    floors = read(done.report / "floors.jsonl", Floor)
    assert floors == [floor for step in done.study.data(done.root).floors for floor in read_floors(step)]
    assert {(floor.learnt, floor.language) for floor in floors} == {
        ("source", "source"),
        ("source", "trans.inv"),
        ("trans.inv", "trans.inv"),
    }
    assert {(floor.baseline, floor.metric) for floor in floors} == {
        (name, metric) for name in ("majority", "unigram") for metric in ("accuracy", "f1_bare_tags")
    }
    table = (done.report / "table-3.md").read_text()
    assert table.count("| floor ") == 2
    assert "Floor rows are model-free baselines" in (done.report / "report.html").read_text()


def test_repeated_report_is_equal(done, tmp_path):
    again = tmp_path / "again"
    summarise(done.session.variants, done.root, again)
    assert len(read(again / "records.jsonl", Record)) == sum(len(done.records(m)) for m in done.models())
    for name in files_of(again):
        if name != "report.html":  # which names the machine
            assert (again / name).read_bytes() == (done.report / name).read_bytes()


OLDER = ("wikipedia_larger",)  # its study has changed since


@pytest.mark.parametrize("name", [name for name in STUDIES if name not in OLDER])
def test_committed_records_have_the_scale_of_their_study(name, monkeypatch):
    about = parse_json(committed(ROOT / name / "about.json"))
    # A record may name a measure that no longer exists.
    settings = [setting for setting in about.get("settings", []) if not setting.startswith("measures=")]
    study = reduce(replaced, settings, natural(about["study"], monkeypatch))
    assert about["scale"] == scale(study)
    assert any(about["scale"] in committed(table) for table in (ROOT / name).glob("*.md"))


def test_study_without_measures_has_a_report(tiny, tmp_path):
    done = Done(tmp_path, override(tiny, ["measures=", "tasks=", "objectives=MLM", "transforms=trans"]))
    done.finish()
    assert "Training" in (done.report / "report.html").read_text()
