"""Similarities, plans and rules: compared with POT, SciPy and slow twins, and by name."""

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax
from torch.nn.utils.rnn import pad_sequence

from calque.analysis.aligners.methods import (
    CHOICES,
    LEAST,
    RELEASED,
    RULES,
    SOFTMAX,
    Method,
    Transport,
)
from calque.pretrain.transport import EPSILON, itermax
from tests.pretrain.scored import extracted, masks, padded


@pytest.mark.parametrize("iterations", [1, 2, 100])
def test_transport_is_pots(iterations: int) -> None:
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


def sides(seed: int, mean: float = 0.4) -> tuple[list[list[np.ndarray]], list[torch.Tensor], list[torch.Tensor]]:
    """States of pairs of many shapes; the same as two batches, whose padding holds no number; and their masks."""
    random = np.random.default_rng(seed)
    shapes = [(1, 1), (1, 6), (5, 1), (2, 2), *map(tuple, random.integers(1, 12, (20, 2)))]
    pairs = [[random.normal(mean, 1, (size, 6)) * 3 for size in shape] for shape in shapes]
    most = [max(len(pair[side]) for pair in pairs) for side in (0, 1)]
    batch = [
        torch.stack(
            [
                torch.from_numpy(
                    np.pad(pair[side], ((0, most[side] - len(pair[side])), (0, 0)), constant_values=np.nan)
                )
                for pair in pairs
            ]
        ).float()
        for side in (0, 1)
    ]
    here = [
        torch.tensor([[place < len(pair[side]) for place in range(most[side])] for pair in pairs]) for side in (0, 1)
    ]
    return pairs, batch, here


def similarity_of(name: str, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """One pair's similarity, written out."""
    if name == "centred":
        mean = np.concatenate([source, target]).mean(0)
        source, target = source - mean, target - mean
    table = source @ target.T
    if name == "products":
        return table
    lengths = [np.linalg.norm(side, axis=1) for side in (source, target)]
    return table / np.outer(*lengths)


def test_softmax_links_words_that_are_likely_in_both_directions() -> None:
    random = np.random.default_rng(5)
    sides = [[random.normal(0.5, 1, (size, 8)) for size in pair] for pair in ((3, 4), (1, 5), (6, 2), (1, 1))]
    states = [pad_sequence([torch.from_numpy(pair[side]) for pair in sides], batch_first=True) for side in (0, 1)]
    sizes = [torch.tensor([[len(pair[side])] for pair in sides]) for side in (0, 1)]
    real = [torch.arange(own.shape[1]) < size for own, size in zip(states, sizes, strict=True)]
    scores = SOFTMAX.score(states[0] + 7, states[1] - 3, *real)  # what all words of a side share does not count
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


def _parts(choice: Method) -> tuple[str, str, str]:
    """What a choice is made of, read from its name."""
    plan, words = ("transport", choice.name.split("-")[1:]) if choice.name.startswith("ot") else ("direct", [])
    words = words if plan == "transport" else choice.name.split("-")
    rule = next((word for word in words if word in RULES), "itermax")
    usual = "products" if plan == "transport" else "cosine"
    return next((word for word in words if word not in RULES), usual), plan, rule


@pytest.mark.parametrize("choice", CHOICES[:-1], ids=lambda choice: choice.name)
def test_each_choice_is_its_similarity_plan_and_rule(choice: Method) -> None:
    """In loops, with NumPy, SciPy, and SimAlign's own Itermax."""
    similarity, plan, rule = _parts(choice)
    pairs, batch, here = sides(12, mean=1.0)  # hardly a product is negative, and so as good as any other that is
    links = choice.extract(choice.score(*batch, *here), *here).tolist()
    compared = 0
    for number, pair in enumerate(pairs):
        table = similarity_of(similarity, *pair)
        if plan == "transport":
            if 1 in table.shape:
                continue  # every share is the same, so there is nothing to choose by
            table = np.maximum(table, EPSILON)
            for _ in range(2):
                table = table / table.sum(0)
                table = table / table.sum(1, keepdims=True)
        else:
            table = (1 + table / (abs(table).max() if similarity == "products" else 1)) / 2
        found = sorted((i, j) for pair_number, i, j in links if pair_number == number)
        assert found == _linked(rule, table), number
        compared += len(found)
    assert compared > 25


def _linked(rule: str, table: np.ndarray) -> list[tuple[int, int]]:
    if rule == "match":
        rows, columns = linear_sum_assignment(table, maximize=True)
        return sorted(zip(rows.tolist(), columns.tolist(), strict=True))
    if rule == "itermax":
        simalign = pytest.importorskip("simalign", reason="SimAlign is not installed")
        return sorted(map(tuple, np.argwhere(simalign.SentenceAligner.iter_max(table) > 0).tolist()))
    best, column_best = table.argmax(1), table.argmax(0)
    return [(i, int(j)) for i, j in enumerate(best) if column_best[j] == i]
