"""Pretraining objectives: sums of losses, each computed on its own stream of batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from calque.derive.fingerprint import code_of, plain
from calque.derive.forms import Named, percent
from calque.derive.languages import Languages
from calque.pretrain.config import ModelConfig, Part, out_of_range
from calque.pretrain.distributed import World
from calque.pretrain.lazy import Optimizer, Tensor, nn, torch
from calque.pretrain.model import head_of, main_layer

if TYPE_CHECKING:
    from calque.pretrain.modules import Learner
else:
    Learner = "a class of pretrain.modules, which imports torch"

Linked = Literal["", "gold", "grow-diag-final-and", "intersect"]
"""An objective's word links: none, the derivation's, or fast_align's."""
GROWN: Linked = "grow-diag-final-and"
GOLD: Linked = "gold"


Random = np.random.Generator
Counts = dict[str, int]  # loss terms' divisors
Losses = dict[str, Tensor]  # loss terms' sums


class Update(NamedTuple):
    """One of a run's `steps` updates; `step` counts from 0."""

    learner: Learner
    world: World
    optimizer: Optimizer
    step: int
    steps: int


class Stream(ABC):
    """Training instances and their losses. Losses are sums, which the loop divides by counts over the whole
    batch, so that gradients do not depend on micro-batches and processes.

    weights: each loss term's weight in the total loss.
    instances: their number; a step's rows are divided among streams in proportion to it.
    left_out: the amount of excluded text, by reason.
    parts: the number of instances of each language or pair, in order.
    """

    weights: dict[str, float]
    instances: int = 0
    left_out: Mapping[str, int] = MappingProxyType({})
    parts: Mapping[Part, int] = MappingProxyType({})

    def __init__(self, languages: Languages, length: int, seed: int, objective: Any) -> None:
        self.languages, self.length, self.seed, self.objective = languages, length, seed, objective
        self.prepare()

    @abstractmethod
    def prepare(self) -> None:
        """Set the attributes above."""

    @abstractmethod
    def draw(self, instances: Sequence[int], random: Random) -> tuple[Any, Counts]:
        """Return a batch of instances, with new masks, and each loss term's divisor."""

    def pieces(self, part: Any) -> Sequence[Any]:
        """Divide this process's part of a micro-batch into pieces."""
        return (part,)

    def before_step(self, update: Update, parts: Sequence[Any]) -> tuple[Sequence[Any], Losses]:
        """Label this process's micro-batches with the model (inside `evaluating`), or change weights, the
        optimizer's state and the objective's modules, identically in every process; resumed runs restore
        only the modules' parameters and buffers. Return the batches for `losses` and this process's share of
        further divisors, with the same names in every process."""
        return parts, {}

    @abstractmethod
    def losses(self, learner: Learner, batch: Any) -> Losses:
        """Return each loss term's sum over a part of a batch; terms without a weight are only logged.
        Processes may have different numbers of parts, so they must not communicate here."""


@dataclass(frozen=True)
class Traits:
    """Properties of an objective that studies and runs need before streams are created.

    mask_rate, passes: for cost estimates, the fraction of labelled positions and how often each id is encoded
        (without gradients: a third).
    language_embeddings: whether token types represent languages.
    text: whether the objective also reads monolingual text.
    dictionary: whether it needs entries that link two different words.
    links, parallel_share: the word links to learn from, and the fraction of parallel sentences to link.
    predicts: whether it trains a prediction head.
    needs_start: whether it cannot start from random weights.
    start: the objective whose model this one starts from, and its fraction of all steps.
    format: incremented when a code change alters trained models.
    """

    mask_rate: float = 0.0
    passes: float = 1.0
    language_embeddings: bool = False
    text: bool = True
    dictionary: bool = False
    links: Linked = ""
    parallel_share: float = 0.0
    predicts: bool = True
    needs_start: bool = False
    start: tuple[Objective, float] | None = None
    format: int = 1


class Objective(Named, ABC):
    """Base class of objectives: frozen dataclasses of plain values. The first paragraph of the docstring is
    the definition. Classes outside Calque are assumed to read dictionaries and bitexts."""

    paper: ClassVar[str] = ""
    stream_types: ClassVar[tuple[type[Stream], ...]]
    limits: ClassVar[Mapping[str, Any]] = MappingProxyType({})  # arguments of `out_of_range`
    mask_rate: float = 0.0

    def __post_init__(self) -> None:
        shares = [*self.limits.get("shares", ()), "mask_rate"]
        if wrong := out_of_range(self, **{**self.limits, "shares": shares}):
            raise ValueError("; ".join(wrong))

    @property
    def traits(self) -> Traits:
        return Traits(mask_rate=self.mask_rate)

    @property
    def parts(self) -> tuple[Objective, ...]:
        return (self,)

    @property
    def reads_dictionary(self) -> bool:
        return self.traits.dictionary or self._reads("reads_dictionary")

    @property
    def reads_bitexts(self) -> bool:
        return self._reads("reads_bitexts")

    def _reads(self, name: str) -> bool:
        parts = (part for part in self.parts if part is not self)
        return bool(code_of(type(self))) or any(getattr(part, name) for part in parts)

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        """Each part's kind and parameters, for records."""
        return tuple(map(plain, self.parts))

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        """Create the streams, with rows of `length` ids."""
        return [kind(languages, length, seed, self) for kind in self.stream_types]

    def modules(self, model: Any) -> dict[str, nn.Module]:
        """Create the objective's own modules, which may share parameters with the model. They are trained
        and resumed with it, but not saved in checkpoints."""
        return {}

    def mistakes(self, model: ModelConfig) -> list[str]:
        """Return messages about settings that do not fit a model."""
        return []

    def main_layer(self, layers: int) -> int:
        """Return the layer to measure in a model of `layers` layers."""
        return main_layer(layers)

    def learner(self, model: Any, seed: int) -> Learner:
        """Combine the model with the objective's modules."""
        from calque.pretrain.modules import Learner

        torch.manual_seed(seed)
        return Learner(model, self.modules(model))


class Composite(Objective):
    """An objective that combines the data, modules and costs of others."""

    def __post_init__(self) -> None:
        links = {(part.traits.links, part.traits.parallel_share) for part in self.parts if part.traits.links}
        if len(links) > 1:
            raise ValueError(f"{self.name}: parts must use the same links and share of the bitexts")

    @property
    @abstractmethod
    def parts(self) -> tuple[Objective, ...]: ...

    @property
    def traits(self) -> Traits:
        """Each trait's largest value among the parts."""
        traits = [part.traits for part in self.parts]
        names = [field.name for field in fields(Traits) if field.name != "start"]
        return Traits(**{name: max(getattr(trait, name) for trait in traits) for name in names})

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [stream for part in self.parts for stream in part.streams(languages, length, seed)]

    def modules(self, model: Any) -> dict[str, nn.Module]:
        return {name: module for part in self.parts for name, module in part.modules(model).items()}

    def mistakes(self, model: ModelConfig) -> list[str]:
        return [mistake for part in self.parts for mistake in part.mistakes(model)]


@dataclass(frozen=True)
class Sum(Composite):
    label: str
    summands: tuple[Objective, ...]
    heading: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        return self.label

    @property
    def title(self) -> str:
        return self.heading or self.label

    @property
    def parts(self) -> tuple[Objective, ...]:
        return tuple(part for summand in self.summands for part in summand.parts)


@dataclass(frozen=True)
class After(Composite):
    """Trains `then` from a model trained with `first` for a fraction `portion` of all steps. Either both use
    language embeddings or neither."""

    then: Objective
    first: Objective
    portion: float = 0.5

    forms = (percent("portion", "-for-", "{percent} % of the steps", "25", " ({})"),)

    def __post_init__(self) -> None:
        if not 0 < self.portion < 1:
            raise ValueError(f"portion must be between 0 and 1, not {self.portion}")
        if self.first.traits.start or self.then.traits.start:
            raise ValueError(f"{self.name}: neither objective may itself start from another model")
        if self.first.traits.language_embeddings != self.then.traits.language_embeddings:
            raise ValueError(f"{self.name}: only one of the two has language embeddings")

    @property
    def name(self) -> str:
        return f"{self.then.name}-after-{self.first.name}{self.suffix}"

    @property
    def title(self) -> str:
        return f"{self.then.title} after {self.first.title}{self.title_suffix}"

    @property
    def parts(self) -> tuple[Objective, ...]:
        return self.then.parts

    @property
    def traits(self) -> Traits:
        return replace(self.then.traits, needs_start=False, start=(self.first, self.portion))

    def learner(self, model: Any, seed: int) -> Learner:
        return self.then.learner(model, seed)

    def mistakes(self, model: ModelConfig) -> list[str]:
        return [*self.first.mistakes(model), *self.then.mistakes(model)]


@dataclass(frozen=True)
class HeadOnly(Composite):
    """Trains only the prediction head, as noisy gradients from a new head would make the encoder forget."""

    objective: Objective

    @property
    def name(self) -> str:
        return f"{self.objective.name}-head"

    @property
    def title(self) -> str:
        return f"{self.objective.title}, the prediction head alone"

    @property
    def parts(self) -> tuple[Objective, ...]:
        return self.objective.parts

    @property
    def traits(self) -> Traits:
        return replace(self.objective.traits, passes=self.objective.traits.passes - 2 / 3, needs_start=True)

    def learner(self, model: Any, seed: int) -> Learner:
        learner = super().learner(model, seed)
        model.requires_grad_(False)
        head_of(model).requires_grad_(True)
        model.get_input_embeddings().weight.requires_grad_(False)  # the head may share this table
        return learner
