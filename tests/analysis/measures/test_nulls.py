"""Permutation nulls: their laws, and what they leave of frequency and of types."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.measures.nulls import like_frequent, shuffled
from calque.analysis.measures.states import linear_cka, sentence_means, type_means
from calque.pretrain.model import build
from tests.analysis.measures.test_gradients import MODEL, TYPES

KINDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=30)


@given(kinds=KINDS, seed=st.integers(0, 99))
def test_items_are_shuffled_among_their_kind(kinds: list[str], seed: int) -> None:
    made = shuffled(kinds, 5, seed)
    assert np.array_equal(made, shuffled(kinds, 5, seed))
    for row in made:
        assert sorted(row) == list(range(len(kinds)))
        assert [kinds[i] for i in row] == kinds


def test_every_order_comes_as_often() -> None:
    orders = Counter(map(tuple, shuffled(["a", "b", "a", "a"], 6000, 0).tolist()))
    assert len(orders) == 6
    assert all(abs(often - 1000) < 120 for often in orders.values())


def test_ckas_after_exchanges_are_those_of_states_that_change_places() -> None:
    model, random = build(MODEL, TYPES).eval(), np.random.default_rng(0)
    rows = [random.integers(5, TYPES, length) for length in random.integers(4, 12, 30)]
    x, y = torch.randn(30, 7, generator=torch.Generator().manual_seed(0)), sentence_means(model, rows, 0)
    types = type_means(model, rows, 0)
    assert types.counts.sum() == sum(len(row) - 2 for row in rows)
    assert types.shares.sum(1).numpy() == pytest.approx(np.ones(30), rel=1e-5)
    own = np.unique(np.concatenate([row[1:-1] for row in rows]))
    with torch.no_grad():
        states = [model.roberta(torch.from_numpy(row)[None], output_hidden_states=True).hidden_states for row in rows]
    for layer in range(len(y)):
        inside = [state[layer][0, 1:-1] for state in states]
        flat, ids = torch.cat(inside), np.concatenate([row[1:-1] for row in rows])
        means = torch.stack([flat[torch.from_numpy(ids == t)].mean(0) for t in own])
        assert torch.allclose(types.means[layer], means, atol=1e-5)
        expected = []
        for exchange in shuffled(like_frequent(types.counts), 3, 1):
            moved = [
                torch.stack(
                    [
                        h - means[np.searchsorted(own, i)] + means[exchange[np.searchsorted(own, i)]]
                        for h, i in zip(hidden, row[1:-1], strict=True)
                    ]
                ).mean(0)
                for hidden, row in zip(inside, rows, strict=True)
            ]
            expected.append(linear_cka(x, torch.stack(moved)))
        assert types.exchanged_ckas(x, y[layer], layer, 3, 1) == pytest.approx(expected, rel=1e-4)
