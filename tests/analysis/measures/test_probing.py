import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from calque.analysis.measures.probing import (
    gradient_cosine,
    layer_gradients,
    linear_cka,
    linear_probe,
    masked_loss,
    shuffled,
    shuffled_cosines,
)
from calque.analysis.measures.states import cosine, mutually_nearest, nearest, sentence_means
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


@pytest.mark.parametrize("token_types", [1, 3])
def test_padding_and_batches_change_nothing(token_types, monkeypatch):
    monkeypatch.setattr("calque.analysis.measures.states.ROWS", 2)
    model, random = build(MODEL, TYPES, token_types).eval(), np.random.default_rng(0)
    lines = [random.integers(5, TYPES, length) for length in (9, 4, 16, 3, 9)]
    number = token_types // 2
    ours = sentence_means(model, lines, number)
    assert ours.shape == (3, 5, 16)
    for place, line in enumerate(lines):
        ids = torch.from_numpy(line)[None]
        with torch.no_grad():
            made = model.roberta(ids, token_type_ids=torch.full_like(ids, number), output_hidden_states=True)
        alone = torch.stack([layer[0, 1:-1].mean(0) for layer in made.hidden_states])
        assert torch.allclose(ours[:, place], alone, atol=1e-5)


def row_vectors(seed, items, width=4):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(items, width))).float()


@given(seed=st.integers(0, 999), items=st.integers(2, 20))
def test_mexa_equals_its_definition(seed, items):
    source = row_vectors(seed, items)
    target = source + 0.7 * row_vectors(seed + 1, items)
    table, pairing = cosine(source, target), np.random.default_rng(seed).permutation(items)

    def mutual(i):
        own, j = table[i, pairing[i]], int(pairing[i])
        others = [table[i, k] for k in range(items) if k != j] + [table[k, j] for k in range(items) if k != i]
        return bool(own > max(others))

    expected = [mutual(i) for i in range(items)]
    ours = mutually_nearest(nearest(source, target), nearest(target, source), pairing)
    assert ours.tolist() == expected


def vectors(seed, items=12, width=5):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(items, width)))


def by_similarities(x, y):
    """HSIC of the (N, N) similarity matrices by double sums (Kornblith et al. 2019, equations 2 to 4)."""
    n = len(x)

    def hsic(k, m):
        total = 0.0
        for i in range(n):
            for j in range(n):
                centred = k[i, j] - k[i].mean() - k[:, j].mean() + k.mean()
                total += centred * m[i, j]
        return total

    k, m = x @ x.T, y @ y.T
    return hsic(k, m) / (hsic(k, k) * hsic(m, m)) ** 0.5


@given(seed=st.integers(0, 999), width=st.integers(1, 8))
def test_linear_cka_equals_similarity_matrices(seed, width):
    x, y = vectors(seed), vectors(seed + 1, width=width)
    assert linear_cka(x, y) == pytest.approx(by_similarities(x.numpy(), y.numpy()), rel=1e-9)


def test_linear_probe_solves_the_normal_equations():
    random = np.random.default_rng(0)
    x, labels = random.normal(size=(50, 4)) * [3, 9, 27, 81] + 1, random.integers(0, 3, 50)
    probe = linear_probe(torch.from_numpy(x), labels, ridge=50.0)
    z = np.hstack([(x - x.mean(0)) / x.std(0), np.ones((50, 1))])
    expected = np.linalg.inv(z.T @ z + np.diag([50.0, 50, 50, 50, 0])) @ z.T @ np.eye(3)[labels]
    assert probe(torch.from_numpy(x)).tolist() == (z @ expected).argmax(1).tolist()


KINDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=30)


@given(kinds=KINDS, seed=st.integers(0, 99))
def test_items_are_shuffled_among_their_kind(kinds, seed):
    made = shuffled(kinds, 5, seed)
    assert np.array_equal(made, shuffled(kinds, 5, seed))
    for row in made:
        assert sorted(row) == list(range(len(kinds)))
        assert [kinds[i] for i in row] == kinds
