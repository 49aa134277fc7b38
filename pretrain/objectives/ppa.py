"""PPA: sentences and their translations pulled together by momentum contrast, and TLM (Pan et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from derive.files import ADDED
from derive.languages import Languages
from pretrain.bitext import ParallelLines
from pretrain.config import ModelConfig
from pretrain.cost import PAIR, encoder_flops_per_id, flops_per_id, machine_bytes
from pretrain.distributed import World
from pretrain.learner import Learner
from pretrain.mask import MASK_RATE
from pretrain.moco import MOMENTUM, QUEUE, TEMPERATURE, WIDTH, MoCo, contrast
from pretrain.model import looking, prediction_loss
from pretrain.objective import Stream
from pretrain.objectives.of_pairs import USUAL, OfPairs
from pretrain.pairs import PairRows

MOCO = "moco"
Beside = Literal["TLM", "MLM", ""]
"""What is learnt beside the contrast."""
VARIANTS: dict[Beside, tuple[str, str]] = {
    "TLM": ("", ""),
    "MLM": ("-mlm", ", MLM for TLM"),
    "": ("-alone", ", without TLM"),
}
"""What names and titles say of it."""


@dataclass(frozen=True)
class Keyed:
    """Sentence pairs with the keys of their second sides, and the queue as it was before the step."""

    pairs: PairRows
    keys: Tensor
    others: Tensor


class Contrasted(Stream):
    """Sentence pairs, for TLM as one row, for contrast each side alone: the first asks, the second is the key.

    Keys of a step are made before its first gradient, by the slow encoder after it has followed, and join the queue,
    from all processes, when they were asked for: a query is held against its own key and those of earlier steps. So
    neither micro-batches nor processes change the loss.

    Raises:
        BadInput: no pair fits.
    """

    def __init__(self, languages: Languages, length: int, seed: int, objective: PPA) -> None:
        self.objective, self.pad = objective, languages.specials.pad
        self.parallel = ParallelLines(languages, length, objective.parallel_fraction, seed, objective.mask_rate)
        self.instances, self.parts = len(self.parallel), self.parallel.parts
        self.left_out = {"parallel sentences longer than a row": self.parallel.left_out}
        self.beside = objective.beside.lower()
        self.weights = ({self.beside: 1.0} if self.beside else {}) | {MOCO: 1.0}

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[PairRows, dict[str, int]]:
        batch = self.parallel.draw(instances, random)
        return batch, ({self.beside: batch.rows.labelled} if self.beside else {}) | {MOCO: len(batch)}

    def before_step(
        self, learner: Learner, parts: Sequence[PairRows], world: World
    ) -> tuple[Sequence[Keyed], dict[str, int]]:
        own: Any = learner.own[MOCO]
        own.follow(learner.model, self.objective.momentum)
        with looking(learner, world.device):
            keys = [own.keys(part.side_rows(1, self.pad)).float() for part in parts]
        others = own.queue.clone()
        own.enqueue(world.gather(torch.cat([*keys, own.queue[:0]])))
        return [Keyed(part, of, others) for part, of in zip(parts, keys, strict=True)], {}

    def losses(self, learner: Learner, batch: Keyed) -> dict[str, Tensor]:
        own: Any = learner.own[MOCO]
        queries = own.queries(learner.model, batch.pairs.side_rows(0, self.pad))
        made: dict[str, Tensor] = {}
        if self.beside:
            rows = batch.pairs.rows if self.beside == "tlm" else batch.pairs.apart(self.pad)
            made[self.beside] = prediction_loss(learner.model, rows)
        return made | {MOCO: contrast(queries, batch.keys, batch.others, self.objective.temperature)}


@dataclass(frozen=True)
class PPA(OfPairs):
    """L_MoCo + L_TLM on the same pairs, either language first by the toss of a coin (section 2).

    A sentence's vector is the first position's of the last layer, of length 1, projected to `dimensions`. `queue` keys
    of earlier sentences are what it is told from; the slow encoder keeps `momentum` of itself at every step. Table 5
    varies what is learnt `beside`: MLM in place of TLM has the same ids masked, and each side as a row of its own.
    """

    parallel_fraction: float = 0.25
    mask_rate: float = MASK_RATE
    queue: int = QUEUE
    momentum: float = MOMENTUM
    temperature: float = TEMPERATURE
    dimensions: int = WIDTH
    beside: Beside = field(default="TLM", metadata=ADDED)

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.queue, self.dimensions) < 1:
            raise ValueError(f"queue and dimensions are at least 1, not {self.queue} and {self.dimensions}")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"momentum is a fraction below 1, not {self.momentum}")
        if self.beside not in VARIANTS:
            raise ValueError(f"beside is TLM, MLM or empty, not {self.beside!r}")
        if not self.temperature > 0:
            raise ValueError(f"temperature is above 0, not {self.temperature}")

    @property
    def name(self) -> str:
        parts = {
            f"-{self.parallel_fraction * 100:g}": self.parallel_fraction != USUAL,
            f"-queue{self.queue}": self.queue != QUEUE,
            f"-momentum{self.momentum * 100:g}": self.momentum != MOMENTUM,
        }
        return "PPA" + "".join(part for part, differs in parts.items() if differs) + VARIANTS[self.beside][0]

    @property
    def title(self) -> str:
        parts = {
            f", {self.parallel_fraction * 100:g} % parallel": self.parallel_fraction != USUAL,
            f", queue of {self.queue:,}": self.queue != QUEUE,
            f", momentum {self.momentum:g}": self.momentum != MOMENTUM,
        }
        return "PPA" + "".join(part for part, differs in parts.items() if differs) + VARIANTS[self.beside][1]

    def pair_flops_per_id(self, model: ModelConfig, types: int, resting: bool = False) -> float:
        """Masked ids, and each id for the contrast, half of them with a way back; its logits are not counted."""
        contrasted = (1 if resting else 2) * encoder_flops_per_id(model, PAIR / 2)
        return contrasted + (flops_per_id(model, types, self.mask_rate, resting) if self.beside else 0.0)

    @property
    def predicts(self) -> bool:
        return bool(self.beside)

    def mistakes(self, model: ModelConfig) -> list[str]:
        needed, there = 2 * 4 * self.queue * self.dimensions, machine_bytes()  # a step keeps the queue as it was before
        if needed <= there:
            return []
        return [
            f"{self.name}: a queue of {self.queue:,} keys takes {needed / 2**30:,.0f} GiB, and this machine has "
            f"{there / 2**30:,.0f}"
        ]

    def modules(self, model: Any) -> dict[str, nn.Module]:
        return {MOCO: MoCo(model, self.queue, self.dimensions)}

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [Contrasted(languages, length, seed, self)]
