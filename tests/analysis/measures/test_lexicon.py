"""alignment@1 of a lexicon, in loops and at its edges."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis.measures import lexicon
from analysis.measures.lexicon import lexicon_alignment


def in_loops(table: np.ndarray, entries: np.ndarray, candidates: np.ndarray) -> list[bool]:
    """One entry after the other."""
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    made = []
    for word, translation in entries.tolist():
        rivals = [float(unit[word] @ unit[i]) for i in candidates.tolist() if i not in (word, translation)]
        made.append(float(unit[word] @ unit[translation]) > max(rivals, default=-np.inf))
    return made


@pytest.mark.parametrize("block", [3, 512])
def test_finds_are_those_of_loops(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicon, "BLOCK", block)
    random = np.random.default_rng(0)
    table = random.normal(size=(60, 5))
    table[30:] = table[:30] + random.normal(size=(30, 5)) * 0.4
    candidates = np.arange(20, 60)  # ten of them are words too: shared types
    entries = np.stack([np.arange(30), np.arange(30, 60)], axis=1)
    found = lexicon_alignment(torch.from_numpy(table), entries, candidates)
    assert found.tolist() == in_loops(table, entries, candidates)
    assert 5 < found.sum() < 25


def test_a_word_is_no_candidate_of_its_own_and_a_tie_is_no_find() -> None:
    table = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [1.8, 0.2]])
    assert lexicon_alignment(table, np.array([[0, 1]]), np.array([0, 1, 2])).tolist() == [True]
    assert lexicon_alignment(table, np.array([[0, 1]]), np.array([0, 1, 2, 3])).tolist() == [False]  # 3 is as near
    assert lexicon_alignment(table, np.array([[0, 2]]), np.array([2])).tolist() == [True]
    assert lexicon_alignment(table, np.empty((0, 2), np.int64), np.array([2])).tolist() == []


@pytest.mark.parametrize("entries", [[[0, 3]], [[2, 2]]], ids=["no candidate", "the same type"])
def test_what_cannot_be_found_is_refused(entries: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="a translation is a candidate, and another row than its word"):
        lexicon_alignment(torch.eye(4), np.array(entries), np.array([0, 1, 2]))
