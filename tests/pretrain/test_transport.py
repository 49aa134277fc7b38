"""Sinkhorn and Itermax against their definitions, and against POT and SimAlign where these are installed."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calque.pretrain.transport import (
    First,
    argmax,
    itermax,
    itermax_table,
    largest,
    log_kernel,
    sinkhorn,
    union,
    untied,
)
from tests.pretrain.scored import Extract, extracted, matrices

SHAPES = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=5)
SEEDS = st.integers(0, 2**32)


def padded(matrices: list[np.ndarray], dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, ...]:
    """Matrices as one batch with masks; the padding holds what must not be read."""
    rows, cols = (torch.tensor([m.shape[axis] for m in matrices]) for axis in (0, 1))
    row_mask, col_mask = (torch.arange(int(n.max())) < n[:, None] for n in (rows, cols))
    batch = torch.full((len(matrices), row_mask.shape[1], col_mask.shape[1]), 1e6, dtype=dtype)
    for whole, matrix in zip(batch, matrices, strict=True):
        whole[: matrix.shape[0], : matrix.shape[1]] = torch.from_numpy(matrix)
    return batch, row_mask, col_mask


def cut(batch: torch.Tensor, like: list[np.ndarray]) -> list[np.ndarray]:
    return [whole[: m.shape[0], : m.shape[1]].numpy() for whole, m in zip(batch, like, strict=True)]


def products(shapes: list[tuple[int, int]], seed: int) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.normal(size=(n, 8)) @ random.normal(size=(m, 8)).T for n, m in shapes]


@given(SHAPES, SEEDS, st.integers(1, 5), st.sampled_from(["columns", "rows"]))
def test_sinkhorn_is_its_definition(shapes: list[tuple[int, int]], seed: int, iterations: int, first: First) -> None:
    similarity = products(shapes, seed)
    batch, row_mask, col_mask = padded(similarity)
    plans = sinkhorn(log_kernel(batch), row_mask, col_mask, iterations, first)
    assert not plans.masked_select(~(row_mask[:, :, None] & col_mask[:, None])).any()
    for s, plan in zip(similarity, cut(plans, similarity), strict=True):
        k = np.maximum(1e-6, s)
        for _ in range(iterations):
            for axis in (0, 1) if first == "columns" else (1, 0):
                k = k / k.sum(axis, keepdims=True)
        np.testing.assert_allclose(plan, k, atol=1e-10)


@pytest.mark.parametrize("first", ["columns", "rows"])
def test_single_precision_is_enough_for_a_sharp_kernel(first: First) -> None:
    """K to the power 20 would reach 1e60 and 1e-120."""
    similarity = torch.from_numpy(np.stack(products([(9, 7)] * 20, 2))).float() * 1000
    ones = torch.ones(20, 9, dtype=torch.bool), torch.ones(20, 7, dtype=torch.bool)
    plan = sinkhorn(20 * log_kernel(similarity), *ones, 50, first)
    assert plan.isfinite().all()
    torch.testing.assert_close(plan.sum(2 if first == "columns" else 1), torch.ones(20, 9 if first == "columns" else 7))


def test_a_side_of_one_word_is_linked_by_its_products() -> None:
    similarity = [np.abs(s) for s in products([(1, 7), (7, 1), (5, 4), (1, 1)], 4)]
    batch, row_mask, col_mask = padded(similarity)
    kernel = log_kernel(batch)
    plan = sinkhorn(kernel, row_mask, col_mask)
    settled = untied(plan, kernel, row_mask, col_mask)
    for s, before, after in zip(similarity, cut(plan, similarity), cut(settled, similarity), strict=True):
        expected = s / s.sum() if 1 in s.shape else before
        np.testing.assert_allclose(after, expected, atol=1e-10)
    assert not settled.masked_select(~(row_mask[:, :, None] & col_mask[:, None])).any()


def links_by_hand(scores: np.ndarray) -> np.ndarray:
    """Itermax cell by cell."""
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
def test_itermax_is_its_definition(shapes: list[tuple[int, int]], seed: int) -> None:
    alike = [np.abs(s).round(1) for s in products(shapes, seed)]  # with ties
    batch, *masks = padded(alike)
    table = itermax_table(batch, *masks)
    assert torch.equal(table.nonzero(), itermax(batch, *masks).unique(dim=0))
    for s, links in zip(alike, cut(table, alike), strict=True):
        assert np.array_equal(links, links_by_hand(s))


@pytest.mark.parametrize("kind", ["all different", "ties"])
def test_argmax_and_itermax_are_simaligns(kind: str) -> None:
    simalign = pytest.importorskip("simalign", reason="simalign is not installed")
    scores = matrices(kind)
    for score, by_argmax, by_itermax in zip(scores, extracted(argmax, scores), extracted(itermax, scores), strict=True):
        forward, back = simalign.SentenceAligner.get_alignment_matrix(score)
        assert np.array_equal(by_argmax, forward * back)
        assert np.array_equal(by_itermax, simalign.SentenceAligner.iter_max(score))


@given(st.integers(1, 9), st.integers(1, 9), SEEDS)
def test_laws_of_links(n: int, m: int, seed: int) -> None:
    scores = [np.random.default_rng(seed).random((n, m))]
    (a,), (i,) = (extracted(extract, scores) for extract in (argmax, itermax))
    assert a.sum() >= 1
    assert a.sum(0).max() == a.sum(1).max() == 1
    assert (i >= a).all()
    (turned,) = extracted(itermax, [scores[0].T])
    assert np.array_equal(turned.T, i)


@pytest.mark.parametrize("extract", [argmax, itermax])
@pytest.mark.parametrize("kind", ["all different", "ties"])
def test_links_of_float32_are_those_of_the_same_numbers_in_float64(extract: Extract, kind: str) -> None:
    """Maxima are found another way in float32: the cell's place stands in bits that the score leaves free."""
    scores = [score.astype(np.float32) for score in matrices(kind)[::3]]
    single, double = extracted(extract, scores), extracted(extract, [score.astype(np.float64) for score in scores])
    assert all(np.array_equal(a, b) for a, b in zip(single, double, strict=True))


@pytest.mark.parametrize("places", [2**14, 2**14 + 1, 2**15 + 1])
@pytest.mark.parametrize("best", [1, -1], ids=["near the first", "the last"])
def test_the_larger_of_two_neighbours_among_floats_is_found_on_a_side_of_any_length(places: int, best: int) -> None:
    scores = np.full((places, 1), 0.5, np.float32)
    scores[best] = np.nextafter(np.float32(0.5), np.float32(1))
    assert extracted(argmax, [scores])[0].nonzero()[0].tolist() == [best % places]
    assert extracted(argmax, [scores.T])[0].nonzero()[1].tolist() == [best % places]


@pytest.mark.parametrize("shapes", [[(5, 4), (5, 2), (5, 1)], [(4, 5), (2, 5), (1, 5)]], ids=["columns", "rows"])
@pytest.mark.parametrize("extract", [argmax, itermax])
def test_padding_on_one_side_alone_is_not_looked_at(extract: Extract, shapes: list[tuple[int, int]]) -> None:
    scores = [np.random.default_rng(n * m).random((n, m)) for n, m in shapes]
    for table, links in zip(scores, extracted(extract, scores), strict=True):
        (alone,) = extracted(extract, [table])
        assert np.array_equal(links, alone) and links.any()


@given(SHAPES, SEEDS)
def test_a_union_links_every_word(shapes: list[tuple[int, int]], seed: int) -> None:
    alike = [np.abs(s) for s in products(shapes, seed)]
    for s, links in zip(alike, cut(union(*padded(alike)), alike), strict=True):
        n, m = s.shape
        wanted = {(i, int(s[i].argmax())) for i in range(n)} | {(int(s[:, j].argmax()), j) for j in range(m)}
        assert set(zip(*map(np.ndarray.tolist, links.nonzero()), strict=True)) == wanted


def test_the_first_of_equal_cells_is_the_largest() -> None:
    scores = torch.tensor([[[1.0, 2.0, 2.0], [0.0, 0.0, 0.0]]])
    assert largest(scores, 2).int().tolist() == [[[0, 1, 0], [1, 0, 0]]]
    assert largest(scores, 1).int().tolist() == [[[1, 1, 1], [0, 0, 0]]]
