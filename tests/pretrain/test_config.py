from dataclasses import fields

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode
from transformers import RobertaConfig, TrainingArguments

from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.model import build, flops_per_id, parameters, prediction_loss
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.train import learning_rate
from calque.pretrain.transport import ALPHA, EPSILON, ITERATIONS


@given(st.integers(1, 500), st.data())
def test_learning_rate_rises_then_falls_linearly(steps, data):
    warmup = data.draw(st.integers(0, steps - 1))
    rates = [learning_rate(1e-3, step, warmup, steps) for step in range(steps)]
    assert all(0 < rate <= 1e-3 * (1 + 1e-12) for rate in rates)
    assert rates[:warmup] == sorted(rates[:warmup])
    assert rates[warmup:] == sorted(rates[warmup:], reverse=True)
    assert rates[warmup] == 1e-3
    assert rates[-1] == pytest.approx(1e-3 / (steps - warmup))


def test_all_mistakes_are_named_at_once():
    shares = {"dropout": 1.0, "attention_dropout": 1.0}
    model = ModelConfig(layers=0, hidden=30, heads=4, length=2, initializer_range=0, **shares)
    for name in ("layers", "hidden", "length", "dropout", "attention_dropout", "initializer_range"):
        assert any(mistake.startswith(name) for mistake in model.mistakes()), name
    wrong = {"batch": 0, "learning_rate": 0, "weight_decay": -1, "betas": (0.9, 1.0), "epsilon": 0.0}
    train = TrainConfig(steps=10, warmup=10, log_every=3, save_every=4, **wrong)
    for name in ("warmup", "save_every", *wrong):
        assert any(mistake.startswith(name) for mistake in train.mistakes()), name


def test_defaults_are_the_papers_and_the_librarys():
    model, train = ModelConfig(), TrainConfig()
    assert (model.layers, model.heads, model.hidden, model.ffn, model.length) == (8, 8, 512, 2048, 512)
    assert (train.steps, train.batch, train.learning_rate, train.warmup) == (500_000, 128, 1e-4, 10_000)
    assert model.mistakes() == train.mistakes() == []
    theirs = {field.name: field.default for field in fields(TrainingArguments)}
    assert model.initializer_range == RobertaConfig().initializer_range
    assert (train.weight_decay, train.clip) == (theirs["weight_decay"], theirs["max_grad_norm"])
    assert (*train.betas, train.epsilon) == tuple(theirs[f"adam_{x}"] for x in ("beta1", "beta2", "epsilon"))
    assert (EPSILON, ITERATIONS, ALPHA) == (1e-6, 2, 0.9)


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 8), st.integers(1, 40), st.integers(8, 64))
def test_parameters_are_counted_right(layers, heads, width, ffn, length):
    config = ModelConfig(layers=layers, heads=heads, hidden=heads * width, ffn=ffn, length=length)
    model = build(config, 50)
    assert sum(p.numel() for p in model.parameters()) == parameters(config, 50)


def test_operations_of_text_equal_torchs_count():
    """As many labels a row, so that no query is padding; all but the layer that attends from labels alone is
    usual.
    """
    model = ModelConfig(layers=3, heads=2, hidden=32, ffn=80, length=20, dropout=0.0)
    learner = MLM().learner(build(model, 50), 0)
    ids = torch.randint(5, 50, (4, model.length))
    batch = Rows(
        ids, torch.where(torch.arange(model.length) < 3, ids, UNLABELLED), torch.zeros_like(ids), False
    )
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counted:
        prediction_loss(learner.model, batch).backward()
    assert counted.get_total_flops() == pytest.approx(flops_per_id(model, 50, 3 / 20) * ids.numel(), rel=1e-9)
