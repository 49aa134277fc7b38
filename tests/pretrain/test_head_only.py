from dataclasses import replace

import torch

from calque.pretrain.objective import HeadOnly
from calque.pretrain.objectives.xlm_align import XLMAlign
from tests.pretrain.made import STILL, TRAIN, fit, new_learner

BOTH = HeadOnly(XLMAlign())


def test_head_only_training_keeps_the_encoder(languages):
    learner, before = new_learner(BOTH), new_learner(BOTH).model.state_dict()
    config = replace(TRAIN, weight_decay=0.1)
    streams = BOTH.streams(languages, STILL.length, 0)
    fit(learner, streams, config)
    after = learner.model.state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert moved == {name for name in before if name.startswith("lm_head.")} - {"lm_head.decoder.weight"}
    assert {name.split(".")[0] for name in learner.trained} == {"model", "own"}
