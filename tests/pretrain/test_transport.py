import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calque.pretrain.transport import argmax, itermax, itermax_table, sinkhorn, untied
from tests.pretrain import scored
from tests.pretrain.scored import extracted, matrices

SHAPES = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=5)
SEEDS = st.integers(0, 2**32)


def padded(matrices):
    """Matrices as one batch with masks; the padding must not be read."""
    return scored.padded(matrices, 1e6), *scored.masks(matrices)


def cut(batch, like):
    return [whole[: m.shape[0], : m.shape[1]].numpy() for whole, m in zip(batch, like, strict=True)]


def products(shapes, seed):
    random = np.random.default_rng(seed)
    return [random.normal(size=(n, 8)) @ random.normal(size=(m, 8)).T for n, m in shapes]


@given(SHAPES, SEEDS, st.integers(1, 5), st.sampled_from(["columns", "rows"]))
def test_sinkhorn_equals_its_definition(shapes, seed, iterations, first):
    similarity = products(shapes, seed)
    batch, row_mask, col_mask = padded(similarity)
    plans = sinkhorn(batch, row_mask, col_mask, iterations, first)
    assert not plans.masked_select(~(row_mask[:, :, None] & col_mask[:, None])).any()
    for s, plan in zip(similarity, cut(plans, similarity), strict=True):
        k = np.maximum(1e-6, s)
        for _ in range(iterations):
            for axis in (0, 1) if first == "columns" else (1, 0):
                k = k / k.sum(axis, keepdims=True)
        np.testing.assert_allclose(plan, k, atol=1e-10)


def test_single_word_side_is_linked_by_its_products():
    similarity = [np.abs(s) for s in products([(1, 7), (7, 1), (5, 4), (1, 1)], 4)]
    batch, row_mask, col_mask = padded(similarity)
    plan = sinkhorn(batch, row_mask, col_mask)
    settled = untied(plan, batch, row_mask, col_mask)
    for s, before, after in zip(similarity, cut(plan, similarity), cut(settled, similarity), strict=True):
        expected = s / s.sum() if 1 in s.shape else before
        np.testing.assert_allclose(after, expected, atol=1e-10)
    assert not settled.masked_select(~(row_mask[:, :, None] & col_mask[:, None])).any()


def links_by_hand(scores):
    n, m = scores.shape
    links = np.zeros((n, m), bool)
    for number in range(2):
        rows, cols = links.any(1), links.any(0)
        if number and (min(n, m) <= 2 or rows.all() or cols.all()):
            break
        weight = np.where(rows[:, None] & cols, 0, np.where(rows[:, None] | cols, 0.9, 1))
        now = scores * weight
        for i, j in np.ndindex(n, m):
            free = not (rows[i] and cols[j])
            links[i, j] |= free and now[i].argmax() == j and now[:, j].argmax() == i
    return links


@given(SHAPES, SEEDS)
def test_itermax_equals_its_definition(shapes, seed):
    alike = [np.abs(s).round(1) for s in products(shapes, seed)]
    batch, *masks = padded(alike)
    table = itermax_table(batch, *masks)
    assert torch.equal(table.nonzero(), itermax(batch, *masks).unique(dim=0))
    for s, links in zip(alike, cut(table, alike), strict=True):
        assert np.array_equal(links, links_by_hand(s))


@pytest.mark.parametrize("kind", ["all different", "ties"])
def test_argmax_and_itermax_equal_simalign(kind):
    simalign = pytest.importorskip("simalign", reason="simalign is not installed")
    scores = matrices(kind)
    for score, by_argmax, by_itermax in zip(
        scores, extracted(argmax, scores), extracted(itermax, scores), strict=True
    ):
        forward, back = simalign.SentenceAligner.get_alignment_matrix(score)
        assert np.array_equal(by_argmax, forward * back)
        assert np.array_equal(by_itermax, simalign.SentenceAligner.iter_max(score))
