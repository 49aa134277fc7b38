"""What is left of a run whose process dies: the same bits as of one that lives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pretrain.lives import FULL_AT, STEPS, TRAINING

LIVES = 20
pytestmark = pytest.mark.slow
Died = tuple[Path, dict[str, Any], str]


@pytest.fixture(scope="module")
def died(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Died:
    """The folder of three runs, what their processes died of, and what they said."""
    out = tmp_path_factory.mktemp("lives")
    done = subprocess.run(
        [sys.executable, "-m", "tests.pretrain.lives", str(study), str(out), str(LIVES)],
        cwd=Path(__file__).parents[2], env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out, json.loads(done.stdout), done.stderr


def metrics(run: Path) -> list[dict[str, Any]]:
    """What a run logged, without what the clock says."""
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{key: value for key, value in row.items() if key not in ("tokens/s", "mfu")} for row in rows]


@pytest.mark.parametrize("run", ["killed", "full"])
def test_the_same_weights_and_metrics(died: Died, run: str) -> None:
    out, _, _ = died
    files = sorted(path.name for path in (out / "whole").rglob("*"))
    assert files == [
        "checkpoint",
        "config.json",
        "manifest.json",
        "metrics.jsonl",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    assert sorted(path.name for path in (out / run).rglob("*")) == files  # and nothing half-written beside them
    whole, other = (out / name / "checkpoint" / "model.safetensors" for name in ("whole", run))
    assert whole.read_bytes() == other.read_bytes()
    assert metrics(out / run) == metrics(out / "whole")
    assert [row["step"] for row in metrics(out / run)] == list(range(2, STEPS + 1, 2))


def test_they_died_as_meant(died: Died) -> None:
    _, status, said = died
    assert status["uninterrupted"] == status["last life"] == status["with room again"] == 0
    assert status["killed"] == [signal.SIGKILL] * LIVES
    assert os.waitstatus_to_exitcode(status["disk full"]) == 1
    assert "File too large" in said


def test_a_full_disk_leaves_the_last_good_state(died: Died) -> None:
    _, status, _ = died
    last = FULL_AT - FULL_AT % TRAINING.save_every
    assert status["left by it"] == [f"step-{last:09d}"]
