"""Links from scores, held against simalign and POT where they are installed, and against laws everywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from analysis.aligners.extract import argmax, itermax, match
from analysis.aligners.methods import RELEASED, Method
from analysis.aligners.scores import SAFE, Transport, cosine
from pretrain.transport import EPSILON, log_kernel, sinkhorn
from pretrain.transport import itermax as dense_itermax

Extract = Callable[[Tensor, Tensor, Tensor], Tensor]
MATRICES = 1000


def masks(scores: list[np.ndarray]) -> tuple[Tensor, Tensor]:
    """Where each of the matrices has rows, and columns, once all are padded to the largest."""
    return tuple(  # type: ignore[return-value]
        torch.tensor(
            [[place < table.shape[axis] for place in range(max(t.shape[axis] for t in scores))] for table in scores]
        )
        for axis in (0, 1)
    )


def padded(scores: list[np.ndarray], filler: float = 0.0) -> Tensor:
    n, m = (max(table.shape[axis] for table in scores) for axis in (0, 1))
    return torch.stack(
        [
            torch.from_numpy(np.pad(t, ((0, n - t.shape[0]), (0, m - t.shape[1])), constant_values=filler))
            for t in scores
        ]
    )


def extracted(extract: Extract, scores: list[np.ndarray], filler: float = 7.0) -> list[np.ndarray]:
    """Tables of 0 and 1, one a matrix, all found in one batch; the padding holds what must not be looked at."""
    tables = [np.zeros_like(table) for table in scores]
    for pair, i, j in extract(padded(scores, filler), *masks(scores)).tolist():
        tables[pair][i, j] += 1
    return tables


def matrices(kind: str) -> list[np.ndarray]:
    """Of all shapes, 1 x k and k x 1 among them; `ties` have five different scores only."""
    random = np.random.default_rng(0)
    shapes = [(1, k) for k in range(1, 13)] + [(k, 1) for k in range(2, 13)] + [(2, 9), (9, 2), (2, 2)]
    shapes += [tuple(random.integers(1, 25, 2)) for _ in range(MATRICES - len(shapes))]
    if kind == "ties":
        return [random.integers(0, 5, shape) / 4 for shape in shapes]
    return [random.random(shape) for shape in shapes]


@pytest.mark.parametrize("kind", ["all different", "ties"])
def test_argmax_and_itermax_are_simaligns(kind: str) -> None:
    simalign = pytest.importorskip("simalign", reason="simalign is not installed")
    scores = matrices(kind)
    for score, by_argmax, by_itermax in zip(scores, extracted(argmax, scores), extracted(itermax, scores), strict=True):
        forward, back = simalign.SentenceAligner.get_alignment_matrix(score)
        assert np.array_equal(by_argmax, forward * back)
        assert np.array_equal(by_itermax, simalign.SentenceAligner.iter_max(score))


@pytest.mark.parametrize("rounds", [1, 3, 5])
def test_itermax_of_more_rounds_is_simaligns(rounds: int) -> None:
    simalign = pytest.importorskip("simalign", reason="simalign is not installed")
    scores = matrices("ties")[::5] + matrices("all different")[::5]
    ours = extracted(lambda *scored: itermax(*scored, rounds=rounds), scores)
    for score, links in zip(scores, ours, strict=True):
        assert np.array_equal(links, simalign.SentenceAligner.iter_max(score, rounds))


@pytest.mark.parametrize("alpha", [0.5, 0.98, 1.0])
def test_itermax_of_any_discount_is_the_one_that_labels(alpha: float) -> None:
    scores = matrices("ties")[::5]
    tables = dense_itermax(padded(scores), *masks(scores), rounds=3, alpha=alpha).numpy()
    ours = extracted(lambda *scored: itermax(*scored, rounds=3, alpha=alpha), scores)
    for table, links in zip(tables, ours, strict=True):
        assert np.array_equal(table[: links.shape[0], : links.shape[1]], links > 0)
    with pytest.raises(ValueError, match=r"0\.5 or more"):
        itermax(padded(scores), *masks(scores), alpha=0.4)


def test_match_is_simaligns() -> None:
    simalign = pytest.importorskip("simalign", reason="simalign is not installed")
    scores = matrices("all different")
    for score, links in zip(scores, extracted(match, scores), strict=True):
        assert np.array_equal(links, simalign.SentenceAligner.get_max_weight_match(score))


def test_itermax_is_the_one_that_labels_in_pretraining() -> None:
    scores = matrices("ties")
    tables = dense_itermax(padded(scores), *masks(scores)).numpy()
    for table, links in zip(tables, extracted(itermax, scores), strict=True):
        assert np.array_equal(table[: links.shape[0], : links.shape[1]], links > 0)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_laws(n: int, m: int, seed: int) -> None:
    scores = [np.random.default_rng(seed).random((n, m))]
    (a,), (i,), (assigned,) = (extracted(extract, scores) for extract in (argmax, itermax, match))
    assert a.sum() >= 1
    assert a.sum(0).max() == a.sum(1).max() == 1
    assert (i >= a).all()
    assert assigned.sum() == min(n, m)
    (turned,) = extracted(itermax, [scores[0].T])
    assert np.array_equal(turned.T, i)


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


@pytest.mark.parametrize("first", ["columns", "rows"])
@pytest.mark.parametrize("mu", [1.0, 0.5, 0.05])
def test_transport_is_the_same_in_and_out_of_log_space(first: str, mu: float) -> None:
    """At mu 0.05 the kernel would not fit float32, and log space is used."""
    random = np.random.default_rng(2)
    products = [random.normal(2, 3, tuple(random.integers(1, 30, 2))).astype(np.float32) for _ in range(60)]
    table, (rows, columns) = padded(products), masks(products)
    assert (np.log(float(table.max()) / EPSILON) / mu > SAFE) == (mu == 0.05)
    expected = sinkhorn(log_kernel(table.double(), mu=mu), rows, columns, 2, first)  # type: ignore[arg-type]
    found = Transport(2, first, mu).plan(table, rows, columns)  # type: ignore[arg-type]
    torch.testing.assert_close(found, expected.float(), atol=2e-6 / mu, rtol=0)


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e9, 1e30])
def test_transport_of_small_and_huge_products_in_float32_is_pots(scale: float) -> None:
    ot = pytest.importorskip("ot", reason="POT is not installed")
    random = np.random.default_rng(4)
    products = [(scale * random.normal(2, 3, shape)).astype(np.float32) for shape in ((9, 7), (1, 5), (5, 1), (1, 1))]
    plans = Transport().plan(padded(products), *masks(products)).numpy()
    for table, plan in zip(products, plans, strict=True):
        n, m = table.shape
        cost = -np.log(np.maximum(EPSILON, table.astype(np.float64)))
        theirs = ot.bregman.sinkhorn_knopp(
            np.full(n, 1 / n), np.full(m, 1 / m), cost, 1.0, numItermax=2, stopThr=0, warn=False
        )
        np.testing.assert_allclose(plan[:n, :m], n * theirs, atol=1e-5)


@pytest.mark.parametrize("mu", [1.0, 0.5])
def test_what_stands_in_padding_is_never_looked_at(mu: float) -> None:
    products = [np.ones((2, 3), np.float32), np.ones((4, 1), np.float32)]
    clean, odd = (Transport(mu=mu).plan(padded(products, filler), *masks(products)) for filler in (0.0, np.nan))
    assert torch.equal(clean, odd)
    assert clean.isfinite().all()


def test_one_more_row_of_a_batch_changes_no_other() -> None:
    """A pair's transport does not depend on what it is batched with, but for rounding."""
    products = [np.random.default_rng(3).normal(1, 2, (6, 5)), 1000 * np.ones((9, 12))]
    alone = Transport().plan(padded(products[:1]), *masks(products[:1]))
    together = Transport().plan(padded(products), *masks(products))
    torch.testing.assert_close(together[:1, :6, :5], alone, atol=1e-12, rtol=1e-9)


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


def test_cosine_is_scaled_to_0_and_1_and_knows_no_length() -> None:
    states = torch.tensor([[[1.0, 0.0], [0.0, 3.0], [-2.0, 0.0]]])
    every = torch.ones(1, 3, dtype=torch.bool)
    assert cosine(states, states, every, every).tolist() == [[[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]]


def test_a_method_is_two_functions() -> None:
    method = Method("mine", Transport(first="rows"), argmax)
    states, every = torch.eye(3)[None], torch.ones(1, 3, dtype=torch.bool)
    links = method.extract(method.score(states, states, every, every), every, every)
    assert links.tolist() == [[0, 0, 0], [0, 1, 1], [0, 2, 2]]
