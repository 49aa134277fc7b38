"""What an objective has of its own: tied to the model, resumed with it, and no part of its checkpoint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from derive.languages import Languages
from pretrain.distributed import ALONE
from pretrain.model import Learner
from pretrain.objective import Sum
from pretrain.objectives.mlm import MLM
from pretrain.run import Pretraining, pretrain
from pretrain.train import Draws, make_optimizer, train
from tests.pretrain.made import LANGUAGE, MODEL, TRAIN, new_learner
from tests.pretrain.momentum import ROOM, Momentum

BOTH = Sum("both", (MLM(), Momentum()))
DECAYING = replace(TRAIN, weight_decay=0.1)


def trained(languages: Languages) -> Learner:
    learner = new_learner(BOTH, MODEL)
    train(learner, make_optimizer(learner, DECAYING), BOTH.streams(languages, MODEL.length, 0), DECAYING, 0, ALONE)
    return learner


def test_a_tied_parameter_is_one_parameter() -> None:
    learner = new_learner(BOTH, MODEL)
    own: Any = learner.own["contrast"]
    assert own.table is learner.model.get_input_embeddings().weight
    names = set(learner.trained)
    assert "model.roberta.embeddings.word_embeddings.weight" in names
    assert {name for name in names if name.startswith("own.")} == {
        "own.contrast.project.weight",
        "own.contrast.project.bias",
    }
    state = set(learner.state)
    assert state == names | {"own.contrast.slow", "own.contrast.keys", "own.contrast.taken"}


def test_what_follows_the_model_is_not_decayed_and_the_queue_moves(languages: Languages) -> None:
    before: Any = new_learner(BOTH, MODEL).own["contrast"]
    own: Any = trained(languages).own["contrast"]
    # With weight decay and no gradient AdamW would have shrunk it; it is where following the table led.
    apart = (own.slow - own.table).norm() / (before.slow - own.table).norm()
    assert 0 < apart < 1
    _, rows = Draws(BOTH.streams(languages, MODEL.length, 0), TRAIN.batch, 0).rows
    assert int(own.taken) == TRAIN.steps * rows
    assert not own.keys.equal(before.keys)
    assert len(own.keys) == ROOM


def test_two_modules_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="a module 'contrast'"):
        new_learner(Sum("twice", (Momentum(), Momentum())), MODEL)


class Stop(Exception):
    """Ends a run in the middle."""


@pytest.mark.parametrize("at", [3, 7, 11])
def test_a_run_resumes_to_the_same_bits(at: int, study: Path, languages: Languages, tmp_path: Path) -> None:
    config = Pretraining(study, (LANGUAGE,), BOTH, MODEL, DECAYING, seed=0)

    def stop(step: int, steps: int) -> None:
        if step == at:
            raise Stop

    with pytest.raises(Stop):
        pretrain(tmp_path / "run", config, ALONE, progress=stop)
    (state,) = (tmp_path / "run" / "resume").glob("step-*")
    assert {"own.contrast.keys", "own.contrast.taken", "own.contrast.slow"} < load_file(
        state / "model.safetensors"
    ).keys()
    checkpoint = pretrain(tmp_path / "run", config, ALONE)
    weights, whole = load_file(checkpoint / "model.safetensors"), trained(languages).model.state_dict()
    assert not [name for name in weights if "contrast" in name]
    assert all(whole[name].equal(value) for name, value in weights.items())
    assert torch.equal(whole["lm_head.decoder.weight"], weights["roberta.embeddings.word_embeddings.weight"])
