"""What a model is pretrained to do: a sum of losses, each on a stream of batches of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module

from derive.files import plain
from derive.languages import Languages
from pretrain.config import ModelConfig
from pretrain.distributed import World
from pretrain.learner import Learner


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

    def before_step(self, learner: Learner, parts: Sequence[Any], world: World) -> tuple[Sequence[Any], dict[str, int]]:
        """Called once a step, before its first gradient, in every process.

        `parts` are this process's micro-batches. Here a model labels them (inside `looking`), a momentum encoder
        follows the model, a queue takes in what all processes have (`world.gather`). What must be there again when a
        run resumes is a parameter or a buffer of the objective's modules.

        Returns what `losses` takes in the parts' places, and this process's count of each `uncounted` name.
        """
        return parts, {}

    @abstractmethod
    def losses(self, learner: Learner, batch: Any) -> dict[str, Tensor]:
        """The sum of each loss term over a batch, or a part of one.

        What else it names is divided by its count and logged likewise, and has no part in the gradient.
        """


class Objective(ABC):
    """A frozen dataclass of plain values that makes streams for languages."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The field's name for it, as folders and the command line have it."""

    @property
    def title(self) -> str:
        """What people call it."""
        return self.name

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        """What it is made of, as records keep it: each part's kind and parameters, as plain JSON values."""
        return (plain(self),)

    @property
    def format(self) -> int:
        """Goes up when the code would make another model of the same settings."""
        return 1

    @property
    def language_embeddings(self) -> bool:
        """Whether the model tells languages apart by an embedding (RoBERTa's token types serve)."""
        return False

    @property
    def mask_rate(self) -> float:
        """The share of the positions that have a label, for estimates of cost."""
        return 0.0

    def modules(self, model: Any) -> dict[str, Module]:
        """Modules of its own, new ones, by the name that streams find them under in `Learner.own`.

        They are made from the model and may share its parameters, as a head on its embeddings does. They are trained
        (but for parameters that ask for no gradient) and resumed with the model, and left out of its checkpoint.
        """
        return {}

    def learner(self, model: Any, seed: int) -> Learner:
        """A model as this objective trains it; the same seed gives the objective's modules the same weights."""
        torch.manual_seed(seed)
        return Learner(model, self.modules(model))

    def mistakes(self, model: ModelConfig) -> list[str]:
        """Everything that is wrong with training such a model so, in words."""
        return []

    @abstractmethod
    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        """What to train on, in rows of `length` ids. `seed` decides what is sampled, if anything is."""


@dataclass(frozen=True)
class Sum(Objective):
    """Several objectives at once, under a name of their own; `known_as` is what people call them if not that."""

    label: str
    parts: tuple[Objective, ...]
    known_as: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        return self.label

    @property
    def title(self) -> str:
        return self.known_as or self.label

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        return tuple(facet for part in self.parts for facet in part.facets)

    @property
    def format(self) -> int:
        return max(part.format for part in self.parts)

    @property
    def language_embeddings(self) -> bool:
        return any(part.language_embeddings for part in self.parts)

    @property
    def mask_rate(self) -> float:
        return max(part.mask_rate for part in self.parts)

    def modules(self, model: Any) -> dict[str, Module]:
        made: dict[str, Module] = {}
        for part in self.parts:
            own = part.modules(model)
            if twice := made.keys() & own.keys():
                raise ValueError(f"{self.name}: two parts have a module {min(twice)!r}; each needs a name of its own")
            made |= own
        return made

    def mistakes(self, model: ModelConfig) -> list[str]:
        return [mistake for part in self.parts for mistake in part.mistakes(model)]

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [stream for part in self.parts for stream in part.streams(languages, length, seed)]


def share_rows(batch: int, instances: Sequence[int]) -> list[int]:
    """Share `batch` rows out in proportion to `instances`, at least one to a stream that has any.

    The largest stream takes what rounding leaves, so the sum is `batch` whenever there is room for all.
    """
    total = sum(instances)
    rows = [max(1, round(batch * n / total)) if n else 0 for n in instances]
    largest = max(range(len(rows)), key=lambda i: instances[i])
    rows[largest] = max(1, rows[largest] + batch - sum(rows))
    return rows
