"""PPA: sentences and their translations pulled together by momentum contrast, and TLM (Pan et al. 2021).

Momentum contrast is He et al.'s (2020). Shapes: B sentences, H hidden, D dimensions, K places of the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from calque.derive.fingerprint import ADDED
from calque.derive.forms import number, percent, word
from calque.derive.languages import Languages
from calque.pretrain.batch import PairRows, Rows
from calque.pretrain.bitext import PARALLEL, USUAL, PairObjective, PairStream
from calque.pretrain.config import ModelConfig
from calque.pretrain.cost import PAIR, encoder_flops_per_id, flops_per_id
from calque.pretrain.distributed import World
from calque.pretrain.mask import MASK_RATE
from calque.pretrain.model import Frozen, Learner, encode_first, looking, prediction_loss
from calque.pretrain.objective import Stream, Traits

MOCO = "moco"
Beside = Literal["TLM", "MLM", ""]  # what is learnt in addition to the contrast
TEMPERATURE, MOMENTUM, QUEUE, WIDTH = 0.05, 0.999, 32_000, 300


class Projection(nn.Module):
    """W2 ReLU(W1 h), h and the result of length 1 (Pan et al. 2021, equation 2; no biases)."""

    def __init__(self, width: int, dimensions: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, width, bias=False), nn.Linear(width, dimensions, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        """Sentence vectors (B, D) of first positions (B, H)."""
        return F.normalize(self.outer(F.relu(self.inner(F.normalize(hidden, dim=1)))), dim=1)


class MoCo(nn.Module):
    """The projection of queries, a slow copy of encoder and projection for keys, and the last K keys. The queue begins
    with random vectors; `taken` counts the keys that it has had. All of it is part of a run's state."""

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
        """Sentence vectors (B, D) of the slow encoder."""
        vectors: Tensor = self.slow_projection.model(encode_first(self.slow.model, rows))
        return vectors

    def follow(self, model: nn.Module, momentum: float) -> None:
        """Move the slow encoder and projection towards those that learn (equation 1)."""
        self.slow.follow(model, momentum)
        self.slow_projection.follow(self.projection, momentum)

    @torch.no_grad()
    def enqueue(self, keys: Tensor) -> None:
        """Let keys take the places of the oldest, one after the other; of more than K the last stay."""
        size = len(self.queue)
        at = (self.taken + torch.arange(len(keys), device=keys.device)) % size
        self.queue[at[-size:]] = keys[-size:].to(self.queue.dtype)
        self.taken += len(keys)


def contrast(queries: Tensor, keys: Tensor, others: Tensor, temperature: float) -> Tensor:
    """Summed InfoNCE in float32: each query's own key (B, D) is to be found among it and the `others` (K, D)."""
    with torch.autocast(queries.device.type, enabled=False):
        queries, keys, others = queries.float(), keys.float(), others.float()
        logits = torch.cat([(queries * keys).sum(1, keepdim=True), queries @ others.T], dim=1) / temperature
        first = torch.zeros(len(queries), dtype=torch.long, device=logits.device)
        return F.cross_entropy(logits, first, reduction="sum")


@dataclass(frozen=True)
class PairsWithKeys:
    """Sentence pairs with the keys of their second sides, and the queue as it was before the step."""

    pairs: PairRows
    keys: Tensor
    others: Tensor


class Contrasted(PairStream):
    """Sentence pairs, for TLM as one row, for contrast each side alone: the first is the query, the second the key.

    The slow encoder makes the keys of a step before its first gradient, after it has followed. They join the queue,
    from all processes, after it was read: a query is compared with its own key and the keys of earlier steps. So
    neither micro-batches nor processes change the loss.
    """

    def __init__(self, languages: Languages, length: int, seed: int, objective: PPA) -> None:
        super().__init__(languages, length, seed, objective, objective.mask_rate)
        self.objective, self.prediction = objective, objective.beside.lower()
        self.weights = ({self.prediction: 1.0} if self.prediction else {}) | {MOCO: 1.0}

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[PairRows, dict[str, int]]:
        batch = self.draw_pairs(instances, random)
        return batch, ({self.prediction: batch.rows.labelled} if self.prediction else {}) | {MOCO: len(batch)}

    def before_step(
        self, learner: Learner, parts: Sequence[PairRows], world: World
    ) -> tuple[Sequence[PairsWithKeys], dict[str, int]]:
        own: Any = learner.own[MOCO]
        own.follow(learner.model, self.objective.momentum)
        with looking(learner, world.device):
            keys = [own.keys(part.side_rows(1, self.pad)).float() for part in parts]
        others = own.queue.clone()
        own.enqueue(world.gather(torch.cat([*keys, own.queue[:0]])))
        return [PairsWithKeys(part, of, others) for part, of in zip(parts, keys, strict=True)], {}

    def losses(self, learner: Learner, batch: PairsWithKeys) -> dict[str, Tensor]:
        own: Any = learner.own[MOCO]
        queries = own.projection(encode_first(learner.model, batch.pairs.side_rows(0, self.pad)))
        losses: dict[str, Tensor] = {}
        if self.prediction:
            rows = batch.pairs.rows if self.prediction == "tlm" else batch.pairs.sides_as_rows(self.pad)
            losses[self.prediction] = prediction_loss(learner.model, rows)
        return losses | {MOCO: contrast(queries, batch.keys, batch.others, self.objective.temperature)}


@dataclass(frozen=True)
class PPA(PairObjective):
    """L_MoCo + L_TLM on the same pairs, either language first by the toss of a coin (section 2). A sentence's vector is
    the first position's of the last layer, of length 1, projected to `dimensions`. `queue` keys of earlier sentences
    are its negatives; the slow encoder keeps `momentum` of itself at every step. Table 5 varies what is learnt
    `beside`: with MLM in place of TLM the same ids are masked, and each side is a row of its own."""

    parallel_fraction: float = USUAL
    mask_rate: float = MASK_RATE
    queue: int = QUEUE
    momentum: float = MOMENTUM
    temperature: float = TEMPERATURE
    dimensions: int = WIDTH
    beside: Beside = field(default="TLM", metadata=ADDED)

    short_name = full_name = "PPA"
    forms = (
        PARALLEL,
        number("queue", "-queue", "queue of {value:,}", "512"),
        percent("momentum", "-momentum", "momentum {value}", "99"),
        word("beside", "MLM", "-mlm", "MLM for TLM"),
        word("beside", "", "-alone", "without TLM"),
    )
    summary = (
        "PPA predicts masked words in pairs of translated sentences, and distinguishes the translation of a sentence "
        "from a queue of other sentences (MoCo)."
    )
    paper = "Pan et al. 2021"

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.queue, self.dimensions) < 1:
            raise ValueError(f"queue and dimensions are at least 1, not {self.queue} and {self.dimensions}")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"momentum is a fraction below 1, not {self.momentum}")
        if self.beside not in get_args(Beside):
            raise ValueError(f"beside is TLM, MLM or empty, not {self.beside!r}")
        if not self.temperature > 0:
            raise ValueError(f"temperature is above 0, not {self.temperature}")

    @property
    def traits(self) -> Traits:
        memory = 2 * 4 * self.queue * self.dimensions  # a step keeps the queue as it was before
        return replace(super().traits, mask_rate=self.mask_rate, predicts=bool(self.beside), memory=memory)

    def pair_flops(self, model: ModelConfig, types: int, resting: bool) -> float:
        """Masked ids, and each id for the contrast, half of them with a way back; its logits are not counted."""
        contrasted = (1 if resting else 2) * encoder_flops_per_id(model, PAIR / 2)
        return contrasted + (flops_per_id(model, types, self.mask_rate, resting) if self.beside else 0.0)

    def modules(self, model: Any) -> dict[str, nn.Module]:
        return {MOCO: MoCo(model, self.queue, self.dimensions)}

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [Contrasted(languages, length, seed, self)]
