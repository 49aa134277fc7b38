from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from derive.errors import BadInput
from derive.languages import Languages
from pretrain.distributed import ALONE, join
from pretrain.objectives.align_mlm import align_mlm
from pretrain.run import Pretraining, pretrain
from tests.pretrain.made import LANGUAGE, MODEL, OBJECTIVES, TRAIN
from tests.pretrain.ranks import BATCHES, gradients

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ranks(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes over gloo left; one launch for all tests, since it takes many seconds."""
    out = tmp_path_factory.mktemp("ranks")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*launch, "-m", "tests.pretrain.ranks", str(study), str(out)],
        cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("cut", BATCHES)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_two_processes_have_the_gradient_of_one(ranks: Path, languages: Languages, name: str, cut: str) -> None:
    alone, losses = gradients(OBJECTIVES[name], languages, BATCHES[cut], ALONE)
    together = load_file(ranks / f"{name} {cut}.safetensors")
    assert json.loads((ranks / f"{name} {cut}.json").read_text()) == pytest.approx(losses, rel=1e-5, abs=1e-6)
    assert together.keys() == alone.keys()
    for parameter, gradient in alone.items():
        torch.testing.assert_close(together[parameter], gradient, rtol=1e-4, atol=1e-6)


def test_all_processes_stop_at_a_loss_that_is_no_number(ranks: Path) -> None:
    assert [json.loads((ranks / f"stops-{rank}.json").read_text()) for rank in (0, 1)] == [True, True]


def test_a_run_of_two_processes_is_bitwise_the_same_again(ranks: Path) -> None:
    one, again = (ranks / name / "checkpoint" / "model.safetensors" for name in ("run", "again"))
    assert one.read_bytes() == again.read_bytes()
    rows = [json.loads(row) for row in (ranks / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [3, 6, 9, 12]


def test_one_process_finds_the_run_of_two_finished(ranks: Path, study: Path) -> None:
    """Its identity says how many computed it; another configuration is refused all the same."""
    config = Pretraining(study, (LANGUAGE,), align_mlm(), MODEL, TRAIN, seed=0)
    identity = json.loads((ranks / "run" / "manifest.json").read_text())["identity"]
    assert identity["world"] == 2
    assert pretrain(ranks / "run", config, ALONE) == ranks / "run" / "checkpoint"
    with pytest.raises(BadInput, match="begun with"):
        pretrain(ranks / "run", Pretraining(study, (LANGUAGE,), align_mlm(), MODEL, TRAIN, seed=1), ALONE)


def test_without_torchrun_there_is_one_process() -> None:
    world = join()
    assert (world.rank, world.size, world.first) == (0, 1, True)
