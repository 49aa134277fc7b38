"""What a model is pretrained to do: a sum of losses, each on a stream of batches of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from torch import Tensor
from torch.nn import Module

from pretrain.config import ModelConfig
from pretrain.data import LanguagePair


class Batch(Protocol):
    """Rows that can be cut: over micro-batches and processes, each piece is computed on alone."""

    def __len__(self) -> int: ...
    def part(self, i: int, n: int) -> Batch: ...
    def to(self, device: Any) -> Batch: ...


class Stream(ABC):
    """Instances in a shuffled order, and the losses on them.

    Losses are sums, never means: the loop divides each once by its count over the whole batch, so that
    neither micro-batches nor processes change a gradient.
    """

    weights: dict[str, float]
    """The weight of each loss term in the sum, by name."""

    instances: int
    """How many instances there are; a step's rows are shared out between streams by it."""

    left_out: dict[str, int]
    """What of the corpora no instance shows, and why, counted."""

    uncounted: tuple[str, ...] = ()
    """What `losses` names and `draw` cannot count, because it depends on what the model makes of the batch."""

    @abstractmethod
    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Any, dict[str, int]]:
        """The batch of these instances, masked afresh, and how much each loss term counts on it."""

    @abstractmethod
    def losses(self, model: Any, batch: Any) -> dict[str, Tensor]:
        """The sum of each loss term over a batch, or a part of one.

        What else it names is divided by its count and logged likewise, and has no part in the gradient.
        """

    def label(self, model: Any, batch: Any) -> tuple[Any, dict[str, int]]:
        """Let the model itself label a part of a batch, before the step's first gradient.

        The model is in evaluation mode, and there is no gradient. Returns what `losses` takes in the part's place, and
        the count of each `uncounted` name on it.
        """
        return batch, {}


class Objective(ABC):
    """A frozen dataclass of plain values that makes streams for a pair of languages."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The field's name for it."""

    @property
    def language_embeddings(self) -> bool:
        """Whether the model tells languages apart by an embedding (RoBERTa's token types serve)."""
        return False

    @property
    def share(self) -> float:
        """The share of the positions that have a label, for estimates of cost."""
        return 0.0

    def heads(self, width: int) -> dict[str, Module]:
        """Parameters of its own for a model of this width, new ones, by the name that they get in the model.

        They are trained and resumed with the model's, and left out of its checkpoint.
        """
        return {}

    def mistakes(self, model: ModelConfig) -> list[str]:
        """Everything that is wrong with training such a model so, in words."""
        return []

    @abstractmethod
    def streams(self, pair: LanguagePair, length: int, seed: int) -> list[Stream]:
        """What to train on, in rows of `length` ids. `seed` decides what is sampled, if anything is."""


@dataclass(frozen=True)
class Sum(Objective):
    """Several objectives at once, under a name of their own."""

    title: str
    parts: tuple[Objective, ...]

    @property
    def name(self) -> str:
        return self.title

    @property
    def language_embeddings(self) -> bool:
        return any(part.language_embeddings for part in self.parts)

    @property
    def share(self) -> float:
        return max(part.share for part in self.parts)

    def heads(self, width: int) -> dict[str, Module]:
        return {name: head for part in self.parts for name, head in part.heads(width).items()}

    def mistakes(self, model: ModelConfig) -> list[str]:
        return [mistake for part in self.parts for mistake in part.mistakes(model)]

    def streams(self, pair: LanguagePair, length: int, seed: int) -> list[Stream]:
        return [stream for part in self.parts for stream in part.streams(pair, length, seed)]


def share_rows(batch: int, instances: Sequence[int]) -> list[int]:
    """Share `batch` rows out in proportion to `instances`, at least one to a stream that has any.

    The largest stream takes what rounding leaves, so the sum is `batch` whenever there is room for all.
    """
    total = sum(instances)
    rows = [max(1, round(batch * n / total)) if n else 0 for n in instances]
    largest = max(range(len(rows)), key=lambda i: instances[i])
    rows[largest] = max(1, rows[largest] + batch - sum(rows))
    return rows
