import json
import shutil
from pathlib import Path

import pytest

from calque.analysis.records.json_rows import read
from calque.analysis.records.record import Record, Run
from calque.experiments.settings.override import read_sweep, variants
from docs.update import table_of
from tests.experiments.conftest import SETTINGS, calque, sets
from tests.refusals import refusal

SMALL = [*SETTINGS, *sets("measures=alignment", "seeds=0,1", "objectives=MLM"), "--jobs", "1"]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    words = ["run", "pocket", "--runs", folder, *SMALL, "--sweep", "train.steps=4,8"]
    code, out, err = calque(*words)
    assert (code, err) == (0, "") and out.rstrip().endswith("report.html")
    return folder


def test_sweep_computes_shared_steps_once(root):
    names = [path.name.partition("-")[0] for path in (root / "shared").iterdir()]
    assert sorted(names) == ["floors", "languages", "tasks", "trans.inv"]
    runs = (path.name for path in (root / "shared" / "trans.inv" / "MLM").iterdir())
    assert sorted(name.rpartition("-")[0] for name in runs) == ["seed-0"] * 2 + ["seed-1"] * 2


def test_sweep_table_and_figure_contain_every_value(root):
    (report,) = (root / "pocket").glob("report-*")
    table = table_of((report / "sweep.md").read_text())
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    assert [(row["objective"], row["training steps"]) for row in rows] == [("MLM", "4"), ("MLM", "8")]
    runs = {run.id: run for run in read(report / "runs.jsonl", Run)}
    assert {run.settings["train.steps"] for run in runs.values()} == {"4", "8"} and len(runs) == 2 * 2
    records = read(report / "records.jsonl", Record)
    for row in rows:
        found = [
            record.value
            for record in records
            if (record.measure, record.metric) == ("ZS", "accuracy")
            and runs[record.run].settings == {"train.steps": row["training steps"]}
        ]
        assert len(found) == 2 and row["POS accuracy, ZS"].split()[0] == f"{50 * sum(found):.1f}"
    shown = read(report / "figures" / "figure-sweep.jsonl", Record)
    assert {record.run for record in shown} == set(runs)
    page = (report / "report.html").read_text()
    assert "pocket by training steps" in page and "Differences by" in page


def test_sweep_of_seeds_states_seeds_per_value(root, tmp_path):
    runs = shutil.copytree(root, tmp_path / "runs")
    words = ["pocket", "--runs", runs, *SMALL[:-2], "--set", "train.steps=4", "--sweep", "seeds=0;0,1"]
    code, out, _ = calque("report", *words)
    folder = Path(out.splitlines()[-1]).parent
    assert code == 0
    note = (folder / "sweep.md").read_text().splitlines()[-1]
    assert "one seed (0), no interval; 2 seeds (0, 1)" in note
    assert json.loads((folder / "about.json").read_text())["seeds"] == [0, 1]
    again = tmp_path / "again" / "pocket" / "reports" / folder.name
    assert calque("report", folder, "--runs", tmp_path / "again")[0] == 0
    assert (again / "sweep.md").read_bytes() == (folder / "sweep.md").read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["train.steps=4"], "--sweep train.steps=4: expected key=value,value with two or more different"),
        (["train.steps=4, 4"], "two or more different values"),
        (["transforms=trans,nope"], "--sweep transforms=nope: no transform is called 'nope'"),
        (["train.steps=4,8", "train.steps=2,3"], "names a setting twice"),
        (["train.stesp=4,8"], "did you mean steps?"),
        (["train.steps=4,many"], "not 'many'"),
        (["dictionary.fraction=0.5,2"], "from 0 to 1, not 2"),
        (["paper=align_mlm,nature"], "expected one of align_mlm"),
        (["train.steps=4,8", "seeds=" + ",".join(map(str, range(51)))], "makes 102 variants of the study"),
    ],
)
def test_invalid_sweeps_are_rejected(tiny, options, said):
    told = refusal(lambda: variants(tiny, read_sweep(options)))
    assert said in told and "\n" not in told
