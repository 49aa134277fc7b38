"""A pointer network (XLM-Align, section 3.2). Shapes: B rows, L ids a row, H hidden, Q queries."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Queries:
    """What is asked: from place `at` of `row`, which of the places `first` to `last` - 1 is it? `target`. All (Q,)."""

    row: Tensor
    at: Tensor
    first: Tensor
    last: Tensor
    target: Tensor

    def __len__(self) -> int:
        return len(self.row)


class Pointer(nn.Module):
    """One query and one key projection, for both directions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, hidden: Tensor, queries: Queries) -> Tensor:
        """Summed cross-entropy of the targets under scaled dot products of `hidden`, (B, L, H) (equations 11 to 15)."""
        scores = self.query(hidden) @ self.key(hidden).transpose(1, 2) / hidden.shape[2] ** 0.5
        asked = scores.flatten(0, 1).index_select(0, queries.row * hidden.shape[1] + queries.at).float()
        places = torch.arange(hidden.shape[1], device=hidden.device)
        allowed = (places >= queries.first[:, None]) & (places < queries.last[:, None])
        return F.cross_entropy(asked.masked_fill(~allowed, -torch.inf), queries.target, reduction="sum")
