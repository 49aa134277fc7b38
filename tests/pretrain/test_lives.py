import json
import signal

import pytest

from tests.pretrain.lives import STEPS
from tests.processes import run_module

LIVES = {1: 4, 2: 2}
"""How often a run is killed, by its number of processes; `tests/pretrain/lives.py` can do more."""
KILLED, LOST = -signal.SIGKILL, 1
pytestmark = pytest.mark.slow


def die(study, out, size):
    done = run_module("tests.pretrain.lives", study, out, LIVES[size], size)
    return out, json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def died(study, tmp_path_factory):
    return die(study, tmp_path_factory.mktemp("lives"), 1)


@pytest.fixture(scope="module")
def died_of_two(study, tmp_path_factory):
    return die(study, tmp_path_factory.mktemp("lives of two"), 2)


def metrics(run):
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in row.items() if key != "tokens/s"} for row in rows]


def check_same(out, size):
    files = sorted(path.name for path in (out / "whole").rglob("*"))
    names = "config.json manifest.json metrics.jsonl model.safetensors tokenizer.json tokenizer_config.json"
    assert files == ["checkpoint", *names.split()]
    assert sorted(path.name for path in (out / "killed").rglob("*")) == files
    whole, other = (out / name / "checkpoint" / "model.safetensors" for name in ("whole", "killed"))
    assert whole.read_bytes() == other.read_bytes()
    assert metrics(out / "killed") == metrics(out / "whole")
    assert [row["step"] for row in metrics(out / "killed")] == list(range(2, STEPS[size] + 1, 2))


def test_killed_runs_end_with_the_same_weights_and_metrics(died):
    out, status, _ = died
    assert status["uninterrupted"] == status["last life"] == [0]
    assert status["killed"] == [[KILLED]] * LIVES[1]
    check_same(out, 1)


def test_two_processes_survive_either_being_killed(died_of_two):
    out, status, _ = died_of_two
    assert status["uninterrupted"] == status["last life"] == [0, 0]
    assert {tuple(ends) for ends in status["killed"]} == {(KILLED, LOST), (LOST, KILLED)}
    check_same(out, 2)


def test_surviving_process_ends_with_one_line(died_of_two):
    _, status, printed = died_of_two
    lives = status["killed"] + status["stopped"]
    assert all(sorted(ends) == [KILLED, LOST] for ends in lives)
    lines = [line for line in printed.splitlines() if line.startswith("rank ")]
    for line, ends in zip(lines, [*lives, status["waiting"]], strict=True):
        left = ends.index(LOST)
        lost = f"rank {left} cannot continue: one of 2 processes is lost"
        assert line.startswith(f"rank {left}: Lost: {lost}")
