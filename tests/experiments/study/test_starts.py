from dataclasses import replace
from pathlib import Path

import pytest

from calque.analysis.records.record import AER, LABELS
from calque.derive.files import MANIFEST
from calque.derive.fingerprint import sha256
from calque.experiments.settings.override import override
from calque.experiments.study.models import GivenModel
from calque.pretrain.run import CHECKPOINT
from tests.experiments.conftest import Done, finished, weights

OBJECTIVES = "MLM,XLM-ALIGN,XLM-ALIGN-after-MLM,XLM-ALIGN-no-dwa-after-MLM,MLM-after-ALIGN-MLM-for-75"


@pytest.fixture(scope="module")
def study(tiny):
    return override(replace(tiny, paper="xlm_align"), [f"objectives={OBJECTIVES}"])


@pytest.fixture(scope="module")
def done(study, tmp_path_factory):
    return finished(tmp_path_factory.mktemp("starts"), study)


def test_start_is_shared_and_takes_its_share_of_steps(study):
    done = Done(Path(), study)
    starts = [(start.config.objective.name, start.config.train.steps) for start in done.starts()]
    assert starts == [("MLM", 6), ("ALIGN-MLM", 9)]
    assert [model.training.train.steps for model in done.models()] == [12, 12, 6, 6, 3]
    folders = {step.folder for step in study.trained()}
    assert len(folders) == len(starts) + len(done.models())


@pytest.mark.slow
def test_models_start_from_their_starts_weights(done):
    first, second = map(weights, done.starts())
    begun = [model.weights.open().facts["identity"].get("start") for model in done.models()]
    assert begun == [None, None, first, first, second]
    assert done.heard.finished.count("pretrain trans.inv/ALIGN-MLM/seed-0") == 1
    for start in done.starts():
        assert {path.name for path in start.folder.iterdir()} == {"checkpoint", "metrics.jsonl", MANIFEST}


@pytest.mark.slow
def test_steps_count_from_the_start(done):
    rows = {model.training.objective.name: done.records(model) for model in done.models()}
    steps = {name: sorted({r.step for r in found if r.measure == LABELS}) for name, found in rows.items()}
    assert steps == {
        "MLM": [],
        "XLM-ALIGN": [4, 8, 12],
        "XLM-ALIGN-after-MLM": [10, 12],
        "XLM-ALIGN-no-dwa-after-MLM": [],
        "MLM-after-ALIGN-MLM-for-75": [],
    }
    for found in rows.values():
        layers = {(r.layer, r.joint): r for r in found if r.measure == AER}
        assert set(layers) == {(layer, joint) for layer in (0, 1) for joint in (False, True)}
        assert len({r.count for r in layers.values()}) == 1
        assert all(0 <= r.value <= 1 for r in layers.values())


@pytest.mark.slow
def test_study_may_start_from_any_checkpoint(done, tmp_path):
    begun = done.starts()[0].folder / CHECKPOINT
    places = Done(tmp_path, override(done.study, [f"start={begun}", "objectives=XLM-ALIGN", "train.steps=6"]))
    (model,) = places.models()
    assert model.folder.name != places.changed("start=none").model("XLM-ALIGN").folder.name
    start = model.run.start
    # Records distinguish it from random weights.
    assert start.objective.name == GivenModel(begun).fingerprint
    assert start.objective.parts == ({"kind": "GivenModel", "weights": sha256(begun / "model.safetensors")},)
    places.compute("pretrain")
    assert weights(model) == weights(done.model("XLM-ALIGN-after-MLM"))
