"""A prediction head that is trained while the encoder stays as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from derive.languages import Languages
from pretrain.architecture import Architecture
from pretrain.distributed import ALONE
from pretrain.objectives.after import After
from pretrain.objectives.head_only import HeadOnly
from pretrain.objectives.mlm import MLM
from pretrain.objectives.xlm_align import xlm_align
from pretrain.train import make_optimizer, train
from tests.pretrain.made import STILL, TRAIN, new_learner
from tests.pretrain.test_architecture import EACH, foreign

BOTH = HeadOnly(xlm_align())


def test_the_head_moves_and_the_encoder_with_its_table_stays(languages: Languages) -> None:
    learner, before = new_learner(BOTH), new_learner(BOTH).model.state_dict()
    config = replace(TRAIN, weight_decay=0.1)
    streams = BOTH.streams(languages, STILL.length, 0)
    train(learner, make_optimizer(learner, config), streams, config, 0, ALONE)
    after = learner.model.state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert moved == {name for name in before if name.startswith("lm_head.")} - {"lm_head.decoder.weight"}
    assert {name.split(".")[0] for name in learner.trained} == {"model", "own"}


@EACH
def test_the_table_stays_by_whatever_name_a_model_has_it(spelt: Architecture) -> None:
    model = spelt.masked_model(foreign(spelt))
    trained = set(map(id, HeadOnly(MLM()).learner(model, 0).trained.values()))
    head = {id(parameter) for parameter in getattr(model, spelt.head).parameters()}
    assert trained == head - {id(model.get_input_embeddings().weight)} and len(trained) == 5


def test_it_is_of_its_objective_and_begins_with_no_other() -> None:
    assert BOTH.name == "XLM-ALIGN-head" and BOTH.facets == xlm_align().facets and BOTH.format == xlm_align().format
    assert BOTH.mask_rate == xlm_align().mask_rate and not BOTH.mistakes(STILL)
    with pytest.raises(ValueError, match="begins with another model"):
        HeadOnly(After(MLM(), xlm_align()))
