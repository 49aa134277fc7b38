"""Mining: translations are found among sentences that have none, and a threshold is not chosen where it is scored."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from analysis.measures.mining import NEIGHBOURS, PARTS, margin, mined


def rows(count: int, seed: int, width: int = 16) -> Tensor:
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def by_hand(source: Tensor, target: Tensor) -> tuple[float, float]:
    """F1 and threshold, sentence by sentence, in the order of the definition."""
    groups = len(source) // PARTS
    middle, end = groups // 2 * PARTS, groups * PARTS

    def candidates(low: int, high: int) -> list[tuple[float, bool]]:
        first = [i for i in range(low, high) if i % PARTS != 3]
        second = [i for i in range(low, high) if i % PARTS != 2]
        scores = margin(source[first], target[second]).tolist()
        made = []
        for i, row in enumerate(scores):
            j = row.index(max(row))
            column = [other[j] for other in scores]
            if column.index(max(column)) == i:
                made.append((row[j], first[i] == second[j]))
        return made

    def f1(found: list[tuple[float, bool]], threshold: float, gold: int) -> float:
        said = [right for score, right in found if score >= threshold]
        return 2 * sum(said) / (len(said) + gold)

    chosen = candidates(0, middle)
    best = max(sorted({score for score, _ in chosen}, reverse=True), key=lambda t: f1(chosen, t, middle // 2))
    return f1(candidates(middle, end), best, (end - middle) // 2), best


@given(st.integers(2, 12), st.integers(0, 3), st.floats(0.0, 3.0), st.integers(0, 10_000))
def test_it_is_what_its_definition_says(groups: int, more: int, noise: float, seed: int) -> None:
    source = rows(groups * PARTS + more, seed)
    target = source + noise * rows(len(source), seed + 1)
    found, (f1, threshold) = mined(source, target), by_hand(source, target)
    assert found.f1 == pytest.approx(f1, abs=1e-12) and found.threshold == pytest.approx(threshold, abs=1e-6)
    assert found.gold == (groups - groups // 2) * PARTS // 2


def test_true_translations_are_all_found_and_strangers_hardly_ever() -> None:
    source = rows(400, 0)
    assert mined(source, source).f1 > 0.98  # the threshold is that of another half
    assert mined(source, rows(400, 1)).f1 < 0.1


def test_sentences_without_a_translation_are_left_alone() -> None:
    """Half of what is there has one; who said all pairs of neighbours would be right in half of them."""
    source = rows(800, 0)
    found = mined(source, source + 0.4 * rows(800, 1))
    assert found.precision > 0.95 and found.recall > 0.9


def test_the_margin_is_that_of_artetxe_and_schwenk() -> None:
    source, target = rows(9, 0), rows(7, 1)
    cosines = torch.nn.functional.cosine_similarity(source[:, None], target[None], dim=2).numpy()
    near = [np.sort(cosines, axis=axis) for axis in (1, 0)]
    x, y = near[0][:, -NEIGHBOURS:].sum(1) / (2 * NEIGHBOURS), near[1][-NEIGHBOURS:].sum(0) / (2 * NEIGHBOURS)
    np.testing.assert_allclose(margin(source, target).numpy(), cosines / (x[:, None] + y[None]), rtol=1e-4)


def test_too_few_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="7 sentences: expected 8 at least"):
        mined(rows(7, 0), rows(7, 1))
