"""Methods by name: what each reads from hidden states."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from analysis.aligners.extract import argmax, itermax
from analysis.aligners.methods import OT, RELEASED, Method
from analysis.aligners.scores import Transport
from pretrain.transport import EPSILON
from tests.analysis.aligners.scored import extracted, masks, padded


def test_the_released_rule_is_each_sides_best_of_its_own_last_scaling() -> None:
    """The released aligner, pair by pair: the best of each row of pi that is the best of its column of xi."""
    random = np.random.default_rng(5)
    products = [random.normal(1, 2, tuple(random.integers(2, 30, 2))) for _ in range(200)]
    tables = padded(products)
    ours = [np.zeros_like(table) for table in products]
    score, extract = RELEASED.score, RELEASED.extract
    assert isinstance(score, Transport)
    for pair, i, j in extract(score.plan(tables, *masks(products)), *masks(products)).tolist():
        ours[pair][i, j] = 1
    fewer = 0
    for table, links, filtered in zip(products, ours, extracted(itermax, products), strict=True):
        pi = np.maximum(table, EPSILON)
        for _ in range(2):
            xi = pi / pi.sum(0)
            pi = xi / xi.sum(1, keepdims=True)
        expected = np.zeros_like(table)
        for i, j in enumerate(pi.argmax(1)):
            expected[i, j] = xi[:, j].argmax() == i
        assert np.array_equal(links, expected)
        fewer += links.sum() < filtered.sum()
    assert fewer > 100  # it is not the rule that labels in pretraining


@pytest.mark.parametrize("turned", [False, True], ids=["one source sub-word", "one target sub-word"])
@pytest.mark.parametrize("method", [OT, RELEASED], ids=lambda method: method.name)
def test_one_sub_word_is_linked_to_the_one_most_like_it_in_any_batch(method: Method, turned: bool) -> None:
    """All its shares are equal, so that rounding, which changes with the batch, would choose."""
    random = np.random.default_rng(6)
    sizes = random.integers(2, 30, 40)
    states = [(random.normal(0.3, 1, (1, 16)), random.normal(0.3, 1, (m, 16))) for m in sizes]
    sides = [pair[::-1] if turned else pair for pair in states]
    columns = [[torch.from_numpy(side).float() for side in column] for column in zip(*sides, strict=True)]

    def links(chosen: list[int]) -> list[list[int]]:
        padded_sides = [pad_sequence([column[i] for i in chosen], batch_first=True) for column in columns]
        here = [pad_sequence([torch.ones(len(column[i])) for i in chosen], True).bool() for column in columns]
        found = method.extract(method.score(*padded_sides, *here), *here).tolist()
        return [[chosen[pair], i, j] for pair, i, j in found]

    together = links(list(range(40)))
    assert together == [link for i in range(40) for link in links([i])]
    best = [int((one @ many.T).argmax()) for one, many in states]
    assert [link[1 if turned else 2] for link in together] == best


def test_a_method_is_two_functions() -> None:
    method = Method("mine", Transport(first="rows"), argmax)
    states, every = torch.eye(3)[None], torch.ones(1, 3, dtype=torch.bool)
    links = method.extract(method.score(states, states, every, every), every, every)
    assert links.tolist() == [[0, 0, 0], [0, 1, 1], [0, 2, 2]]
