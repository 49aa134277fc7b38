import json

import pytest

from calque.analysis.records.record import RECORDS, RUNS
from calque.experiments.report.folder import joined_rows
from tests.experiments.committed import ROOT

MISSING = {"language": "", "task": "", "split": "", "layer": None, "step": 0, "count": 0, "path": ""}


@pytest.mark.parametrize("name", ["xlm_align_pocket", "word_alignment"])
def test_joined_rows_contain_record_and_run_fields(name):
    lines = {file: (ROOT / name / file).read_text().splitlines() for file in (RUNS, RECORDS)}
    runs = {run["id"]: run for run in map(json.loads, lines[RUNS])}
    rows = joined_rows(ROOT / name)
    assert len(rows) == len(lines[RECORDS])
    for row, record in zip(rows, map(json.loads, lines[RECORDS]), strict=True):
        run = runs[record["run"]]
        of_run = {key: run[key] for key in ("study", "seed")}
        of_run |= {key: run[key]["name"] if run.get(key) else "" for key in ("objective", "mixture")}
        of_run["start"] = run["start"]["objective"]["name"] if run.get("start") else ""
        assert row == of_run | MISSING | record


def test_sweep_value_is_a_field(tmp_path):
    for file in (RUNS, RECORDS):
        (tmp_path / file).write_text((ROOT / "control" / file).read_text().splitlines()[0] + "\n")
    run = json.loads((tmp_path / RUNS).read_text()) | {"settings": {"train.steps": "7"}}
    (tmp_path / RUNS).write_text(json.dumps(run) + "\n")
    assert [row["train.steps"] for row in joined_rows(tmp_path)] == [7]
