"""Mining of sentence pairs, of BUCC's kind: which sentences of two texts that only partly match are translations.

Shapes: N sentences a side, H hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from analysis.measures.retrieval import cosine

NEIGHBOURS = 4
"""Of a sentence, by which the margin judges how near translations should be (Artetxe and Schwenk 2019)."""
PARTS = 4
"""Of so many sentences two are in both texts, one in the first alone, and one in the second alone."""


@dataclass(frozen=True)
class Mined:
    """What was mined in the half that the threshold was not chosen on, where `gold` pairs are to be found."""

    f1: float
    precision: float
    recall: float
    threshold: float
    gold: int


def margin(source: Tensor, target: Tensor) -> Tensor:
    """cos(x, y) over the mean cosine of both with their nearest neighbours, (N, M) of (N, H) and (M, H)."""
    cosines = cosine(source, target)
    rows, columns = (cosines.topk(min(NEIGHBOURS, cosines.shape[dim]), dim=dim).values.mean(dim) for dim in (1, 0))
    return 2 * cosines / (rows[:, None] + columns[None])


def mined(source: Tensor, target: Tensor) -> Mined:
    """Mine the translations among sentences (N, H) and (N, H) that translate each other row by row.

    Of every four sentences the third is taken out of the second text and the fourth out of the first. Sentences that
    are each other's nearest by their `margin` are said to be translations if it reaches a threshold: that with the best
    F1 on the first half of the sentences. It is scored on the second half, which is mined apart.

    Raises:
        ValueError: there are fewer than two groups of four.
    """
    groups = len(source) // PARTS
    if groups < 2:
        raise ValueError(f"{len(source)} sentences: expected {2 * PARTS} at least")
    middle = groups // 2 * PARTS
    scores, right = _candidates(source[:middle], target[:middle])
    threshold = _best_threshold(scores, right, middle // 2)
    end = groups * PARTS
    scores, right = _candidates(source[middle:end], target[middle:end])
    said, gold = scores >= threshold, (end - middle) // 2
    hits = int((said & right).sum())
    precision, recall = hits / max(1, int(said.sum())), hits / gold
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Mined(f1, precision, recall, threshold, gold)


def _candidates(source: Tensor, target: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The margins of sentences that are each other's nearest, and whether they are translations."""
    numbers = torch.arange(len(source), device=source.device)
    first, second = numbers[numbers % PARTS != 3], numbers[numbers % PARTS != 2]
    scores = margin(source[first], target[second])
    best, back = scores.argmax(1), scores.argmax(0)
    own = torch.arange(len(first), device=source.device)
    mutual = own[back[best] == own]
    right = first[mutual] == second[best[mutual]]
    return scores[mutual, best[mutual]].cpu().numpy(), right.cpu().numpy()


def _best_threshold(scores: np.ndarray, right: np.ndarray, gold: int) -> float:
    """The score from which on F1 is best; of equal ones the highest."""
    order = np.argsort(-scores, kind="stable")
    hits, said = np.cumsum(right[order]), np.arange(1, len(order) + 1)
    last = np.append(scores[order][1:] < scores[order][:-1], True)  # equal scores are said together
    f1 = np.where(last, 2 * hits / (said + gold), -1.0)
    return float(scores[order][int(f1.argmax())])
