"""Momentum contrast (He et al. 2020). Shapes: B sentences, H hidden, D dimensions, K places of the queue."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pretrain.batch import Rows
from pretrain.frozen import Frozen
from pretrain.model import encode_first

TEMPERATURE, MOMENTUM, QUEUE, WIDTH = 0.05, 0.999, 32_000, 300


class Projection(nn.Module):
    """W2 ReLU(W1 h), h of length 1, and what comes out too (Pan et al. 2021, equation 2; no biases)."""

    def __init__(self, width: int, dimensions: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, width, bias=False), nn.Linear(width, dimensions, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        """Sentence vectors (B, D) of first positions (B, H)."""
        return F.normalize(self.outer(F.relu(self.inner(F.normalize(hidden, dim=1)))), dim=1)


class MoCo(nn.Module):
    """The projection of queries, a slow copy of encoder and projection for keys, and the last K keys.

    The queue begins with random vectors; `taken` counts the keys that it has had, and the next takes the place of the
    oldest. All of it is part of a run's state.
    """

    queue: Tensor
    taken: Tensor

    def __init__(self, model: Any, queue: int, dimensions: int) -> None:
        super().__init__()
        self.projection = Projection(model.config.hidden_size, dimensions)
        self.slow = Frozen(model)
        self.slow_projection = Frozen(self.projection)
        self.register_buffer("queue", F.normalize(torch.randn(queue, dimensions), dim=1))
        self.register_buffer("taken", torch.zeros((), dtype=torch.long))

    def queries(self, model: Any, rows: Rows) -> Tensor:
        """Sentence vectors (B, D) of the encoder that learns."""
        vectors: Tensor = self.projection(encode_first(model, rows))
        return vectors

    @torch.no_grad()
    def keys(self, rows: Rows) -> Tensor:
        """Sentence vectors (B, D) of the slow one."""
        vectors: Tensor = self.slow_projection.model(encode_first(self.slow.model, rows))
        return vectors

    def follow(self, model: nn.Module, momentum: float) -> None:
        """The slow encoder and projection go after those that learn (equation 1)."""
        self.slow.follow(model, momentum)
        self.slow_projection.follow(self.projection, momentum)

    @torch.no_grad()
    def enqueue(self, keys: Tensor) -> None:
        """Keys take the places of the oldest, one after the other; of more than K the last stay."""
        size = len(self.queue)
        at = (self.taken + torch.arange(len(keys), device=keys.device)) % size
        self.queue[at[-size:]] = keys[-size:].to(self.queue.dtype)
        self.taken += len(keys)


def contrast(queries: Tensor, keys: Tensor, others: Tensor, temperature: float) -> Tensor:
    """Summed InfoNCE: of 1 + K keys, a query's own (B, D) and the `others` (K, D), which is its own? In float32."""
    with torch.autocast(queries.device.type, enabled=False):
        queries, keys, others = queries.float(), keys.float(), others.float()
        logits = torch.cat([(queries * keys).sum(1, keepdim=True), queries @ others.T], dim=1) / temperature
        return F.cross_entropy(
            logits, torch.zeros(len(queries), dtype=torch.long, device=logits.device), reduction="sum"
        )
