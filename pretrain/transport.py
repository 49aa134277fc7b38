"""Word alignment as optimal transport, batched. Shapes: B sentence pairs, n and m words (or pieces) of their sides.

A pair's rows are the words of one side, its columns those of the other. Masks, (B, n) and (B, m), are true where
there is a word; what is padding has no mass and no link.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

First = Literal["columns", "rows"]
EPSILON, ITERATIONS, ALPHA = 1e-6, 2, 0.9
"""XLM-Align's table 11, with a mu of 1 and two rounds of Itermax, and the published code's epsilon."""


def log_kernel(similarity: Tensor) -> Tensor:
    """log K = log max(epsilon, similarity) (XLM-Align, equations 1 and 5), of any shape."""
    return similarity.clamp(min=EPSILON).log()


def sinkhorn(
    log_kernel: Tensor, row_mask: Tensor, col_mask: Tensor, iterations: float = ITERATIONS, first: First = "columns"
) -> Tensor:
    """The transport plan of log K after Sinkhorn's iterations, (B, n, m), 0 where there is padding.

    An iteration makes all columns and then all rows sum to 1, as the published code does; `first="rows"` is the paper's
    equation 6. Half an iteration is its first step alone. In log space nothing leaves float32.
    """
    padding = ~(row_mask[:, :, None] & col_mask[:, None])
    padded = bool(padding.any())
    plan = log_kernel.masked_fill(padding, -torch.inf) if padded else log_kernel
    for turn in range(round(2 * iterations)):
        plan = plan.log_softmax(1 if (turn % 2 == 0) == (first == "columns") else 2)
        if padded:  # a column of nothing but padding has become no number
            plan = plan.masked_fill_(padding, -torch.inf)
    return plan.exp()


def untied(plan: Tensor, log_kernel: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """The plan, but in pairs of which a side has one word: there, K over its sum; all (B, n, m).

    Transport to or from one word is the same whatever K is, so that rounding, which changes with the batch, would
    choose its link. The largest product chooses it instead.
    """
    padding = ~(row_mask[:, :, None] & col_mask[:, None])
    own = log_kernel.masked_fill(padding, -torch.inf).flatten(1).softmax(1).view_as(plan)
    single = (row_mask.sum(1) == 1) | (col_mask.sum(1) == 1)
    return torch.where(single[:, None, None], own, plan)


def itermax(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """SimAlign's Itermax (Jalili Sabet et al. 2020), two rounds: (B, n, m) links, from scores that are 0 or more.

    A round links the cells that are the largest of their row and of their column. In the second, a cell whose row or
    column is linked counts `ALPHA` of its score, and is out if both are; a pair with a side of two words or fewer, or
    with a side linked throughout, has none. These rules are the published code's: equation 9 of XLM-Align excludes
    linked cells alone.
    """
    real = row_mask[:, :, None] & col_mask[:, None]
    scores = scores.masked_fill(~real, -1.0)
    links = _mutual(scores) & real
    row_free, col_free = row_mask & ~links.any(2), col_mask & ~links.any(1)
    more = (torch.minimum(row_mask.sum(1), col_mask.sum(1)) > 2) & row_free.any(1) & col_free.any(1)
    either, both = row_free[:, :, None] | col_free[:, None], row_free[:, :, None] & col_free[:, None]
    discounted = torch.where(both, scores, ALPHA * scores).masked_fill(~either, 0.0)
    return links | (_mutual(discounted) & either & more[:, None, None])


def union(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Each row's largest cell and each column's, (B, n, m) links: what XLM-Align labels without filtering."""
    real = row_mask[:, :, None] & col_mask[:, None]
    scores = scores.masked_fill(~real, -1.0)
    return (largest(scores, 2) | largest(scores, 1)) & real


def largest(scores: Tensor, dim: int) -> Tensor:
    """True at the first of the largest cells along `dim`, shaped as the scores."""
    best = scores.argmax(dim, keepdim=True)
    return torch.zeros_like(scores, dtype=torch.bool).scatter_(dim, best, True)


def _mutual(scores: Tensor) -> Tensor:
    row_best, col_best = scores.argmax(2), scores.argmax(1)
    rows = torch.arange(scores.shape[1], device=scores.device)
    chosen = (col_best.gather(1, row_best) == rows)[:, :, None]
    return torch.zeros_like(scores, dtype=torch.bool).scatter_(2, row_best[:, :, None], chosen)
