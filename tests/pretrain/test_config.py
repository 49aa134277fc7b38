from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import RobertaConfig, TrainingArguments

from calque.pretrain import mask
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.objective import GROWN
from calque.pretrain.objectives import OBJECTIVES
from calque.pretrain.objectives.align_mlm import Align, AlignMLM
from calque.pretrain.objectives.aligner_training import AlignerTraining
from calque.pretrain.objectives.dict_mlm import DictMLM
from calque.pretrain.objectives.link import Link
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.ppa import PPA
from calque.pretrain.objectives.prealign import Contrast, PreAlign
from calque.pretrain.objectives.repel_mlm import RepelMLM
from calque.pretrain.objectives.rotate_mlm import RotateMLM
from calque.pretrain.objectives.weam import WEAM
from calque.pretrain.objectives.word_aligned import WordAligned
from calque.pretrain.objectives.xlm import TLM, XLM
from calque.pretrain.objectives.xlm_align import DWA, XLMAlign
from calque.pretrain.transport import ALPHA, EPSILON, ITERATIONS


@given(st.integers(1, 500), st.data())
def test_learning_rate_rises_then_falls_linearly(steps, data):
    warmup = data.draw(st.integers(0, steps - 1))
    config = TrainConfig(steps=steps, warmup=warmup, learning_rate=1e-3)
    rates = [config.rate(step) for step in range(steps)]
    assert all(0 < rate <= 1e-3 * (1 + 1e-12) for rate in rates)
    assert rates[:warmup] == sorted(rates[:warmup])
    assert rates[warmup:] == sorted(rates[warmup:], reverse=True)
    assert rates[warmup] == 1e-3
    assert rates[-1] == pytest.approx(1e-3 / (steps - warmup))


def test_defaults_are_the_papers():
    model, train = ModelConfig(), TrainConfig()
    assert (model.layers, model.heads, model.hidden, model.ffn, model.length) == (8, 8, 512, 2048, 512)
    assert (train.steps, train.batch, train.learning_rate, train.warmup) == (500_000, 128, 1e-4, 10_000)
    assert model.mistakes() == train.mistakes() == []


def test_all_mistakes_are_named_at_once():
    shares = {"dropout": 1.0, "attention_dropout": 1.0}
    model = ModelConfig(layers=0, hidden=30, heads=4, length=2, initializer_range=0, **shares)
    said = "\n".join(model.mistakes())
    for name in (
        "layers",
        "multiple of heads",
        "length",
        "\ndropout",
        "attention_dropout",
        "initializer_range",
    ):
        assert name in said
    train = TrainConfig(
        steps=10,
        warmup=10,
        batch=0,
        learning_rate=0,
        weight_decay=-1,
        log_every=3,
        save_every=4,
        betas=(0.9, 1.0),
        epsilon=0.0,
    )
    said = "\n".join(train.mistakes())
    for name in (
        "warmup",
        "batch",
        "learning_rate",
        "weight_decay",
        "multiple of log_every",
        "betas",
        "epsilon",
    ):
        assert name in said


def test_unpublished_values_are_the_librarys_defaults():
    model, train = ModelConfig(), TrainConfig()
    # Creating one requires accelerate.
    theirs = {field.name: field.default for field in fields(TrainingArguments)}
    assert model.initializer_range == RobertaConfig().initializer_range
    assert (train.weight_decay, train.clip) == (theirs["weight_decay"], theirs["max_grad_norm"])
    assert (
        train.betas == (theirs["adam_beta1"], theirs["adam_beta2"])
        and train.epsilon == theirs["adam_epsilon"]
    )
    assert train.grad_accumulation == theirs["gradient_accumulation_steps"]


PAIRS = 0.25
"""The share of parallel sentences in Tables 1 and 6 of ALIGN-MLM."""
XLM_ALIGN = {
    "parallel_fraction": PAIRS,
    "mask_rate": 0.15,
    "tlm": True,
    "queries": "masked",
    "labels": "self",
    "label_layer": None,  # round(10 L / 12)
    "first": "columns",
    "filtering": True,
    "layer": None,  # the last
    "pieces": 1,
}
PAPERS = {
    MLM: {"mask_rate": 0.15},
    TLM: {"parallel_fraction": PAIRS, "mask_rate": 0.15},
    XLM: {"parallel_fraction": PAIRS, "mask_rate": 0.15},
    DictMLM: {"side": "input", "mask_rate": 0.15},
    Align: {"alpha": 10.0},
    AlignMLM: {"alpha": 10.0, "mask_rate": 0.15},
    DWA: XLM_ALIGN,
    XLMAlign: XLM_ALIGN,
    WEAM: {"parallel_fraction": PAIRS, "mask_rate": 0.3, "weight": 1.0, "links": GROWN},
    PPA: {
        "parallel_fraction": PAIRS,
        "mask_rate": 0.15,
        "queue": 32_000,
        "momentum": 0.999,
        "temperature": 0.05,
        "dimensions": 300,
        "beside": "TLM",
    },
    WordAligned: {"parallel_fraction": PAIRS, "weight": 1.0, "links": "intersect", "frozen": False},
    Contrast: {"pairs": 128, "temperature": 0.1, "anchors": "first"},
    PreAlign: {
        "share": 0.05,
        "portion": 0.1,
        "pairs": 128,
        "temperature": 0.1,
        "mask_rate": 0.15,
        "anchors": "first",
    },
    AlignerTraining: {"parallel_fraction": 1.0, "layer": None, "labels": "agreement", "least": 0.1},
    Link: {"share": 0.25, "mask_rate": 0.15},
    RepelMLM: {"alpha": 10.0, "mask_rate": 0.15},
    RotateMLM: {"at": 0.5, "mask_rate": 0.15},
}


def test_objectives_have_their_papers_values():
    assert {kind: vars(kind()) for kind in PAPERS} == PAPERS
    assert set(OBJECTIVES) <= PAPERS.keys()


def test_masks_and_transport_have_their_papers_values():
    assert (mask.MASK_RATE, mask.MASKED, mask.RANDOM) == (0.15, 0.8, 0.1)
    assert (EPSILON, ITERATIONS, ALPHA) == (1e-6, 2, 0.9)


def test_labels_come_from_layer_ten_of_twelve():
    layers = np.arange(1, 25)
    assert [DWA().labelling_layer(n) for n in layers] == [max(1, round(10 * n / 12)) for n in layers.tolist()]
    assert DWA(label_layer=8).labelling_layer(12) == 8 and DWA().mistakes(ModelConfig(layers=12)) == []
