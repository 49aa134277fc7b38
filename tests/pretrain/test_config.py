from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import RobertaConfig, TrainingArguments

from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.objectives.xlm_align import DWA
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


def test_labels_come_from_layer_ten_of_twelve():
    layers = np.arange(1, 25)
    assert [DWA().labelling_layer(n) for n in layers] == [max(1, round(10 * n / 12)) for n in layers.tolist()]
    assert DWA(label_layer=8).labelling_layer(12) == 8 and DWA().mistakes(ModelConfig(layers=12)) == []
