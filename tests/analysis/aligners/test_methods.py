import numpy as np
import pytest
import torch
from scipy.special import softmax
from torch.nn.utils.rnn import pad_sequence

from calque.analysis.aligners import LEAST, RELEASED, SOFTMAX, Transport
from calque.pretrain.transport import EPSILON, itermax
from tests.pretrain.scored import extracted, masks, padded


@pytest.mark.parametrize("iterations", [1, 2, 100])
def test_transport_equals_pot(iterations):
    ot = pytest.importorskip("ot", reason="POT is not installed")
    random = np.random.default_rng(1)
    products = [random.normal(2, 3, tuple(random.integers(1, 30, 2))) for _ in range(60)]
    plans = Transport(iterations).plan(padded(products), *masks(products)).numpy()
    for table, plan in zip(products, plans, strict=True):
        n, m = table.shape
        cost = -np.log(np.maximum(EPSILON, table))
        theirs = ot.bregman.sinkhorn_knopp(
            np.full(n, 1 / n), np.full(m, 1 / m), cost, 1.0, numItermax=iterations, stopThr=0, warn=False
        )
        np.testing.assert_allclose(plan[:n, :m], n * theirs, atol=1e-6)
        assert not plan[n:].any() and not plan[:, m:].any()


def test_softmax_links_words_that_are_likely_in_both_directions():
    random = np.random.default_rng(5)
    sides = [[random.normal(0.5, 1, (size, 8)) for size in pair] for pair in ((3, 4), (1, 5), (6, 2), (1, 1))]
    states = [pad_sequence([torch.from_numpy(pair[side]) for pair in sides], True) for side in (0, 1)]
    sizes = [torch.tensor([[len(pair[side])] for pair in sides]) for side in (0, 1)]
    real = [torch.arange(own.shape[1]) < size for own, size in zip(states, sizes, strict=True)]
    # A shift of all words of a side changes nothing.
    scores = SOFTMAX.score(states[0] + 7, states[1] - 3, *real)
    links = set(map(tuple, SOFTMAX.extract(scores, *real).tolist()))
    for number, pair in enumerate(sides):
        n, m = map(len, pair)
        units = [own - own.mean(0) for own in pair]
        units = [own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-12) for own in units]
        logits = units[0] @ units[1].T / 0.1
        expected = np.sqrt(softmax(logits, axis=0) * softmax(logits, axis=1))
        np.testing.assert_allclose(scores[number, :n, :m], expected, atol=1e-6)
        cells = {(number, i, j) for i in range(n) for j in range(m) if expected[i, j] >= LEAST}
        assert {link for link in links if link[0] == number} == cells


def test_released_rule_equals_its_definition():
    random = np.random.default_rng(5)
    products = [random.normal(1, 2, tuple(random.integers(2, 30, 2))) for _ in range(200)]
    tables = padded(products)
    ours = [np.zeros_like(table) for table in products]
    score, extract = RELEASED.score, RELEASED.extract
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
    assert fewer > 100  # unlike the rule used in pretraining
