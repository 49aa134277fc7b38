"""From scores to links. Shapes: B sentence pairs, n and m sub-words of their longest sides, L links.

A score is a similarity or a fraction of transport, (B, n, m); masks, (B, n) and (B, m), are true where there is a
sub-word. Links are rows of (pair, source place, target place), (L, 3) int64: a dense table of them costs more than to
find them. Ties go to the first, as in NumPy.
"""

from __future__ import annotations

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from pretrain.transport import ALPHA

_PLACE = 14
"""Bits for a place."""


def argmax(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Cells that are the largest of their row and of their column (SimAlign's Argmax)."""
    scores, room = _prepare(scores, row_mask, col_mask)
    row_best, mutual = _best(scores, room)
    return _cells(mutual & row_mask, row_best)


def itermax(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """SimAlign's Itermax (section 2.2): Argmax, and a second round of it for what is not linked yet.

    `pretrain.transport.itermax` has the same links as a table, which a loss wants and which takes longer.
    """
    scores, room = _prepare(scores, row_mask, col_mask)
    row_best, mutual = _best(scores, room)
    links = _cells(mutual & row_mask, row_best)
    pair, row, column = links.unbind(1)
    # Padding counts as free, so that it keeps a weight and stays below 0.
    row_weight, column_weight = (torch.full_like(mask, ALPHA, dtype=scores.dtype) for mask in (row_mask, col_mask))
    row_weight[pair, row] = 0.0
    column_weight[pair, column] = 0.0
    more = torch.minimum(row_mask.sum(1), col_mask.sum(1)) > 2
    more &= (row_mask & (row_weight > 0)).any(1) & (col_mask & (column_weight > 0)).any(1)
    weight = row_weight[:, :, None] + column_weight[:, None]
    row_best, mutual = _best(weight.clamp_(max=1.0).mul_(scores), room)
    new = mutual & row_mask & more[:, None] & (row_weight + column_weight.gather(1, row_best) > 0)
    return torch.cat([links, _cells(new, row_best)])


def _prepare(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> tuple[Tensor, Tensor]:
    """Scores with padding below 0, and room for `_best`: memory that is new to the process costs as much as maxima."""
    if not (row_mask.all() and col_mask.all()):
        scores = scores.masked_fill(~(row_mask[:, :, None] & col_mask[:, None]), -1.0)
    return scores, torch.empty_like(scores, dtype=torch.float64)


def _cells(rows: Tensor, columns: Tensor) -> Tensor:
    """The cells in the given column, (B, n), of the chosen rows, (B, n), as (pair, row, column)."""
    pair, row = rows.nonzero().unbind(1)
    return torch.stack([pair, row, columns[pair, row]], dim=1)


def _best(scores: Tensor, room: Tensor) -> tuple[Tensor, Tensor]:
    """The first of the largest cells of each row, (B, n), and whether it is the first of its column's too.

    The bits of floats that are 0 or more are in the order of the floats, and float32 leaves the last 29 of float64
    free: they take the cell's place, so that a maximum says where it was. `room`, (B, n, m) float64, is written over.
    Torch finds maxima four times faster without indices than with them (`argmax` along columns, on a CPU, takes a
    hundred times as long again).
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


def match(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """The assignment with the largest sum, as many links as the shorter side has sub-words (SimAlign's Match)."""
    assignments = []
    sizes = zip(row_mask.sum(1).tolist(), col_mask.sum(1).tolist(), strict=True)
    for pair, (table, (n, m)) in enumerate(zip(scores.cpu().numpy(), sizes, strict=True)):
        rows, columns = map(torch.from_numpy, linear_sum_assignment(table[:n, :m], maximize=True))
        assignments.append(torch.stack([torch.full_like(rows, pair), rows, columns], dim=1))
    return torch.cat(assignments)
