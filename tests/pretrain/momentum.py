"""A toy objective with everything that one may have of its own: a tied head, a momentum encoder, a queue in a buffer.

It predicts the first word of a row from the sum of its embeddings, on the model's own table, and holds that sum against
those of earlier rows, as a momentum copy of the table saw them (in the manner of He et al. 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from derive.languages import Languages
from pretrain.batch import Pairs
from pretrain.distributed import World
from pretrain.model import Learner, looking
from pretrain.objective import Objective, Stream

ROOM, DECAY = 12, 0.9


class Contrast(nn.Module):
    """A projection under the model's own table, a slow copy of the table, and the last keys."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        table = model.get_input_embeddings().weight
        self.table = table
        self.project = nn.Linear(table.shape[1], table.shape[1])
        self.slow = nn.Parameter(table.detach().clone(), requires_grad=False)
        self.register_buffer("keys", torch.randn(ROOM, table.shape[1]))
        self.register_buffer("taken", torch.zeros((), dtype=torch.long))
        self.register_buffer("scratch", torch.zeros(3), persistent=False)

    @torch.no_grad()
    def follow(self) -> None:
        """The slow copy goes a little after the table."""
        self.slow.mul_(DECAY).add_(self.table, alpha=1 - DECAY)

    @torch.no_grad()
    def enqueue(self, keys: Tensor) -> None:
        """Keys take the place of the oldest ones."""
        at = (self.taken + torch.arange(len(keys))) % ROOM
        self.keys[at] = keys
        self.taken += len(keys)


class First(Stream):
    """Pairs of words that stand at the beginning of a source line."""

    def __init__(self, languages: Languages) -> None:
        corpus = languages.languages[0].corpus
        lines = [np.asarray(corpus[line])[:2] for line in range(len(corpus)) if len(corpus[line]) > 1]
        self.pairs = np.stack(lines).astype(np.int64)
        self.weights, self.instances, self.left_out = {"first": 1.0, "contrast": 0.5}, len(self.pairs), {}

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Pairs, dict[str, int]]:
        batch = Pairs(torch.from_numpy(self.pairs[list(instances)]))
        return batch, {"first": len(batch), "contrast": len(batch)}

    def before_step(
        self, learner: Learner, parts: Sequence[Pairs], world: World
    ) -> tuple[Sequence[Pairs], dict[str, int]]:
        own: Any = learner.own["contrast"]
        own.follow()
        with looking(learner, world.device):
            keys = [own.slow[part.ids].sum(1) for part in parts]
        own.enqueue(world.gather(torch.cat(keys) if keys else own.slow.new_zeros(0, own.slow.shape[1])))
        return parts, {}

    def losses(self, learner: Learner, batch: Pairs) -> dict[str, Tensor]:
        own: Any = learner.own["contrast"]
        hidden = own.project(own.table[batch.ids].sum(1))
        return {
            "first": F.cross_entropy(hidden @ own.table.T, batch.ids[:, 0], reduction="sum"),
            "contrast": (hidden @ own.keys.T).softmax(1).square().sum(),
        }


@dataclass(frozen=True)
class Momentum(Objective):
    """The toy."""

    @property
    def name(self) -> str:
        return "MOMENTUM"

    def modules(self, model: Any) -> dict[str, nn.Module]:
        return {"contrast": Contrast(model)}

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [First(languages)]
