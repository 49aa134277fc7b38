"""Pretraining objectives: sums of losses, each on its own stream of batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from calque.derive.fingerprint import code_of, plain
from calque.derive.forms import Named, percent
from calque.derive.languages import Languages
from calque.pretrain.architecture import architecture_of, main_layer
from calque.pretrain.config import ModelConfig
from calque.pretrain.cost import flops_per_id, pair_flops_per_id
from calque.pretrain.distributed import World
from calque.pretrain.lazy import Optimizer, Tensor, nn, torch
from calque.pretrain.shuffle import Part

if TYPE_CHECKING:
    from calque.pretrain.modules import Learner

Linked = Literal["", "gold", "grow-diag-final-and", "intersect"]
"""The word links used by an objective: none, gold links from the derivation, or fast_align's, symmetrised."""
GROWN: Linked = "grow-diag-final-and"
GOLD: Linked = "gold"


class Stream(ABC):
    """Instances in a shuffled order, and the losses on them. Losses are sums, which the loop divides once by
    their counts over the whole batch, so that gradients do not depend on micro-batches and processes.

    weights: the weight of each loss term in the sum, by name.
    instances: the number of instances; a step's rows are divided among streams in proportion to it.
    left_out: counts of excluded text, by reason.
    parts: the number of instances of each language or pair of languages, in the order of their numbering.
    uncounted: terms of `losses` that `draw` cannot count, because their count depends on the model.
    """

    weights: dict[str, float]
    instances: int
    left_out: Mapping[str, int] = MappingProxyType({})
    parts: Mapping[Part, int] = MappingProxyType({})
    uncounted: tuple[str, ...] = ()

    @abstractmethod
    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Any, dict[str, int]]:
        """Return the batch of these instances, newly masked, and the divisor of each loss term."""

    def pieces(self, part: Any) -> Sequence[Any]:
        """Split this process's part of a micro-batch into the pieces that the model reads at a time."""
        return (part,)

    def start_step(  # noqa: B027  # most streams change nothing
        self, step: int, steps: int, learner: Learner, optimizer: Optimizer, world: World
    ) -> None:
        """Hook called before each of `steps` steps (0-based). It may change the weights and the optimizer's
        state, identically in every process."""

    def before_step(
        self, learner: Learner, parts: Sequence[Any], world: World
    ) -> tuple[Sequence[Any], dict[str, Tensor]]:
        """Hook called once per step, before its first gradient, with this process's micro-batches. It may
        label them with the model (inside `evaluating`) or update the objective's modules, whose parameters
        and buffers are the only state restored on resumption. Returns the batches for `losses`, and the
        counts of `uncounted` terms."""
        return parts, {}

    @abstractmethod
    def losses(self, learner: Learner, batch: Any) -> dict[str, Tensor]:
        """Return the sum of each loss term over a batch or part of one. Terms without a weight are only
        logged. Processes must not communicate here, because their numbers of parts may differ."""


@dataclass(frozen=True)
class Traits:
    """Properties of an objective that studies and runs need before its streams exist.

    mask_rate: the fraction of labelled positions, for cost estimates.
    language_embeddings: whether the model has language embeddings (RoBERTa's token types).
    text: whether it also reads monolingual text.
    dictionary: whether it needs dictionary entries of two different words.
    links, parallel_share: the word links it learns from, and the fraction of parallel sentences it reads.
    predicts: whether it predicts sub-words, so that it trains a prediction head.
    needs_start: whether it cannot start from random weights.
    start: the objective whose model it starts from, and the fraction of the steps spent on that objective.
    head_only: whether only the prediction head is trained.
    memory: bytes of its own modules, if large.
    format: a version, incremented when a code change alters the model for the same settings.
    """

    mask_rate: float = 0.0
    language_embeddings: bool = False
    text: bool = True
    dictionary: bool = False
    links: Linked = ""
    parallel_share: float = 1.0
    predicts: bool = True
    needs_start: bool = False
    start: tuple[Objective, float] | None = None
    head_only: bool = False
    memory: int = 0
    format: int = 1


class Objective(Named, ABC):
    """A frozen dataclass of plain values that creates streams for languages.

    summary: a one-sentence definition, for glossaries and documentation.
    paper: its source.
    """

    summary: ClassVar[str] = ""
    paper: ClassVar[str] = ""

    @property
    def traits(self) -> Traits:
        return Traits()

    @property
    def parts(self) -> tuple[Objective, ...]:
        """The objective's summands, or only itself if it is not a sum."""
        return (self,)

    @property
    def reads_dictionary(self) -> bool:
        """Whether a model depends on dictionaries, as is assumed for objectives defined outside Calque."""
        return self.traits.dictionary or bool(code_of(type(self)))

    @property
    def reads_bitexts(self) -> bool:
        """Whether a model depends on bitexts."""
        return bool(code_of(type(self)))

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        """Each part's kind and parameters as plain JSON values, for records."""
        return (plain(self),)

    @abstractmethod
    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        """Create the streams to train on, with rows of `length` ids; `seed` determines all sampling."""

    def modules(self, model: Any) -> dict[str, nn.Module]:
        """Create the objective's modules, by their names in `Learner.own`; they may share the model's
        parameters. They are trained and resumed with the model, but not saved in its checkpoint."""
        return {}

    def mistakes(self, model: ModelConfig) -> list[str]:
        """Return messages about settings that do not fit a model."""
        return []

    def main_layer(self, layers: int) -> int:
        """The layer whose states are measured in a trained model of `layers` layers."""
        return main_layer(layers)

    def pair_passes(self, layers: int) -> float:
        """How often a bitext's ids pass through a model of `layers` layers, for cost estimates; a backward
        pass counts as two."""
        return 3.0

    def flops(self, model: ModelConfig, types: int, pairs: float = 0.0) -> float:
        """Estimate the training operations per id if a fraction `pairs` of the ids comes from bitexts."""
        rate, frozen = self.traits.mask_rate, self.traits.head_only
        passes = self.pair_passes(model.layers) - (2 if frozen else 0)
        of_pairs = pair_flops_per_id(model, types, rate, passes, frozen)
        return (1 - pairs) * flops_per_id(model, types, rate, frozen) + pairs * of_pairs

    def learner(self, model: Any, seed: int) -> Learner:
        """Return the model with the objective's modules, whose initial weights depend on the seed."""
        from calque.pretrain.modules import Learner

        torch.manual_seed(seed)
        learner = Learner(model, self.modules(model))
        if self.traits.head_only:
            head, table = architecture_of(model.config).head, model.get_input_embeddings().weight
            for (
                name,
                parameter,
            ) in model.named_parameters():  # each appears once: XLM-R's table under the head's name
                parameter.requires_grad_(name.startswith(f"{head}.") and parameter is not table)
        return learner


class Composite(Objective):
    """An objective composed of others, with their data, modules and cost."""

    def __post_init__(self) -> None:
        _ = self.parts  # raises for invalid settings

    @property
    @abstractmethod
    def parts(self) -> tuple[Objective, ...]: ...

    @property
    def traits(self) -> Traits:
        traits = [part.traits for part in self.parts]
        linked = next((own for own in traits if own.links), Traits())
        return Traits(
            mask_rate=max(own.mask_rate for own in traits),
            language_embeddings=any(own.language_embeddings for own in traits),
            text=any(own.text for own in traits),
            dictionary=any(own.dictionary for own in traits),
            links=linked.links,
            parallel_share=linked.parallel_share,
            predicts=any(own.predicts for own in traits),
            needs_start=all(own.needs_start for own in traits),
            memory=sum(own.memory for own in traits),
            format=max(own.format for own in traits),
        )

    @property
    def reads_dictionary(self) -> bool:
        return bool(code_of(type(self))) or any(part.reads_dictionary for part in self.parts)

    @property
    def reads_bitexts(self) -> bool:
        return bool(code_of(type(self))) or any(part.reads_bitexts for part in self.parts)

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        return tuple(facet for part in self.parts for facet in part.facets)

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [stream for part in self.parts for stream in part.streams(languages, length, seed)]

    def modules(self, model: Any) -> dict[str, nn.Module]:
        modules: dict[str, nn.Module] = {}
        for part in self.parts:
            own = part.modules(model)
            if repeated := modules.keys() & own.keys():
                fault = f"two parts share the module name {min(repeated)!r}"
                raise ValueError(f"{self.name}: {fault}; expected different names")
            modules |= own
        return modules

    def pair_passes(self, layers: int) -> float:
        return max(part.pair_passes(layers) for part in self.parts)

    def mistakes(self, model: ModelConfig) -> list[str]:
        return [mistake for part in self.parts for mistake in part.mistakes(model)]


@dataclass(frozen=True)
class Sum(Composite):
    """Several objectives trained together under the name `label`, with the title `heading` if it differs.
    Parts that learn from links must use the same kind of links from the same fraction of the bitexts."""

    label: str
    summands: tuple[Objective, ...]
    heading: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for summand in self.summands:
            if summand.traits.start or summand.traits.head_only:
                raise ValueError(f"{self.label}: {summand.name} cannot be part of a sum")
        linked = {(part.traits.links, part.traits.parallel_share) for part in self.parts if part.traits.links}
        if len(linked) > 1:
            wanted = " and ".join(f"{links} of {share:.0%}" for links, share in sorted(linked))
            raise ValueError(f"{self.label}: expected the same links for all parts of a sum, not {wanted}")

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
    """`then`, starting from the model that `first` trains with the same languages and seed. A fraction
    `portion` of the steps goes to `first`, so that both together take the steps of one objective. The first
    model is a separate run, which other objectives may start from too. Both or neither must use language
    embeddings."""

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
            has = self.first if self.first.traits.language_embeddings else self.then
            raise ValueError(f"{self.name}: only {has.name} has language embeddings")

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

    def mistakes(self, model: ModelConfig) -> list[str]:
        return [*self.first.mistakes(model), *self.then.mistakes(model)]


@dataclass(frozen=True)
class HeadOnly(Composite):
    """`objective` with only the prediction head trained; the embedding table that the head shares stays
    frozen. A new head's initial gradients are noise that would make an encoder forget."""

    objective: Objective

    def __post_init__(self) -> None:
        if self.objective.traits.start:
            raise ValueError(f"{self.objective.name} starts from another model")

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
        return replace(self.objective.traits, head_only=True, needs_start=True)
