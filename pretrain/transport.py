"""Batched word alignment by optimal transport, and extraction of links from scores.

Shapes: B sentence pairs, with n sub-words on one side (rows) and m on the other (columns); L links. Masks,
(B, n) and (B, m), are true for sub-words; padding gets no mass and no links. Scores, (B, n, m), are not
negative. Links are listed as (pair, row, column), (L, 3) int64. Ties go to the first cell, as in NumPy.
"""

from collections.abc import Iterator
from typing import Literal

from calque.pretrain.lazy import Tensor, torch

First = Literal["columns", "rows"]
EPSILON, ITERATIONS, ALPHA = 1e-6, 2, 0.9
"""From XLM-Align's table 11, except for epsilon, which is from the published code."""
_PLACE = 14  # number of bits per position


def log_kernel(similarity: Tensor) -> Tensor:
    """Return log K = log max(epsilon, similarity), for arrays of any shape (XLM-Align, equations 1 and 5)."""
    return similarity.clamp(min=EPSILON).log()


def sinkhorn(
    log_kernel: Tensor,
    row_mask: Tensor,
    col_mask: Tensor,
    iterations: float = ITERATIONS,
    first: First = "columns",
    padded: bool | None = None,
) -> Tensor:
    """Return the transport plan, (B, n, m), for log K after Sinkhorn iterations, with zeros at padding. Each
    iteration normalises first all columns and then all rows to sum to 1, as in the published code;
    `first="rows"` follows the paper's equation 6. Half an iteration normalises only the `first`. `padded`
    is true if there is padding; reading this from the masks would mean waiting for the GPU."""
    padding = ~(row_mask[:, :, None] & col_mask[:, None])
    padded = bool(padding.any()) if padded is None else padded
    plan = log_kernel.masked_fill(padding, -torch.inf) if padded else log_kernel
    for turn in range(round(2 * iterations)):
        plan = plan.log_softmax(1 if (turn % 2 == 0) == (first == "columns") else 2)
        if padded:  # columns of padding are now NaN
            plan = plan.masked_fill_(padding, -torch.inf)
    return plan.exp()


def untied(plan: Tensor, log_kernel: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Replace the plan by normalised K for pairs with a side of only one sub-word. Transport to or from a
    single sub-word does not depend on K, so rounding errors would otherwise decide which link is chosen."""
    padding = ~(row_mask[:, :, None] & col_mask[:, None])
    own = log_kernel.masked_fill(padding, -torch.inf).flatten(1).softmax(1).view_as(plan)
    single = (row_mask.sum(1) == 1) | (col_mask.sum(1) == 1)
    return torch.where(single[:, None, None], own, plan)


def argmax(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Return the cells that are the largest in both their row and their column (SimAlign's Argmax)."""
    scores, room = _prepare(scores, row_mask, col_mask)
    row_best, mutual = _best(scores, room)
    return _cells(mutual & row_mask, row_best)


def itermax(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Return the links found by SimAlign's Itermax (section 2.2), which applies Argmax twice. In the second
    round, scores are multiplied by `ALPHA` if their row or column is already linked, and excluded if both
    are. The second round is skipped for pairs with a side that is fully linked or has at most two sub-words.
    These rules follow the published code; XLM-Align's equation 9 excludes only linked cells."""
    return torch.cat([_cells(rows, columns) for rows, columns in _rounds(scores, row_mask, col_mask)])


def itermax_table(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Return Itermax's links as a table, (B, n, m) bool; listing them would mean waiting for the GPU."""
    table = torch.zeros_like(scores, dtype=torch.bool)
    for rows, columns in _rounds(scores, row_mask, col_mask, padded=True):
        table |= torch.zeros_like(table).scatter_(2, columns[:, :, None], rows[:, :, None])
    return table


def _rounds(
    scores: Tensor, row_mask: Tensor, col_mask: Tensor, padded: bool | None = None
) -> Iterator[tuple[Tensor, Tensor]]:
    """For each round of Itermax, yield a mask of linked rows, and their columns, both (B, n)."""
    scores, room = _prepare(scores, row_mask, col_mask, padded)
    best, mutual = _best(scores, room)
    linked = mutual & row_mask
    yield linked, best
    # Padding is treated as unlinked, so that its weight is positive and its score stays below 0.
    row_weight = torch.full_like(row_mask, ALPHA, dtype=scores.dtype).masked_fill_(linked, 0.0)
    columns = col_mask.shape[1]
    # Rows without a link write to an additional last column.
    column_weight = scores.new_full((len(scores), columns + 1), ALPHA)
    column_weight = column_weight.scatter_(1, best.masked_fill(~linked, columns), 0.0)[:, :columns]
    more = torch.minimum(row_mask.sum(1), col_mask.sum(1)) > 2
    more &= (row_mask & (row_weight > 0)).any(1) & (col_mask & (column_weight > 0)).any(1)
    weight = row_weight[:, :, None] + column_weight[:, None]
    best, mutual = _best(weight.clamp_(max=1.0).mul_(scores), room)
    yield mutual & row_mask & more[:, None] & (row_weight + column_weight.gather(1, best) > 0), best


def _prepare(
    scores: Tensor, row_mask: Tensor, col_mask: Tensor, padded: bool | None = None
) -> tuple[Tensor, Tensor]:
    """Return scores that are below 0 at padding, and memory for `_best` to reuse."""
    if padded or (padded is None and not (row_mask.all() and col_mask.all())):
        scores = scores.masked_fill(~(row_mask[:, :, None] & col_mask[:, None]), -1.0)
    return scores, torch.empty_like(scores, dtype=torch.float64)


def _cells(rows: Tensor, columns: Tensor) -> Tensor:
    pair, row = rows.nonzero().unbind(1)
    return torch.stack([pair, row, columns[pair, row]], dim=1)


def _best(scores: Tensor, room: Tensor) -> tuple[Tensor, Tensor]:
    """Return the column of each row's largest cell, (B, n), and whether that cell is also the largest in its
    column; overwrites `room`.

    Torch finds maxima much faster without indices than with them. Non-negative floats have the same order as
    their bit patterns, and a float32 leaves the last 29 bits of a float64 unused, so these bits store a
    cell's position.
    """
    n, m = scores.shape[1:]
    if scores.dtype == torch.float32 and max(n, m) <= 1 << _PLACE:
        row, column = (torch.arange(size - 1, -1, -1, device=scores.device) for size in (n, m))
        cells = room.copy_(scores).view(torch.int64).bitwise_or_((row << _PLACE)[:, None] | column)
        row_most, column_most = cells.amax(2), cells.amax(1)
        best = m - 1 - (row_most & ((1 << _PLACE) - 1))
        return best, column_most.gather(1, best) == row_most
    best, column_best = scores.max(2).indices, scores.max(1).indices
    return best, column_best.gather(1, best) == torch.arange(n, device=scores.device)


def union(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Mark the largest cell in each row and in each column, (B, n, m) bool: XLM-Align's labels without
    filtering."""
    real = row_mask[:, :, None] & col_mask[:, None]
    scores = scores.masked_fill(~real, -1.0)
    return (largest(scores, 2) | largest(scores, 1)) & real


def largest(scores: Tensor, dim: int) -> Tensor:
    """Mark the largest cell along `dim` in an array of the same shape."""
    best = scores.argmax(dim, keepdim=True)
    return torch.zeros_like(scores, dtype=torch.bool).scatter_(dim, best, True)
