"""A copy of a model that no gradient changes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import nn


class Frozen(nn.Module):
    """A model as it is now, without dropout; it is part of a run's state, and of no checkpoint."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = deepcopy(model).requires_grad_(False)
        self.train(False)

    def train(self, mode: bool = True) -> Frozen:
        """Whatever is asked for, it does not train."""
        super().train(False)
        return self

    @torch.no_grad()
    def follow(self, model: nn.Module, momentum: float) -> None:
        """Go after a model of the same shape: its own weights count `momentum`, and the model's the rest."""
        for own, other in zip(self.model.parameters(), model.parameters(), strict=True):
            own.lerp_(other, 1 - momentum)
