import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

import calque
from calque.analysis.measures.alignment import HITS
from calque.analysis.records.record import ALIGNMENT
from calque.derive.errors import BadInput
from calque.derive.files import Artefact
from calque.experiments.run.step import COMPUTE, total_cost
from calque.experiments.session import StudySession
from calque.experiments.study.measures import read_measured
from calque.pretrain.model import state_of
from calque.pretrain.run import CHECKPOINT, METRICS, TRAINED_ON, read_metrics, runs_of
from calque.pretrain.saved_model import RUN, load_model
from tests.experiments.conftest import ROOT, SETTINGS, TINY, Done, finished, started, weights
from tests.processes import below, wait_for
from tests.refusals import refusal


def test_studies_share_models(done, tmp_path):
    shutil.copytree(done.root, tmp_path, dirs_exist_ok=True)
    other = finished(tmp_path, done.changed("dictionary.fraction=0.5").study.changed(name="other"))
    assert [title for title in other.heard.finished if title.startswith("pretrain")] == [
        "pretrain trans.inv/ALIGN-MLM/seed-0"
    ]
    assert other.model("MLM").folder.name == done.model("MLM").folder.name
    shared, own = (
        {(r.metric, r.step): r for r in each.records(each.model("MLM")) if r.measure == ALIGNMENT}
        for each in (done, other)
    )
    assert {step for metric, step in own if metric == "held-out"} == {4, 8, 12}
    for metric in ("all", "held-out", "dictionary"):
        alike = [own[metric, step].count == shared[metric, step].count for step in (4, 8, 12)]
        assert alike == [metric == "all"] * 3
    assert any(HITS in row for row in read_metrics(other.model("MLM").folder / "metrics.jsonl"))


def test_steps_record_compute(derived):
    derived.compute("pretrain")
    steps = derived.study.trained(derived.root)
    costs = [Artefact.open(step.folder, step.kind).facts[COMPUTE] for step in steps]
    both = total_cost(steps)
    assert both["steps"] == 2
    assert both["seconds"] == pytest.approx(sum(cost["seconds"] for cost in costs), abs=0.1)


def test_sweep_from_python_returns_a_data_frame(done, tmp_path):
    shutil.copytree(done.home, tmp_path / "shared")
    sweep = {"dictionary.fraction": [0.25, 0.5]}
    session = calque.study("pocket", *TINY, "measures=alignment", runs=tmp_path, sweep=sweep, name="amounts")
    report = session.run(jobs=1)
    assert report == tmp_path / "pocket" / "reports" / "amounts" == session.report
    rows = session.records()
    assert set(rows["dictionary.fraction"]) == {0.25, 0.5} and set(rows["objective"]) == {"MLM", "ALIGN-MLM"}
    assert set(rows["language"]) >= {"trans.inv"} and all(Path(path).is_dir() for path in rows["path"])
    models = session.models()
    assert len(models) == 3 and all(model.languages == ("source", "trans.inv") for model in models.values())
    assert json.loads((report / "about.json").read_text())[COMPUTE]["seconds"] > 0


def pack(runs, file):
    """Write finished runs to a file."""
    tensors, metadata = {}, {}
    for name, folder in runs.items():
        model, _ = load_model(folder / CHECKPOINT, with_head=True)
        tensors |= {f"{name}/{key}": weights.half() for key, weights in state_of(model).items()}
        facts, metrics = Artefact.open(folder, RUN).facts, (folder / METRICS).read_text()
        del facts[TRAINED_ON]  # differs where the file is unpacked
        metadata[name] = json.dumps({"facts": facts, "metrics": metrics})
    save_file(tensors, file, metadata)


@pytest.fixture
def file(done, tmp_path):
    file = tmp_path / "runs.safetensors"
    pack({step.config.name_in_file: step.folder for step in done.study.trained(done.root)}, file)
    return file


def test_unpacked_run_equals_the_run_in_half_precision(done, file):
    again = Done(done.root, done.study.changed(shipped=file))
    again.compute("pretrain")
    for run, unpacked in zip(done.models(), again.models(), strict=True):
        assert run.folder != unpacked.folder and unpacked.training.shipped
        names = [path.relative_to(run.checkpoint) for path in run.checkpoint.rglob("*.json")]
        assert len(names) > 4
        for name in (*(Path(CHECKPOINT) / name for name in names), Path(METRICS)):
            assert (run.folder / name).read_bytes() == (unpacked.folder / name).read_bytes()
        ours, theirs = (load_file(each.checkpoint / "model.safetensors") for each in (run, unpacked))
        assert ours.keys() == theirs.keys()
        assert all((ours[name].half().float() == theirs[name]).all() for name in ours)
        assert run.step.open().facts["identity"] == unpacked.step.open().facts["identity"]
        assert calque.load(unpacked.checkpoint).derived == ("trans.inv",)


def test_damaged_and_missing_files_of_runs_are_rejected(file, tmp_path):
    damaged = tmp_path / "damaged.safetensors"
    for length in (None, 0, 2_000, -1):
        if length is not None:
            damaged.write_bytes(file.read_bytes()[:length])
        with pytest.raises(BadInput, match=damaged.name):
            runs_of(damaged)


def test_stages_leave_inputs_for_the_next(done):
    assert (done.data / "preview.txt").is_file()
    assert sorted(done.heard.begun) == sorted(done.heard.finished)
    for model in done.models():
        measures = done.measures(model)
        found = {name: read_measured(step)[1] for name, step in measures.items()}
        (order,) = found["order"]
        assert order.value == done.languages.open().facts["languages"]["trans.inv"]["order distance"] > 0.5
        assert sorted({record.step for record in found["alignment"]}) == [4, 8, 12]
        assert {record.measure for record in found["pos"]} == {"SRC", "ZS", "SUP", "DEV", "DELTA"}
        assert {record.run for record in done.records(model)} == {model.run.id}


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
        [*launch, "-m", "calque", "run", "pocket", "--runs", str(tmp_path), "--jobs", "1", *SETTINGS],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    places = Done(tmp_path, done.study)
    assert (StudySession(done.study, tmp_path, tuple(TINY)).report / "report.html").is_file()
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


@pytest.mark.slow
def test_two_commands_share_models(done, tmp_path):
    place = ["pocket", "--runs", str(tmp_path), "--jobs", "1", *SETTINGS]
    with started("run", *place, "--name", "first") as first:
        wait_for(lambda: below(tmp_path, ".languages-*.claim"), first)
        with started("run", *place) as second:
            for command in (first, second):
                _, err = command.communicate()
                assert (command.returncode, err) == (0, "")
    places = Done(tmp_path, done.study)
    assert list(map(weights, places.models())) == list(map(weights, done.models()))
    assert not [path for kind in ("part", "claim", "compute") for path in tmp_path.rglob(f".*.{kind}")]
