"""Nearest rows against a twin, MEXA by its definition, and chance where nothing belongs together."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.vectors import NONE, mutually_nearest, nearest
from analysis.measures.nearest import found
from analysis.measures.nulls import shuffled
from analysis.measures.retrieval import cosine
from analysis.measures.retrieval import found as found_by_scores


def vectors(seed: int, items: int, width: int = 4) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(items, width))).float()


@given(seed=st.integers(0, 999), items=st.integers(2, 30))
def test_they_are_those_that_retrieval_finds(seed: int, items: int) -> None:
    source = vectors(seed, items)
    target = source + vectors(seed + 1, items)
    forward, back = nearest(source, target), nearest(target, source)
    expected = found_by_scores(cosine(source, target))
    assert np.array_equal(found(forward, np.arange(items)), expected[0])
    assert np.array_equal(found(back, np.arange(items)), expected[1])


@given(seed=st.integers(0, 999), items=st.integers(2, 20))
def test_mexa_is_its_definition_in_any_pairing(seed: int, items: int) -> None:
    source = vectors(seed, items)
    target = source + 0.7 * vectors(seed + 1, items)
    table, pairing = cosine(source, target), np.random.default_rng(seed).permutation(items)

    def mutual(i: int) -> bool:
        own, j = table[i, pairing[i]], int(pairing[i])
        others = [table[i, k] for k in range(items) if k != j] + [table[k, j] for k in range(items) if k != i]
        return bool(own > max(others))

    expected = [mutual(i) for i in range(items)]
    ours = mutually_nearest(nearest(source, target), nearest(target, source), pairing)
    assert ours.tolist() == expected


def test_a_tie_is_no_find() -> None:
    source = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    target = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert nearest(source, target).tolist() == [NONE, NONE]
    assert nearest(torch.ones(3, 2), torch.ones(3, 2)).tolist() == [NONE] * 3


def test_where_nothing_belongs_together_as_many_are_found_as_by_chance() -> None:
    """One in N one way, and 1 in 2N - 1 both ways: the largest of so many cosines that are alike."""
    items, ways = 40, {"forward": [], "mutual": []}
    for seed in range(60):
        source, target = vectors(seed, items, 30), vectors(1000 + seed, items, 30)
        forward, back = nearest(source, target), nearest(target, source)
        pairings = shuffled([0] * items, 50, seed)
        ways["forward"].append(found(forward, pairings).mean())
        ways["mutual"].append(mutually_nearest(forward, back, pairings).mean())
    assert np.mean(ways["forward"]) == pytest.approx(1 / items, rel=0.03)
    assert np.mean(ways["mutual"]) == pytest.approx(1 / (2 * items - 1), rel=0.08)
