"""Word alignment by optimal transport, and links from scores, in batches.

Shapes: B sentence pairs, n and m sub-words of their sides, L links. A pair's rows are the sub-words of one
    side, its columns the other's. Masks, (B, n) and (B, m), are true for sub-words; padding has no mass and
    no links. Scores, (B, n, m), are 0 or more. Links are rows of (pair, row, column), (L, 3) int64, because a
    dense table would cost more than finding them, except in training on a GPU. Ties go to the first, as in
    NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from calque.pretrain.lazy import Tensor, torch

First = Literal["columns", "rows"]
EPSILON, ITERATIONS, ALPHA = 1e-6, 2, 0.9
"""XLM-Align's table 11, with a mu of 1 and two rounds of Itermax, and the published code's epsilon."""
_PLACE = 14  # bits per position


def log_kernel(similarity: Tensor) -> Tensor:
    """log K = log max(epsilon, similarity) (XLM-Align, equations 1 and 5), of any shape."""
    return similarity.clamp(min=EPSILON).log()


def sinkhorn(
    log_kernel: Tensor,
    row_mask: Tensor,
    col_mask: Tensor,
    iterations: float = ITERATIONS,
    first: First = "columns",
    padded: bool | None = None,
) -> Tensor:
    """Return the transport plan, (B, n, m), of log K after Sinkhorn iterations; 0 at padding. An iteration
    normalises all columns, then all rows, to sum to 1, as in the published code; `first="rows"` is the
    paper's equation 6. Half an iteration is its first step only. Log space avoids overflow in float32. Pass
    `padded` to avoid reading the masks, which waits for a GPU."""
    padding = ~(row_mask[:, :, None] & col_mask[:, None])
    padded = bool(padding.any()) if padded is None else padded
    plan = log_kernel.masked_fill(padding, -torch.inf) if padded else log_kernel
    for turn in range(round(2 * iterations)):
        plan = plan.log_softmax(1 if (turn % 2 == 0) == (first == "columns") else 2)
        if padded:  # a column of padding is now NaN
            plan = plan.masked_fill_(padding, -torch.inf)
    return plan.exp()


def untied(plan: Tensor, log_kernel: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Return the plan, but with K over its sum for pairs with a one-word side; all (B, n, m). Transport to or
    from one word does not depend on K, so rounding, which varies by batch, would choose a link; this way, the
    largest K does."""
    padding = ~(row_mask[:, :, None] & col_mask[:, None])
    own = log_kernel.masked_fill(padding, -torch.inf).flatten(1).softmax(1).view_as(plan)
    single = (row_mask.sum(1) == 1) | (col_mask.sum(1) == 1)
    return torch.where(single[:, None, None], own, plan)


def argmax(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Return the cells that are the largest in their row and column (SimAlign's Argmax)."""
    scores, room = _prepare(scores, row_mask, col_mask)
    row_best, mutual = _best(scores, room)
    return _cells(mutual & row_mask, row_best)


def itermax(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """SimAlign's Itermax (section 2.2): Argmax in two rounds. In the second round, the score of a cell whose
    row or column is linked is multiplied by `ALPHA`, and a cell with both linked is excluded. The second
    round is skipped for pairs in which a side has at most two sub-words or is fully linked. These are the
    published code's rules; equation 9 of XLM-Align excludes only linked cells."""
    return torch.cat([_cells(rows, columns) for rows, columns in _rounds(scores, row_mask, col_mask)])


def itermax_table(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Return Itermax's links as a table, (B, n, m) bool; listing them would wait for a GPU."""
    table = torch.zeros_like(scores, dtype=torch.bool)
    for rows, columns in _rounds(scores, row_mask, col_mask, padded=True):
        table |= torch.zeros_like(table).scatter_(2, columns[:, :, None], rows[:, :, None])
    return table


def _rounds(
    scores: Tensor, row_mask: Tensor, col_mask: Tensor, padded: bool | None = None
) -> Iterator[tuple[Tensor, Tensor]]:
    """For each round of Itermax, yield the rows that get a link and each row's column, both (B, n)."""
    scores, room = _prepare(scores, row_mask, col_mask, padded)
    best, mutual = _best(scores, room)
    linked = mutual & row_mask
    yield linked, best
    # Padding counts as unlinked, so that it keeps a weight and stays below 0.
    row_weight = torch.full_like(row_mask, ALPHA, dtype=scores.dtype).masked_fill_(linked, 0.0)
    columns = col_mask.shape[1]
    # Rows without a link write to an extra last column.
    column_weight = scores.new_full((len(scores), columns + 1), ALPHA)
    column_weight = column_weight.scatter_(1, best.masked_fill(~linked, columns), 0.0)[:, :columns]
    more = torch.minimum(row_mask.sum(1), col_mask.sum(1)) > 2
    more &= (row_mask & (row_weight > 0)).any(1) & (col_mask & (column_weight > 0)).any(1)
    weight = row_weight[:, :, None] + column_weight[:, None]
    best, mutual = _best(weight.clamp_(max=1.0).mul_(scores), room)
    yield mutual & row_mask & more[:, None] & (row_weight + column_weight.gather(1, best) > 0), best


def _prepare(
    scores: Tensor,
    row_mask: Tensor,
    col_mask: Tensor,
    padded: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Return scores with padding below 0, and reusable memory for `_best`, which is slow to allocate."""
    if padded or (padded is None and not (row_mask.all() and col_mask.all())):
        scores = scores.masked_fill(~(row_mask[:, :, None] & col_mask[:, None]), -1.0)
    return scores, torch.empty_like(scores, dtype=torch.float64)


def _cells(rows: Tensor, columns: Tensor) -> Tensor:
    """List the cells at columns `columns` (B, n) of the chosen rows (B, n) as (pair, row, column)."""
    pair, row = rows.nonzero().unbind(1)
    return torch.stack([pair, row, columns[pair, row]], dim=1)


def _best(scores: Tensor, room: Tensor) -> tuple[Tensor, Tensor]:
    """Return the column of each row's largest cell (the first, if tied), (B, n), and whether it is also its
    column's largest.

    Non-negative floats are ordered like their bits, and float32 leaves the last 29 bits of float64 free: they
    store the cell's position, so that a maximum contains its own position. `room`, (B, n, m) float64, is
    overwritten. Torch finds maxima four times faster without indices than with them (`argmax` along columns
    on a CPU is a hundred times slower still).
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
    """Return the largest cell in each row and column, (B, n, m): XLM-Align's labels without filtering."""
    real = row_mask[:, :, None] & col_mask[:, None]
    scores = scores.masked_fill(~real, -1.0)
    return (largest(scores, 2) | largest(scores, 1)) & real


def largest(scores: Tensor, dim: int) -> Tensor:
    """Mark the first of the largest cells along `dim`, in the scores' shape."""
    best = scores.argmax(dim, keepdim=True)
    return torch.zeros_like(scores, dtype=torch.bool).scatter_(dim, best, True)
