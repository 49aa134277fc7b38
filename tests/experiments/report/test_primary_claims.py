import json
import shutil
from dataclasses import replace

import pytest

from calque.analysis.papers.primary import NAME, PrimaryClaims
from calque.analysis.records import json_rows
from calque.analysis.records.record import RUNS, Run
from calque.derive.files import MANIFEST
from calque.derive.fingerprint import sha256
from calque.experiments.report.folder import stored
from calque.experiments.report.report import summarise
from calque.experiments.settings.catalogue import STUDIES
from calque.experiments.settings.override import override
from tests.experiments.committed import ROOT
from tests.experiments.conftest import Done
from tests.refusals import refusal

SHIPPED = [*STUDIES.glob("*.claims.toml"), *ROOT.glob("*/primary-claims.toml")]
CLAIMS = """
[[claims]]
text = "ALIGN-MLM loses less than MLM"
measure = "DELTA"
task = "pos"
ascending = [["ALIGN-MLM", "trans.inv"], ["MLM", "trans.inv"]]

[[claims]]
text = "ALIGN-MLM aligns more than MLM"
measure = "alignment"
types = "held-out"
ascending = [["MLM", "trans.inv"], ["ALIGN-MLM", "trans.inv"]]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.claims.toml"
    path.write_text(CLAIMS)
    return path


@pytest.fixture
def claimed(done, file, tmp_path):
    shutil.copytree(done.home, tmp_path / "runs" / "shared")
    return Done(tmp_path / "runs", override(done.study, [f"claims={file}"]))


def again(done, objective):
    shutil.rmtree(done.model(objective).folder)
    done.compute()


def noted(done, objective):
    manifests = done.model(objective).folder.rglob(MANIFEST)
    return {json.loads(path.read_text()).get("claims") for path in manifests}


def reported(done):
    outcome = summarise(done.session.variants, done.root, done.report, done.session.about)
    return (str(outcome), outcome.report.read_text(), (done.report / f"{NAME}.md").read_text())


def test_claims_change_no_folder(done, claimed, file):
    folders = [[step.folder.name for step in each.study.steps(each.root)] for each in (done, claimed)]
    assert folders[0] == folders[1] and all(step.finished for step in claimed.study.steps(claimed.root))
    for text in reported(claimed):
        assert "changed after the runs" in text
    assert "2 of 2 runs" in reported(claimed)[2]
    again(claimed, "MLM")
    assert noted(claimed, "MLM") == {sha256(file)} and noted(claimed, "ALIGN-MLM") == {None}
    assert "1 of 2 runs" in reported(claimed)[2]


def test_report_starts_with_claims_and_notes_changes(claimed, file):
    digest = sha256(file)
    for objective in ("MLM", "ALIGN-MLM"):
        again(claimed, objective)
    shown, page, table = reported(claimed)
    assert all("stated before the runs" in text for text in (shown, page, table))
    assert page.index('<section id="primary-claims">') < page.index('<section id="figures">')
    assert "2 primary claims tested (undecided: at the floor: 1; undecided: one seed: 1)" in page
    assert stored(claimed.report)["claims"] == digest
    assert {run.claims for run in json_rows.read(claimed.report / RUNS, Run)} == {(digest,)}
    assert (claimed.report / f"{NAME}.toml").read_bytes() == file.read_bytes()

    file.write_text(f"{CLAIMS}# another thought\n")
    changed = Done(claimed.root, replace(claimed.study))
    assert "2 of 2 runs" in reported(changed)[2]
    assert stored(changed.report)["claims"] == sha256(file) != digest
    assert {run.claims for run in json_rows.read(changed.report / RUNS, Run)} == {(digest,)}


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        (
            '["ALIGN-MLM", "trans.inv"], ["MLM"',
            '["ALIGN-MLM", "trans.inv"], ["XLM"',
            2,
            "no objective of the study is called 'XLM'",
        ),
        ('[["MLM", "trans.inv"]', '[["MLM", "trans"]', 8, "no transform of the study is called 'trans'"),
        ('task = "pos"', 'task = "ner"', 2, "no task of the study is called 'ner'"),
    ],
)
def test_claims_beyond_the_study_are_rejected(done, file, old, new, line, said):
    assert old in CLAIMS
    file.write_text(CLAIMS.replace(old, new))
    message = refusal(override, done.study, [f"claims={file}"])
    assert f"{file}:{line}: " in message and said in message


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_shipped_claims_are_readable_and_few(path):
    claims = PrimaryClaims.read(path).by_line.values()
    assert 1 <= sum(max(1, len(claim.ascending) - 1) for claim in claims) <= 8
