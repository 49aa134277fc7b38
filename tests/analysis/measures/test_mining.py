"""Mining: translations are found among sentences that have none, and a threshold is not chosen where it is scored."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from analysis.measures.mining import NEIGHBOURS
from analysis.measures.retrieval import PARTS, margin, mined


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


def xtremes(source: Tensor, target: Tensor) -> tuple[float, float]:
    """F1 and threshold as XTREME's evaluation of BUCC computes them, cell by cell."""
    groups = len(source) // PARTS
    middle, end = groups // 2 * PARTS, groups * PARTS

    def mine(low: int, high: int) -> list[tuple[float, bool]]:
        first = [i for i in range(low, high) if i % PARTS != 3]
        second = [i for i in range(low, high) if i % PARTS != 2]
        x, y = (torch.nn.functional.normalize(rows, dim=1).double().numpy() for rows in (source[first], target[second]))
        cosines = x @ y.T
        near_x = [sorted(range(len(y)), key=lambda j: -cosines[i, j])[:4] for i in range(len(x))]
        near_y = [sorted(range(len(x)), key=lambda i: -cosines[i, j])[:4] for j in range(len(y))]
        mean_x = [np.mean([cosines[i, j] for j in near]) for i, near in enumerate(near_x)]
        mean_y = [np.mean([cosines[i, j] for i in near]) for j, near in enumerate(near_y)]

        def score(i: int, j: int) -> float:
            return float(cosines[i, j] / ((mean_x[i] + mean_y[j]) / 2))

        proposed = [max((score(i, j), i, j) for j in near) for i, near in enumerate(near_x)]
        proposed += [max((score(i, j), i, j) for i in near) for j, near in enumerate(near_y)]
        made, seen_first, seen_second = [], set(), set()
        for value, i, j in sorted(proposed, reverse=True):
            if i not in seen_first and j not in seen_second:
                seen_first.add(i)
                seen_second.add(j)
                made.append((value, first[i] == second[j]))
        return made

    dev, test = mine(0, middle), mine(middle, end)
    threshold = best = 0.0
    for extracted in range(1, len(dev) + 1):
        correct = sum(right for _, right in dev[:extracted])
        f1 = 2 * correct / (extracted + middle // 2)
        if f1 > best:
            best, after = f1, min(extracted, len(dev) - 1)
            threshold = (dev[extracted - 1][0] + dev[after][0]) / 2
    said = [right for value, right in test if value >= threshold]
    return 2 * sum(said) / (len(said) + (end - middle) // 2), threshold


@given(st.integers(2, 12), st.floats(0.0, 3.0), st.integers(0, 10_000))
def test_xtremes_rule_is_that_of_its_evaluation(groups: int, noise: float, seed: int) -> None:
    source = rows(groups * PARTS, seed) + 1  # cosines are above 0, as between an encoder's states
    target = source + noise * rows(len(source), seed + 1)
    found, (f1, threshold) = mined(source, target, "xtreme"), xtremes(source, target)
    assert found.f1 == pytest.approx(f1, abs=1e-12) and found.threshold == pytest.approx(threshold, abs=1e-5)


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
