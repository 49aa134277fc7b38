"""Permutation nulls: their laws, and what they leave of frequency and of types."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.measures.nulls import either, exchanged_accuracies, in_company, like_frequent, null, shuffled
from calque.analysis.measures.states import linear_cka, sentence_means, type_means
from calque.analysis.records.record import Null
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


@given(kinds=KINDS)
def test_company_is_of_ones_own_kind(kinds: list[str]) -> None:
    kept = in_company(kinds, 3)
    assert kept == [i for i in range(len(kinds)) if kinds.count(kinds[i]) >= 3]


def test_a_null_is_the_middle_of_its_values() -> None:
    made = null(np.arange(41) / 40)
    assert (made.low, made.high) == pytest.approx((0.025, 0.975))
    assert (made.chance, made.shuffles) == (0.5, 41)
    assert null(np.zeros(4), chance=0.2).chance == 0.2


def test_a_number_leaves_its_null_beyond_band_and_chance() -> None:
    made = Null(chance=0.5, low=0.2, high=0.4, shuffles=200)
    assert [made.left(value) for value in (0.3, 0.45, 0.5, 0.51)] == [False, False, False, True]
    assert [made.left(value, -1) for value in (0.3, 0.2, 0.19)] == [False, False, True]


def test_labels_of_a_type_are_drawn_from_those_of_the_other() -> None:
    random = np.random.default_rng(0)
    types, said, labels = random.integers(0, 25, 300), random.integers(0, 4, 300), random.integers(0, 4, 300)
    of = np.unique(types, return_inverse=True)[1]
    expected = []
    for exchange in shuffled(like_frequent(np.bincount(of)), 5, 3):
        right = [np.mean(labels[of == exchange[t]] == label) for t, label in zip(of, said, strict=True)]
        expected.append(np.mean(right))
    assert exchanged_accuracies(said, labels, types, 5, 3) == pytest.approx(expected)


def test_a_probe_that_knows_nothing_leaves_the_null_as_seldom_as_it_says() -> None:
    """It says the same of all words of a type: words that are shuffled one by one make a far too narrow band."""
    left = {"types": 0, "words": 0}
    for draw in range(100):
        random = np.random.default_rng(draw)
        types = np.repeat(np.arange(60), np.sort(random.integers(5, 80, 60)))
        tag_of, said_of = random.integers(0, 5, 60), random.integers(0, 5, 60)
        labels, said = tag_of[types], said_of[types]
        value = float((said == labels).mean())
        left["types"] += null(exchanged_accuracies(said, labels, types, 100, draw), 0.0).left(value)
        words = labels[shuffled([0] * len(labels), 100, draw)]
        left["words"] += null((said == words).mean(1), 0.0).left(value)
    assert left["types"] <= 8
    assert left["words"] >= 20


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


def test_a_group_is_of_ten_and_the_last_has_the_rest() -> None:
    counts = np.arange(39, 0, -1)
    assert like_frequent(counts) == [0] * 10 + [1] * 10 + [2] * 19
    assert like_frequent(counts[::-1])[-10:] == [0] * 10
    assert like_frequent(counts[:4]) == [0] * 4


def test_what_neither_null_explains_is_beyond_both() -> None:
    first, second = Null(0.3, 0.2, 0.4, 50), Null(0.3, 0.1, 0.35, 50)
    assert either(first, second) == either(second, first) == Null(0.3, 0.1, 0.4, 50)
