"""Pretraining objectives: sums of losses, each on its own stream of batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module, Parameter

from derive.files import plain
from derive.languages import Languages
from pretrain.config import ModelConfig
from pretrain.cost import flops_per_id
from pretrain.distributed import World
from pretrain.learner import Learner
from pretrain.order import Part

Linked = Literal["", "gold", "grow-diag-final-and", "intersect"]
"""Which links of bitexts an objective asks for: none, those of the derivation, or fast_align's, so symmetrised."""
GROWN: Linked = "grow-diag-final-and"
GOLD: Linked = "gold"


class Batch(Protocol):
    """Rows that micro-batches and processes can split between them."""

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
    """The number of instances. A step's rows are divided among streams in proportion to it."""

    left_out: dict[str, int]
    """How much of the corpora is in no instance, by reason."""

    parts: Mapping[Part, int] = MappingProxyType({})
    """How many instances are of each language, or pair of languages, in the order in which they are numbered."""

    uncounted: tuple[str, ...] = ()
    """Terms of `losses` that `draw` cannot count, because their count depends on the model."""

    @abstractmethod
    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Any, dict[str, int]]:
        """The batch of these instances, newly masked, and the count by which each loss term is divided."""

    def pieces(self, part: Any) -> Sequence[Any]:
        """What the model is shown, one after the other, of this process's part of a micro-batch.

        Losses are sums, so pieces change gradients by rounding alone.
        """
        return (part,)

    def before_step(self, learner: Learner, parts: Sequence[Any], world: World) -> tuple[Sequence[Any], dict[str, int]]:
        """Called once a step, before its first gradient, in every process.

        `parts` are this process's micro-batches. This is the place to let the model label them (inside `looking`), to
        update a momentum encoder, or to fill a queue from all processes (`world.gather`). State that a resumed run
        needs belongs in parameters or buffers of the objective's modules.

        Returns the batches that `losses` gets instead of `parts`, and this process's count of each `uncounted` term.
        """
        return parts, {}

    @abstractmethod
    def losses(self, learner: Learner, batch: Any) -> dict[str, Tensor]:
        """The sum of each loss term over a batch, or a part of one.

        Names that have no weight are divided by their count and logged too, but have no part in the gradient.
        Processes are not asked for anything here: they send gradients meanwhile, and not all have as many parts.
        """

    def reaches(self, learner: Learner) -> Iterable[Parameter]:
        """The parameters that `losses` may have a gradient for: all, unless a stream knows better.

        Several processes add up the gradients of the others while this stream's backward pass is still to come.
        """
        return learner.trained.values()


class Objective(ABC):
    """A frozen dataclass of plain values that makes streams for languages."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the field calls it; folders and the command line use this name."""

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
        """A number to raise when a change of the code makes another model from the same settings."""
        return 1

    @property
    def language_embeddings(self) -> bool:
        """Whether the model tells languages apart by an embedding (RoBERTa's token types serve)."""
        return False

    @property
    def mask_rate(self) -> float:
        """The fraction of positions that have a label, for estimates of cost."""
        return 0.0

    def flops_per_id(self, model: ModelConfig, types: int) -> float:
        """Training operations an id of text, for estimates of cost."""
        return flops_per_id(model, types, self.mask_rate)

    def pair_flops_per_id(self, model: ModelConfig, types: int, resting: bool = False) -> float:
        """The same of what it reads of bitexts; 0 where it reads none. `resting`: the encoder does not learn."""
        return 0.0

    @property
    def asked_links(self) -> Linked:
        """The links of words of bitexts that it learns from."""
        return ""

    @property
    def parallel_share(self) -> float:
        """The share of the parallel sentences that it reads: an aligner that serves it reads no others."""
        return 1.0

    @property
    def reads_text(self) -> bool:
        """Whether it reads text that has no translation, too."""
        return True

    @property
    def predicts(self) -> bool:
        """Whether it predicts sub-words, so that a prediction head is learnt."""
        return True

    @property
    def needs_start(self) -> bool:
        """Whether it is of no use to a model that has learnt nothing."""
        return False

    @property
    def begins_with(self) -> tuple[Objective, float] | None:
        """The objective whose model it begins with, and the fraction of its steps that are that one's."""
        return None

    def modules(self, model: Any) -> dict[str, Module]:
        """New modules of the objective's own, by the names under which streams find them in `Learner.own`.

        They may share the model's parameters, as a head tied to its embeddings does. They are trained (except for
        parameters that require no gradient) and resumed with the model, but are not part of its checkpoint.
        """
        return {}

    def learner(self, model: Any, seed: int) -> Learner:
        """A model as this objective trains it; the same seed gives the objective's modules the same weights."""
        torch.manual_seed(seed)
        return Learner(model, self.modules(model))

    def mistakes(self, model: ModelConfig) -> list[str]:
        """Everything that is wrong with this objective for such a model, in words."""
        return []

    @abstractmethod
    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        """The streams to train on, in rows of `length` ids; `seed` decides whatever is sampled."""


@dataclass(frozen=True)
class Sum(Objective):
    """Several objectives trained together under the name `label`; `known_as` is their title, if that is another.

    Raises:
        ValueError: one of them begins with another model, which a sum would leave out; or two learn from other links of
            bitexts, or from links in other shares of these, of which a model gets one kind.
    """

    label: str
    parts: tuple[Objective, ...]
    known_as: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if begun := [part.name for part in self.parts if part.begins_with]:
            raise ValueError(f"{self.name}: {begun[0]} begins with another model, and no part of a sum may")
        linked = [part for part in self.parts if part.asked_links]
        if len({(part.asked_links, part.parallel_share) for part in linked}) > 1:
            asked = " and ".join(f"{part.name} {part.asked_links} of {part.parallel_share:.0%}" for part in linked)
            raise ValueError(f"{self.name}: the parts of a sum get the same links, and {asked} are asked for")

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
    def asked_links(self) -> Linked:
        return next((part.asked_links for part in self.parts if part.asked_links), "")

    @property
    def parallel_share(self) -> float:
        return next((part.parallel_share for part in self.parts if part.asked_links), 1.0)

    @property
    def reads_text(self) -> bool:
        return any(part.reads_text for part in self.parts)

    @property
    def predicts(self) -> bool:
        return any(part.predicts for part in self.parts)

    @property
    def needs_start(self) -> bool:
        return all(part.needs_start for part in self.parts)

    @property
    def mask_rate(self) -> float:
        return max(part.mask_rate for part in self.parts)

    def pair_flops_per_id(self, model: ModelConfig, types: int, resting: bool = False) -> float:
        return max(part.pair_flops_per_id(model, types, resting) for part in self.parts)

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
