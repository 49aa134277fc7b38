import json
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST
from calque.experiments.study.measuring import read_measured
from tests.experiments.conftest import ROOT, SETTINGS, Done, Heard, weights
from tests.processes import below, wait_for
from tests.refusals import refusal


def test_stages_leave_inputs_for_the_next(done):
    assert (done.data / "preview.txt").is_file()
    assert sorted(done.heard.begun) == sorted(done.heard.finished)
    for model in done.models():
        measures = done.measures(model)
        names = {path.name for path in model.folder.iterdir()}
        assert names == {
            "checkpoint",
            "metrics.jsonl",
            MANIFEST,
            *(step.folder.name for step in measures.values()),
        }
        found = {name: read_measured(step).records for name, step in measures.items()}
        (order,) = found["order"]
        assert order.value == done.languages.open().facts["languages"]["trans.inv"]["order distance"] > 0.5
        assert sorted({record.step for record in found["alignment"]}) == [4, 8, 12]
        assert {record.measure for record in found["pos"]} == {"SRC", "ZS", "SUP", "DEV", "CUT", "DELTA"}
        assert {record.run for record in done.records(model)} == {model.run.id}


def test_finished_steps_are_not_recomputed(done):
    before, heard = {path: path.stat().st_mtime_ns for path in done.root.rglob("*")}, Heard()
    for jobs in (1, 2):
        done.compute(jobs=jobs, report=heard)
    assert {path: path.stat().st_mtime_ns for path in done.root.rglob("*")} == before and heard.begun == []


@pytest.mark.slow
def test_parallel_jobs_give_the_same_bits_and_errors(done, derived):
    places = derived.changed("objectives=MLM,ALIGN-MLM,DICT-MLM")
    (places.model("DICT-MLM").folder / "resume" / "step-000000004").mkdir(parents=True)
    with pytest.raises(BadInput, match="this state is incomplete") as there:
        places.compute("pretrain", jobs=2)
    assert list(map(weights, derived.models())) == list(map(weights, done.models()))
    assert str(there.value) == refusal(places.compute, "pretrain")


@pytest.mark.slow
def test_processes_of_torchrun_share_a_study(done, tmp_path):
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    ran = subprocess.run(
        [*launch, "-m", "experiments", "run", "pocket", "--runs", str(tmp_path), "--jobs", "1", *SETTINGS],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    places = Done(tmp_path, done.study)
    assert (places.study.report(tmp_path, changed=True) / "report.html").is_file()
    assert ran.stdout.count("report.html") == 1
    for model in places.models():
        assert model.step.open().facts["identity"]["world"] == 2
        rows, alone = (
            [json.loads(row) for row in (root / model.run.id / "metrics.jsonl").read_text().splitlines()]
            for root in (places.home, done.home)
        )
        losses = [row["loss"] for row in rows if "loss" in row]
        for loss, expected in zip(losses, [row["loss"] for row in alone if "loss" in row], strict=True):
            assert loss == pytest.approx(expected, rel=1e-3)


@contextmanager
def begun(words, **environment):
    ran = subprocess.Popen(
        [sys.executable, "-m", "experiments", *words],
        cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield ran
    finally:
        ran.kill()
        with ran:
            pass


@pytest.mark.slow
def test_two_commands_share_models(done, tmp_path):
    place = ["pocket", "--runs", str(tmp_path), "--jobs", "1", *SETTINGS]
    with begun(["pretrain", *place]) as first:
        wait_for(lambda: below(tmp_path, ".languages-*.claim"), first)
        with begun(["run", *place]) as second:
            for command in (first, second):
                _, err = command.communicate()
                assert (command.returncode, err) == (0, "")
    places = Done(tmp_path, done.study)
    assert list(map(weights, places.models())) == list(map(weights, done.models()))
    assert not [path for kind in ("part", "claim", "compute") for path in tmp_path.rglob(f".*.{kind}")]
