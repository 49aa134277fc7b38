import json

import pytest
import torch
from safetensors.torch import load_file

from tests.pretrain.made import OBJECTIVES, one_process
from tests.pretrain.ranks import BATCHES, CHANGED_AT, EVERY, MIXED, MOST, PRECISION, SIZES, STEPS, gradients
from tests.processes import run_module

CLOSE = 1e-6
NO_MATTER = "key.bias"
"""Softmax is invariant to a bias of all keys: its gradient is 0, and AdamW steps by rounding errors."""
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ranks(study, tmp_path_factory):
    out = tmp_path_factory.mktemp("ranks")
    run_module("tests.pretrain.ranks", study, out)
    return out


@pytest.fixture
def double_precision():
    torch.set_default_dtype(PRECISION)
    yield
    torch.set_default_dtype(torch.float32)


def seen(paths):
    parts = [json.loads(path.read_text()) for path in paths]
    return [[row for part in same for row in part] for same in zip(*parts, strict=True)]


def farthest(one, other):
    a, b = load_file(one), load_file(other)
    assert a.keys() == b.keys()
    return max(float((a[name] - b[name]).abs().max()) for name in a if not name.endswith(NO_MATTER))


@pytest.mark.parametrize("name", [*EVERY, MIXED])
def test_processes_train_like_one(ranks, name):
    alone = seen([ranks / f"{name} seen 1-0.json"])
    together = seen([ranks / f"{name} seen {MOST}-{rank}.json" for rank in range(MOST)])
    assert together == alone
    assert len(alone) >= STEPS
    assert len({tuple(rows) for rows in alone if rows}) > STEPS / 2  # steps differ
    assert farthest(ranks / f"{name} 1.safetensors", ranks / f"{name} {MOST}.safetensors") < CLOSE


@pytest.mark.parametrize("size", [size for size in SIZES if size != 2])
def test_process_count_changes_only_if_allowed(ranks, size):
    refused = f"this run was started with world 2, not {size}"
    for rank in range(size):
        said = json.loads((ranks / f"changed to {size} said-{rank}.json").read_text())
        assert refused in said[0]
        assert said[1:] == ["finished"]
    whole = seen([ranks / f"whole seen-{rank}.json" for rank in range(2)])
    rest = seen([ranks / f"changed to {size} seen-{rank}.json" for rank in range(size)])
    streams = len(whole) // STEPS
    assert rest == whole[CHANGED_AT * streams :]
    weights = "checkpoint/model.safetensors"
    assert 0 < farthest(ranks / "whole" / weights, ranks / f"changed to {size}" / weights) < CLOSE


def test_same_process_count_resumes_bitwise(ranks):
    for rank in range(2):
        assert json.loads((ranks / f"changed to 2 said-{rank}.json").read_text()) == ["finished"]
    whole, resumed = (ranks / name / "checkpoint" / "model.safetensors" for name in ("whole", "changed to 2"))
    assert whole.read_bytes() == resumed.read_bytes()


@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize("cut", BATCHES)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_two_processes_have_the_gradient_of_one(ranks, languages, name, cut):
    alone, losses = gradients(OBJECTIVES[name], languages, BATCHES[cut], one_process())
    together = load_file(ranks / f"{name} {cut}.safetensors")
    assert json.loads((ranks / f"{name} {cut}.json").read_text()) == pytest.approx(losses, rel=1e-5, abs=1e-6)
    assert together.keys() == alone.keys()
    for parameter, gradient in alone.items():
        torch.testing.assert_close(together[parameter], gradient, rtol=1e-4, atol=1e-6)


def test_two_process_runs_repeat_bitwise(ranks):
    one, again = (ranks / name / "checkpoint" / "model.safetensors" for name in ("run", "again"))
    assert one.read_bytes() == again.read_bytes()
    rows = [json.loads(row) for row in (ranks / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [3, 6, 9, 12]
