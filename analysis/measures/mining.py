"""Mining of sentence pairs, of BUCC's kind: which sentences of two texts that only partly match are translations.

Shapes: N sentences a side, H hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from analysis.measures.retrieval import cosine

NEIGHBOURS = 4
"""Of a sentence, by which the margin judges how near translations should be (Artetxe and Schwenk 2019)."""
Rule = Literal["mutual", "xtreme"]
"""Which pairs are candidates and where the threshold lies: our rule, or the one of XTREME's BUCC."""
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


def mined(source: Tensor, target: Tensor, rule: Rule = "mutual") -> Mined:
    """Mine the translations among sentences (N, H) and (N, H) that translate each other row by row.

    Of every four sentences the third is taken out of the second text and the fourth out of the first. Candidates are
    predicted to be translations if their `margin` reaches a threshold, the one with the best F1 on the first half of
    the sentences. It is scored on the second half, which is mined separately.

    By the rule `mutual` candidates are sentences that are each other's nearest by their margin, and the threshold is
    the lowest margin that is still predicted. By XTREME's (`retrieval="max"`) each sentence of either text proposes
    the best margin among its four nearest by cosine, proposals are taken from the best down as long as both sentences
    are free, and the threshold lies halfway to the next margin.

    Raises:
        ValueError: there are fewer than two groups of four.
    """
    groups = len(source) // PARTS
    if groups < 2:
        raise ValueError(f"{len(source)} sentences: expected {2 * PARTS} at least")
    middle = groups // 2 * PARTS
    scores, right = _candidates(source[:middle], target[:middle], rule)
    threshold = _best_threshold(scores, right, middle // 2, rule)
    end = groups * PARTS
    scores, right = _candidates(source[middle:end], target[middle:end], rule)
    said, gold = scores >= threshold, (end - middle) // 2
    hits = int((said & right).sum())
    precision, recall = hits / max(1, int(said.sum())), hits / gold
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Mined(f1, precision, recall, threshold, gold)


def _candidates(source: Tensor, target: Tensor, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    """The margins of candidates, and whether they are translations."""
    numbers = torch.arange(len(source), device=source.device)
    first, second = numbers[numbers % PARTS != 3], numbers[numbers % PARTS != 2]
    scores = margin(source[first], target[second])
    if rule == "xtreme":
        x, y = _proposed(cosine(source[first], target[second]), scores)
        return scores[x, y].cpu().numpy(), (first[x] == second[y]).cpu().numpy()
    best, back = scores.argmax(1), scores.argmax(0)
    own = torch.arange(len(first), device=source.device)
    mutual = own[back[best] == own]
    right = first[mutual] == second[best[mutual]]
    return scores[mutual, best[mutual]].cpu().numpy(), right.cpu().numpy()


def _proposed(cosines: Tensor, scores: Tensor) -> tuple[list[int], list[int]]:
    """The sentences of the pairs that XTREME's rule takes, of the first text and of the second."""
    proposals = list[tuple[float, int, int]]()
    for dim in (1, 0):
        near = cosines.topk(min(NEIGHBOURS, cosines.shape[dim]), dim=dim).indices
        best = near.gather(dim, scores.gather(dim, near).argmax(dim, keepdim=True)).flatten().tolist()
        pairs = [(i, j) if dim == 1 else (j, i) for i, j in enumerate(best)]
        proposals += [(float(scores[x, y]), x, y) for x, y in pairs]
    matches, seen_x, seen_y = list[tuple[int, int]](), set[int](), set[int]()
    for _, x, y in sorted(proposals, key=lambda proposal: -proposal[0]):
        if x not in seen_x and y not in seen_y:
            seen_x.add(x)
            seen_y.add(y)
            matches.append((x, y))
    return [x for x, _ in matches], [y for _, y in matches]


def _best_threshold(scores: np.ndarray, right: np.ndarray, gold: int, rule: Rule) -> float:
    """The threshold with the best F1, the highest of equal ones. XTREME's is halfway to the next lower score."""
    order = np.argsort(-scores, kind="stable")
    hits, said = np.cumsum(right[order]), np.arange(1, len(order) + 1)
    last = np.append(scores[order][1:] < scores[order][:-1], True)  # equal scores are said together
    f1 = np.where(last, 2 * hits / (said + gold), -1.0)
    place = int(f1.argmax())
    if rule == "xtreme" and f1[place] <= 0:
        return 0.0
    after = min(place + 1, len(order) - 1) if rule == "xtreme" else place
    return float(scores[order][[place, after]].mean())
