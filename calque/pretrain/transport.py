"""Word alignment by optimal transport, and extraction of links from scores.

Shapes: B sentence pairs, with n sub-words on one side (rows) and m on the other (columns); L links. Masks,
    (B, n) and (B, m), are true for sub-words; padding receives no mass and no links. Scores, (B, n, m), are
    non-negative. Links are tables, (B, n, m) bool, or lists of (pair, row, column), (L, 3) int64, which stall
    a GPU. Among equal cells, the first one wins, as in NumPy.
"""

from typing import Literal

from calque.pretrain.lazy import Tensor, torch

First = Literal["columns", "rows"]
EPSILON, ITERATIONS, ALPHA = 1e-6, 2, 0.9
"""From XLM-Align's table 11, except for epsilon, which is from the published code."""


def sinkhorn(
    similarity: Tensor,
    row_mask: Tensor,
    col_mask: Tensor,
    iterations: float = ITERATIONS,
    first: First = "columns",
) -> Tensor:
    """Return the transport plan, (B, n, m), with zeros at padding, for K = max(EPSILON, similarity)
    (XLM-Align, equations 1 and 5). Each iteration normalises all columns and then all rows, as in the
    published code, or the reverse, as in equation 6 (`first="rows"`). Half an iteration is the first of the
    two."""
    padding = ~_real(row_mask, col_mask)
    plan = _log_kernel(similarity).masked_fill(padding, -torch.inf)
    for turn in range(round(2 * iterations)):
        columns = (turn % 2 == 0) == (first == "columns")
        # Columns and rows that are all padding become NaN, and are then masked.
        plan = plan.log_softmax(1 if columns else 2).masked_fill_(padding, -torch.inf)
    return plan.exp()


def untied(plan: Tensor, similarity: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Use normalised K for pairs with a single sub-word on a side, whose plan does not depend on K."""
    kernel = _log_kernel(similarity).masked_fill(~_real(row_mask, col_mask), -torch.inf)
    single = (row_mask.sum(1) == 1) | (col_mask.sum(1) == 1)
    return torch.where(single[:, None, None], kernel.flatten(1).softmax(1).view_as(plan), plan)


def _log_kernel(similarity: Tensor) -> Tensor:
    return similarity.clamp(min=EPSILON).log()


def argmax(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """List the cells that are largest in both their row and their column (SimAlign's Argmax)."""
    real = _real(row_mask, col_mask)
    return (_mutual(scores.masked_fill(~real, -1.0)) & real).nonzero()


def itermax(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """List the links of `itermax_table` as cells, (K, 3): batch, row and column."""
    return itermax_table(scores, row_mask, col_mask).nonzero()


def itermax_table(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Return the links of SimAlign's Itermax (section 2.2), which applies Argmax twice. In the second round,
    scores are multiplied by `ALPHA` if their row or column is linked, and excluded if both are. Pairs with a
    side that is fully linked or has at most two sub-words skip it. These rules follow the published code;
    XLM-Align's equation 9 excludes only linked cells."""
    real = _real(row_mask, col_mask)
    scores = scores.masked_fill(~real, -1.0)
    links = _mutual(scores) & real
    rows, columns = links.any(2), links.any(1)
    second_round = torch.minimum(row_mask.sum(1), col_mask.sum(1)) > 2
    second_round &= (row_mask & ~rows).any(1) & (col_mask & ~columns).any(1)
    either, both = rows[:, :, None] | columns[:, None], rows[:, :, None] & columns[:, None]
    weights = torch.ones_like(scores).masked_fill_(either, ALPHA).masked_fill_(both, 0.0)
    return links | (_mutual(scores * weights) & real & ~both & second_round[:, None, None])


def union(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Mark each row's and each column's largest cell: XLM-Align's labels without filtering."""
    real = _real(row_mask, col_mask)
    scores = scores.masked_fill(~real, -1.0)
    return (largest(scores, 2) | largest(scores, 1)) & real


def largest(scores: Tensor, dim: int) -> Tensor:
    """Mark the largest cell along `dim`."""
    best = scores.argmax(dim, keepdim=True)
    return torch.zeros_like(scores, dtype=torch.bool).scatter_(dim, best, True)


def _mutual(scores: Tensor) -> Tensor:
    return largest(scores, 2) & largest(scores, 1)


def _real(row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Mark the cells that are not padding, (B, n, m)."""
    return row_mask[:, :, None] & col_mask[:, None]
