import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.aligners import sentence_means
from calque.analysis.measures.alignment import cosine, nearest
from calque.analysis.measures.probing import linear_probe, mutually_nearest, shuffled
from calque.pretrain.config import ModelConfig
from calque.pretrain.model import build

MODEL = ModelConfig(layers=2, heads=2, hidden=16, ffn=32, length=16, dropout=0.1, initializer_range=0.1)
TYPES = 60


@pytest.mark.parametrize("token_types", [1, 3])
def test_padding_and_batches_change_nothing(token_types, monkeypatch):
    monkeypatch.setattr("calque.analysis.aligners.ROWS", 2)
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
