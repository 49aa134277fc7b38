import pytest

from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.saved_model import MACHINE, METRICS, MOMENTS, WEIGHTS, load_state, save_state
from calque.pretrain.train import make_optimizer
from tests.pretrain.made import MODEL, TRAIN, fit, new_learner

IDENTITY = {"data": "made", "seed": 0} | dict.fromkeys(sorted(MACHINE), "ours")
SNAPSHOTS = {"step-000000004.safetensors": "made"}


@pytest.fixture(scope="module")
def trained(languages):
    learner = new_learner(MLM(), MODEL)
    optimizer = make_optimizer(learner, TRAIN)
    fit(learner, MLM().streams(languages, MODEL.length, 0), optimizer=optimizer)
    return learner, optimizer


def save(folder, step, trained):
    rows = folder.parent / METRICS
    if not rows.exists():
        rows.parent.mkdir(parents=True, exist_ok=True)
        rows.write_text("rows\n")
    save_state(folder, step, *trained, rows, {"identity": IDENTITY, "snapshots": SNAPSHOTS})


@pytest.fixture
def saved(trained, tmp_path):
    save(tmp_path / "resume", 7, trained)
    return tmp_path / "resume"


def fresh():
    learner = new_learner(MLM(), MODEL, seed=1)
    return learner, make_optimizer(learner, TRAIN)


def test_saved_state_is_loaded(saved, trained):
    model, optimizer = fresh()
    step, state = load_state(saved, model, optimizer, IDENTITY)
    assert step == 7 and state and state.facts["snapshots"] == SNAPSHOTS
    assert state.path(METRICS).read_text() == "rows\n"
    for p, q in zip(model.parameters(), trained[0].parameters(), strict=True):
        assert p.equal(q)
        for kind in ("step", "exp_avg", "exp_avg_sq"):
            assert optimizer.state[p][kind].equal(trained[1].state[q][kind])


def test_last_state_replaces_earlier_ones(saved, trained):
    (saved / ".step-000000008.123-a.part").mkdir()
    save(saved, 100, trained)
    assert [path.name for path in saved.iterdir()] == ["step-000000100"]
    assert load_state(saved, *fresh(), IDENTITY)[0] == 100


def test_later_state_is_loaded(saved, trained):
    save(saved.parent / "other", 12, trained)
    (saved.parent / "other" / "step-000000012").rename(saved / "step-000000012")
    assert load_state(saved, *fresh(), IDENTITY)[0] == 12


@pytest.mark.parametrize("name", [WEIGHTS, MOMENTS, MANIFEST])
@pytest.mark.parametrize("damage", ["missing", "empty", "half"])
def test_incomplete_state_is_rejected(saved, name, damage):
    path = saved / "step-000000007" / name
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes(content[: len(content) // 2 if damage == "half" else 0])
    with pytest.raises(BadInput, match="step-000000007"):
        load_state(saved, *fresh(), IDENTITY)
