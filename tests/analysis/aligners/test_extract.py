"""Links from scores, held against simalign where it is installed, and against laws everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.aligners.extract import argmax, itermax, match
from pretrain.transport import itermax as dense_itermax
from tests.analysis.aligners.scored import Extract, extracted, masks, matrices, padded


@pytest.mark.parametrize("kind", ["all different", "ties"])
def test_argmax_and_itermax_are_simaligns(kind: str) -> None:
    simalign = pytest.importorskip("simalign", reason="simalign is not installed")
    scores = matrices(kind)
    for score, by_argmax, by_itermax in zip(scores, extracted(argmax, scores), extracted(itermax, scores), strict=True):
        forward, back = simalign.SentenceAligner.get_alignment_matrix(score)
        assert np.array_equal(by_argmax, forward * back)
        assert np.array_equal(by_itermax, simalign.SentenceAligner.iter_max(score))


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
@settings(max_examples=60)
def test_laws(n: int, m: int, seed: int) -> None:
    scores = [np.random.default_rng(seed).random((n, m))]
    (a,), (i,), (assigned,) = (extracted(extract, scores) for extract in (argmax, itermax, match))
    assert a.sum() >= 1
    assert a.sum(0).max() == a.sum(1).max() == 1
    assert (i >= a).all()
    assert assigned.sum() == min(n, m)
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
@pytest.mark.parametrize("extract", [argmax, itermax, match])
def test_padding_on_one_side_alone_is_not_looked_at(extract: Extract, shapes: list[tuple[int, int]]) -> None:
    scores = [np.random.default_rng(n * m).random((n, m)) for n, m in shapes]
    for table, links in zip(scores, extracted(extract, scores), strict=True):
        (alone,) = extracted(extract, [table])
        assert np.array_equal(links, alone) and links.any()
