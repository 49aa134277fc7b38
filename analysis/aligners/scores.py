"""Similarity of the sub-words of two sides. Shapes: B pairs, n and m sub-words of their longest sides, H hidden.

A score is a similarity or a fraction of transport, (B, n, m); masks, (B, n) and (B, m), are true where there is a
sub-word.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from pretrain.transport import EPSILON, ITERATIONS, MU, First, log_kernel, sinkhorn, untied

SAFE = 40.0
"""How far log K may reach for K to stay far inside float32 with every scaling of its rows and columns."""


def cosine(source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """(1 + cos) / 2 of hidden states (B, n, H) and (B, m, H), from 0 to 1 (SimAlign, section 2.1)."""
    a, b = (F.normalize(side, dim=2, eps=1e-12) for side in (source, target))
    return torch.bmm(a, b.transpose(1, 2)).add_(1).div_(2).clamp_(min=0)  # rounding may leave less


@dataclass(frozen=True)
class Transport:
    """Optimal transport between hidden states by Sinkhorn's iterations (XLM-Align, section 3.1).

    K = max(eps, h.h)^(1/mu). An iteration makes columns and then rows sum to 1; `first="rows"` is the paper's Eq. 6.
    Half an iteration is its first step alone.
    """

    iterations: float = ITERATIONS
    first: First = "columns"
    mu: float = MU

    def __call__(self, source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        """What part of each sub-word of one side goes to each of the other's, (B, n, m).

        Where a side has one sub-word there is no choice of parts, and they are K over its sum.
        """
        products = torch.bmm(source, target.transpose(1, 2))
        plan = self.plan(products, row_mask, col_mask)
        single = ((row_mask.sum(1) == 1) | (col_mask.sum(1) == 1)).nonzero()[:, 0]
        if len(single):
            masks = row_mask[single], col_mask[single]
            plan[single] = untied(plan[single], log_kernel(products[single], mu=self.mu), *masks)
        return plan

    def plan(self, products: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        """The same of raw products (B, n, m); to and from padding nothing goes.

        Where K fits float32 it is scaled as it is, row by row and column by column: an iteration takes a tenth of the
        time that log space takes. A scaling's reach in logarithms never exceeds that of K, so none over- or underflows.
        """
        padding = None if row_mask.all() and col_mask.all() else ~(row_mask[:, :, None] & col_mask[:, None])
        if padding is not None:
            products = products.masked_fill(padding, 0.0)  # whatever stands there, even no number
        peak = products.amax().clamp(min=EPSILON)
        if float((peak / EPSILON).log()) / self.mu > SAFE:
            return sinkhorn(log_kernel(products, mu=self.mu), row_mask, col_mask, self.iterations, self.first)
        kernel = products.clamp(min=EPSILON)
        if self.mu != 1:
            kernel = kernel.div_(peak).pow_(1 / self.mu)
        if padding is not None:
            kernel.masked_fill_(padding, 0.0)
        no_row, no_column = (~row_mask)[:, None].to(kernel.dtype), (~col_mask)[:, None].to(kernel.dtype)
        turned = kernel.transpose(1, 2)  # a view: copied, it would take longer than all else of two iterations
        row, column = torch.ones_like(no_row), torch.ones_like(no_column)
        for turn in range(round(2 * self.iterations)):
            if (turn % 2 == 0) == (self.first == "columns"):
                column = torch.bmm(row, kernel).add_(no_column).reciprocal_()
            else:
                row = torch.bmm(column, turned).add_(no_row).reciprocal_()
        return kernel.mul_(row.transpose(1, 2)).mul_(column)
