"""A model with its objective's own modules.

Shapes: B rows, W ids per side, hidden size H, V types, Q masked ids with a link, D dimensions, K keys.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from calque.pretrain.batch import Rows
from calque.pretrain.model import encode_first


class Learner(nn.Module):
    """A transformers model and the objective's `own` modules, which are not part of checkpoints."""

    def __init__(self, model: Any, modules: dict[str, nn.Module]) -> None:
        super().__init__()
        self.model = model
        self.own = nn.ModuleDict(modules)

    @property
    def trained(self) -> dict[str, nn.Parameter]:
        return {name: parameter for name, parameter in self.named_parameters() if parameter.requires_grad}


class Frozen(nn.Module):
    """A frozen copy of a model, without dropout."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = deepcopy(model).requires_grad_(False)
        self.train(False)

    def train(self, mode: bool = True) -> Self:
        super().train(False)
        return self

    @torch.no_grad()
    def follow(self, model: nn.Module, momentum: float) -> None:
        """Set each weight w to momentum * w + (1 - momentum) * v, where v is the weight in `model`."""
        for weight, new_weight in zip(self.model.parameters(), model.parameters(), strict=True):
            weight.lerp_(new_weight, 1 - momentum)


class Pointer(nn.Module):
    """XLM-Align's pointer network (section 3.2), shared by both directions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, sides: Sequence[Tensor], real: Sequence[Tensor], targets: Sequence[Tensor]) -> Tensor:
        """Return the summed cross-entropy of targets under scaled dot products (equations 11 to 15), given
        each side's states, (B, W, H), mask of real ids, (B, W), and marks of the other's ids, (B, W, W)."""
        losses = []
        for side, target in enumerate(targets):
            scores = self.query(sides[side]) @ self.key(sides[1 - side]).mT / sides[side].shape[2] ** 0.5
            logs = scores.float().masked_fill(~real[1 - side][:, None], -torch.inf).log_softmax(2)
            losses.append(-logs.masked_fill(~target, 0.0).sum())
        return torch.stack(losses).sum()


class Projection(nn.Module):
    """W2 ReLU(W1 h); h and the result have unit length (Pan et al. 2021, equation 2)."""

    def __init__(self, width: int, dimensions: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, width, bias=False), nn.Linear(width, dimensions, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        """Map states at first positions, (B, H), to sentence vectors, (B, D)."""
        return F.normalize(self.outer(F.relu(self.inner(F.normalize(hidden, dim=1)))), dim=1)


class MoCo(nn.Module):
    """Momentum contrast: a projection, slow copies for keys, and a queue of the last of `taken` keys."""

    queue: Tensor
    taken: Tensor

    def __init__(self, model: Any, queue: int, dimensions: int) -> None:
        super().__init__()
        self.projection = Projection(model.config.hidden_size, dimensions)
        self.slow = Frozen(model)
        self.slow_projection = Frozen(self.projection)
        self.register_buffer("queue", F.normalize(torch.randn(queue, dimensions), dim=1))
        self.register_buffer("taken", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def keys(self, rows: Rows) -> Tensor:
        """Compute sentence vectors, (B, D), with the slow encoder."""
        return self.slow_projection.model(encode_first(self.slow.model, rows))

    def follow(self, model: nn.Module, momentum: float) -> None:
        """Move the slow copies towards the trained ones (equation 1)."""
        self.slow.follow(model, momentum)
        self.slow_projection.follow(self.projection, momentum)

    @torch.no_grad()
    def enqueue(self, keys: Tensor) -> None:
        """Replace the oldest keys in the queue."""
        size = len(self.queue)
        slots = (self.taken + torch.arange(len(keys), device=keys.device)) % size
        self.queue[slots[-size:]] = keys[-size:].to(self.queue.dtype)
        self.taken += len(keys)


class Exchange(nn.Module):
    """WEAM's linear layer and second head, which shares the model's embedding table (equations 6 to 8)."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        table = model.get_input_embeddings().weight
        width = table.shape[1]
        self.exchanged, self.dense, self.linear = (nn.Linear(width, width) for _ in range(3))
        self.table = table

    def forward(self, hidden: Tensor) -> Tensor:
        """Compute logits, (Q, V), from exchanged vectors, (Q, H)."""
        return self.linear(F.gelu(self.dense(self.exchanged(hidden)))) @ self.table.T
