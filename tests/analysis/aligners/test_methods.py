"""Methods by name: what each reads from hidden states."""

from __future__ import annotations

import numpy as np
import torch

from analysis.aligners.extract import argmax, itermax
from analysis.aligners.methods import RELEASED, Method
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


def test_a_method_is_two_functions() -> None:
    method = Method("mine", Transport(first="rows"), argmax)
    states, every = torch.eye(3)[None], torch.ones(1, 3, dtype=torch.bool)
    links = method.extract(method.score(states, states, every, every), every, every)
    assert links.tolist() == [[0, 0, 0], [0, 1, 1], [0, 2, 2]]
