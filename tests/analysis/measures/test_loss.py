import numpy as np
import pytest
import torch
from torch.nn import functional as F
from transformers import RobertaForMaskedLM

from calque.analysis.measures.loss import (
    gradient_cosine,
    held_out_loss,
    layer_gradients,
    masked_loss,
    shuffled_cosines,
)
from calque.analysis.records.record import HELD_OUT, MeasuredModel
from calque.derive.languages import Languages, only_last
from calque.derive.script import Cognates, Transliterate
from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.config import ModelConfig
from calque.pretrain.mask import MASK_RATE
from calque.pretrain.model import build, prediction_loss
from calque.pretrain.objectives.mlm import Monolingual
from tests.pocket import derive_pocket

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
    first, second = (layer_gradients(model, rows(seed)) for seed in (0, 1))
    assert sum(gradient.numel() for gradient in first) == len(flat[0]) == 2 * 2224
    expected = float(F.cosine_similarity(flat[0], flat[1], dim=0))
    assert gradient_cosine(first, second) == pytest.approx(expected, rel=1e-4)
    assert gradient_cosine(first, first) == pytest.approx(1)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_shuffled_units_are_rows_in_another_order():
    random = np.random.default_rng(3)
    first, second = (
        [torch.from_numpy(random.normal(size=shape)) for shape in ((4, 3), (5, 1))] for _ in range(2)
    )
    ours = shuffled_cosines(first, second, 3, seed=7)
    orders, expected = np.random.default_rng(7), np.zeros(3)
    for a, b in zip(first, second, strict=True):
        expected += [float((a * b[torch.from_numpy(orders.permutation(len(b)))]).sum()) for _ in range(3)]
    size = [float(torch.cat([g.flatten() for g in gradient]).norm()) for gradient in (first, second)]
    assert ours == pytest.approx(expected / (size[0] * size[1]))
    many = shuffled_cosines([torch.randn(200, 50)], [torch.randn(200, 50)], 300, seed=0)
    assert abs(many.mean()) < 0.01


LENGTH, SHARE = 24, 0.25


@pytest.fixture(scope="module")
def languages(tmp_path_factory):
    clones = Transliterate(), Cognates(0.0)
    return Languages.open(
        derive_pocket(tmp_path_factory.mktemp("held"), *clones, types=400), ["trans", "trans-stems-0"]
    )


def measured(checkpoint, languages, seed=0):
    records = held_out_loss(MeasuredModel(checkpoint, "run", step=7), languages, SHARE, seed).records
    assert {(r.run, r.measure, r.metric, r.step) for r in records} == {("run", HELD_OUT, "nats", 7)}
    return {record.language: (record.value, record.count) for record in records}


@pytest.mark.parametrize("token_types", [1, 4])
def test_held_out_loss_equals_transformers(languages, token_types, make_checkpoint, monkeypatch):
    monkeypatch.setattr("calque.analysis.measures.loss.ROWS", rows := 5)
    checkpoint = make_checkpoint(languages.rows, languages=token_types, length=LENGTH)
    model = RobertaForMaskedLM.from_pretrained(checkpoint).eval()
    stream, first = Monolingual(only_last(languages, SHARE), LENGTH, MASK_RATE), 0
    found = measured(checkpoint, languages)
    for number, ((name,), count) in enumerate(stream.parts.items()):
        random, total, asked = np.random.default_rng(0), 0.0, 0
        for start in range(first, first + count, rows):
            batch, counts = stream.draw(range(start, min(start + rows, first + count)), random)
            with torch.no_grad():
                kinds = torch.full_like(batch.ids, number if token_types > 1 else 0)
                theirs = model(input_ids=batch.ids, token_type_ids=kinds, labels=batch.labels).loss
            total, asked = total + counts["mlm"] * float(theirs), asked + counts["mlm"]
        assert count > rows and found[name] == (pytest.approx(total / asked, rel=1e-5), asked)
        first += count


def test_masked_loss_equals_pretraining_loss():
    model, batch = build(MODEL, TYPES).eval(), rows(0)
    with torch.no_grad():
        expected = float(prediction_loss(model, batch)) / batch.labelled
    loss, count, shuffled = masked_loss(model, batch, 50, seed=0)
    assert loss == pytest.approx(expected, rel=1e-5)
    assert count == batch.labelled
    assert shuffled.shape == (50,)
