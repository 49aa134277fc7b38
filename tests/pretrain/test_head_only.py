"""A prediction head that is trained while the encoder stays as it is."""

from dataclasses import replace

import pytest
import torch

from calque.derive.languages import Languages
from calque.pretrain.architecture import Architecture
from calque.pretrain.distributed import one_process
from calque.pretrain.objective import After, HeadOnly, Sum
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm_align import XLMAlign
from calque.pretrain.train import make_optimizer, train
from tests.pretrain.made import STILL, TRAIN, new_learner
from tests.pretrain.test_architecture import EACH, foreign

BOTH = HeadOnly(XLMAlign())


def test_the_head_moves_and_the_encoder_with_its_table_stays(languages: Languages) -> None:
    learner, before = new_learner(BOTH), new_learner(BOTH).model.state_dict()
    config = replace(TRAIN, weight_decay=0.1)
    streams = BOTH.streams(languages, STILL.length, 0)
    train(learner, make_optimizer(learner, config), streams, config, 0, one_process())
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
    assert (
        BOTH.name == "XLM-ALIGN-head"
        and BOTH.facets == XLMAlign().facets
        and BOTH.traits.format == XLMAlign().traits.format
    )
    assert BOTH.traits.mask_rate == XLMAlign().traits.mask_rate and not BOTH.mistakes(STILL)
    with pytest.raises(ValueError, match="starts from another model"):
        HeadOnly(After(MLM(), XLMAlign()))


def test_the_encoder_stays_also_when_the_head_is_trained_after_another_objective() -> None:
    """What wraps an objective has all of its traits."""
    after = After(BOTH, MLM())
    assert after.traits.head_only and not after.traits.needs_start and after.name == "XLM-ALIGN-head-after-MLM"
    assert after.flops(STILL, 50) == BOTH.flops(STILL, 50) < XLMAlign().flops(STILL, 50)
    assert (
        new_learner(after).trained.keys() == new_learner(BOTH).trained.keys() < new_learner(XLMAlign()).trained.keys()
    )
    with pytest.raises(ValueError, match="XLM-ALIGN-head trains only the prediction head, which no part of a sum may"):
        Sum("both", (MLM(), BOTH))
