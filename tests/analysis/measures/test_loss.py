import numpy as np
import pytest
import torch
from torch.nn import functional as F

from calque.analysis.measures.probing import (
    gradient_cosine,
    layer_gradients,
    masked_loss,
    shuffled_cosines,
)
from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.config import ModelConfig
from calque.pretrain.model import build, prediction_loss

MODEL = ModelConfig(layers=2, heads=2, hidden=16, ffn=32, length=16, dropout=0.1, initializer_range=0.1)
TYPES = 60


def rows(seed):
    random = np.random.default_rng(seed)
    ids = torch.from_numpy(random.integers(5, TYPES, (6, 16)))
    labels = torch.where(torch.from_numpy(random.random((6, 16))) < 0.2, ids, UNLABELLED)
    labels[0, 0] = ids[0, 0]
    return Rows(ids, labels, torch.zeros_like(ids), padded=False)


def test_gradient_cosine_equals_transformers_gradients():
    model = build(MODEL, TYPES).eval()
    flat = []
    for seed in (0, 1):
        batch = rows(seed)
        model.zero_grad()
        model(input_ids=batch.ids, labels=batch.labels).loss.backward()
        layers = [p.grad for name, p in model.named_parameters() if ".layer." in name]
        flat.append(torch.cat([gradient.flatten() for gradient in layers]).double())
        model.zero_grad()
    first, second = (layer_gradients(model, rows(seed), rows(seed).labelled) for seed in (0, 1))
    assert sum(gradient.numel() for gradient in first) == len(flat[0]) == 2 * 2224
    expected = float(F.cosine_similarity(flat[0], flat[1], dim=0))
    assert gradient_cosine(first, second) == pytest.approx(expected, rel=1e-4)
    assert gradient_cosine(first, first) == pytest.approx(1)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_shuffled_units_are_rows_in_another_order():
    random = np.random.default_rng(3)
    shapes = ((4, 3), (5, 1))
    first, second = ([torch.from_numpy(random.normal(size=shape)) for shape in shapes] for _ in range(2))
    ours = shuffled_cosines(first, second, 3, seed=7)
    orders, expected = np.random.default_rng(7), np.zeros(3)
    for a, b in zip(first, second, strict=True):
        expected += [float((a * b[torch.from_numpy(orders.permutation(len(b)))]).sum()) for _ in range(3)]
    size = [float(torch.cat([g.flatten() for g in gradient]).norm()) for gradient in (first, second)]
    assert ours == pytest.approx(expected / (size[0] * size[1]))
    many = shuffled_cosines([torch.randn(200, 50)], [torch.randn(200, 50)], 300, seed=0)
    assert abs(many.mean()) < 0.01


def test_masked_loss_equals_pretraining_loss():
    model, batch = build(MODEL, TYPES).eval(), rows(0)
    with torch.no_grad():
        expected = float(prediction_loss(model, batch)) / batch.labelled
    loss, count, shuffled = masked_loss(model, batch, 50, seed=0)
    assert loss == pytest.approx(expected, rel=1e-5)
    assert count == batch.labelled
    assert shuffled.shape == (50,)
