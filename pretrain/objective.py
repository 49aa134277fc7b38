"""Pretraining objectives: sums of losses, each on its own stream of batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module

from calque.derive.fingerprint import plain
from calque.derive.forms import Named, percent
from calque.derive.languages import Languages
from calque.pretrain.architecture import architecture_of
from calque.pretrain.config import ModelConfig
from calque.pretrain.cost import flops_per_id
from calque.pretrain.distributed import World
from calque.pretrain.model import Learner
from calque.pretrain.order import Part

Linked = Literal["", "gold", "grow-diag-final-and", "intersect"]
"""The links of bitexts that an objective learns from: none, the derivation's, or fast_align's, so symmetrised."""
GROWN: Linked = "grow-diag-final-and"
GOLD: Linked = "gold"


class Stream(ABC):
    """Instances in a shuffled order, and the losses on them.

    Losses are sums, never means: the loop divides each once by its count over the whole batch, so that
    neither micro-batches nor processes change a gradient.

    weights: the weight of each loss term in the sum, by name.
    instances: their number. A step's rows are divided among streams in proportion to it.
    left_out: how much of the corpora is in no instance, by reason.
    parts: how many instances each language, or pair of languages, has, in the order in which they are numbered.
    uncounted: terms of `losses` that `draw` cannot count, because their count depends on the model.
    """

    weights: dict[str, float]
    instances: int
    left_out: dict[str, int]
    parts: Mapping[Part, int] = MappingProxyType({})
    uncounted: tuple[str, ...] = ()

    @abstractmethod
    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Any, dict[str, int]]:
        """The batch of these instances, newly masked, and the count by which each loss term is divided."""

    def pieces(self, part: Any) -> Sequence[Any]:
        """What the model reads at a time of this process's part of a micro-batch."""
        return (part,)

    def before_step(self, learner: Learner, parts: Sequence[Any], world: World) -> tuple[Sequence[Any], dict[str, int]]:
        """Called once a step, before its first gradient, in every process. `parts` are this process's micro-batches.
        This is the place to let the model label them (inside `looking`), to update a momentum encoder, or to fill a
        queue from all processes (`world.gather`). State that a resumed run needs belongs in parameters or buffers of
        the objective's modules. Returns the batches that `losses` gets instead of `parts`, and this process's count of
        each `uncounted` term."""
        return parts, {}

    @abstractmethod
    def losses(self, learner: Learner, batch: Any) -> dict[str, Tensor]:
        """The sum of each loss term over a batch, or a part of one.

        Terms without a weight are divided by their count and logged too, but have no part in the gradient.
        Processes exchange nothing here: not all have the same number of parts.
        """


@dataclass(frozen=True)
class Traits:
    """What studies and runs have to know of an objective before it makes streams.

    mask_rate: the fraction of positions that have a label, for estimates of cost.
    language_embeddings: whether the model distinguishes languages by an embedding (RoBERTa's token types serve).
    text: whether it reads text that has no translation, too.
    links, parallel_share: the links of bitexts that it learns from, and the share of the sentences that it reads.
    predicts: whether it predicts sub-words, so that a prediction head is learnt.
    needs_start: whether it cannot start from new weights.
    start: the objective whose model it starts from, and the fraction of its steps that are that one's.
    head_only: whether only the prediction head is trained.
    memory: bytes of its own modules, where they are many.
    format: a number to raise when a change of the code makes another model from the same settings.
    """

    mask_rate: float = 0.0
    language_embeddings: bool = False
    text: bool = True
    links: Linked = ""
    parallel_share: float = 1.0
    predicts: bool = True
    needs_start: bool = False
    start: tuple[Objective, float] | None = None
    head_only: bool = False
    memory: int = 0
    format: int = 1


class Objective(Named, ABC):
    """A frozen dataclass of plain values that makes streams for languages.

    summary: one sentence about it, for glossaries and the README.
    paper: where it is from.
    """

    summary: ClassVar[str] = ""
    paper: ClassVar[str] = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Nothing would read such a property, and the model would be trained without what it says.
        if wrong := [trait.name for trait in fields(Traits) if isinstance(vars(cls).get(trait.name), property)]:
            raise TypeError(f"{cls.__name__}: {', '.join(wrong)}: expected in `traits`, not as a property")

    @property
    def traits(self) -> Traits:
        return Traits()

    @property
    def parts(self) -> tuple[Objective, ...]:
        """The objectives that it is the sum of; itself, if it is not a sum."""
        return (self,)

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        """Each part's kind and parameters as plain JSON values, for records."""
        return (plain(self),)

    @abstractmethod
    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        """The streams to train on, in rows of `length` ids; `seed` decides whatever is sampled."""

    def modules(self, model: Any) -> dict[str, Module]:
        """New modules of the objective's own, by the names under which streams find them in `Learner.own`. They may
        share the model's parameters, as a head tied to its embeddings does. They are trained (except for parameters
        that require no gradient) and resumed with the model, but are not part of its checkpoint."""
        return {}

    def pair_flops(self, model: ModelConfig, types: int, resting: bool) -> float:
        """Training operations an id of bitext; 0 if it reads none. `resting`: the encoder does not learn."""
        return 0.0

    def mistakes(self, model: ModelConfig) -> list[str]:
        """What of it does not fit a model, in words."""
        return []

    def flops(self, model: ModelConfig, types: int, pairs: float = 0.0) -> float:
        """Training operations an id, of which a share `pairs` is of bitexts, for estimates of cost."""
        resting = self.traits.head_only
        of_text = flops_per_id(model, types, self.traits.mask_rate, resting)
        return (1 - pairs) * of_text + pairs * self.pair_flops(model, types, resting)

    def learner(self, model: Any, seed: int) -> Learner:
        """A model as this objective trains it; the same seed gives the objective's modules the same weights."""
        torch.manual_seed(seed)
        learner = Learner(model, self.modules(model))
        if self.traits.head_only:
            head, table = architecture_of(model.config).head, model.get_input_embeddings().weight
            for name, parameter in model.named_parameters():  # each once, and XLM-R's table under the head's name
                parameter.requires_grad_(name.startswith(f"{head}.") and parameter is not table)
        return learner


class Composite(Objective):
    """An objective that is made of others. What it reads, learns and costs follows from its parts."""

    def __post_init__(self) -> None:
        _ = self.parts  # which refuse settings that they cannot have

    @property
    @abstractmethod
    def parts(self) -> tuple[Objective, ...]: ...

    @property
    def traits(self) -> Traits:
        traits = [part.traits for part in self.parts]
        linked = next((one for one in traits if one.links), Traits())
        return Traits(
            mask_rate=max(one.mask_rate for one in traits),
            language_embeddings=any(one.language_embeddings for one in traits),
            text=any(one.text for one in traits),
            links=linked.links,
            parallel_share=linked.parallel_share,
            predicts=any(one.predicts for one in traits),
            needs_start=all(one.needs_start for one in traits),
            memory=sum(one.memory for one in traits),
            format=max(one.format for one in traits),
        )

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        return tuple(facet for part in self.parts for facet in part.facets)

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [stream for part in self.parts for stream in part.streams(languages, length, seed)]

    def modules(self, model: Any) -> dict[str, Module]:
        modules: dict[str, Module] = {}
        for part in self.parts:
            own = part.modules(model)
            if twice := modules.keys() & own.keys():
                raise ValueError(f"{self.name}: two parts have a module {min(twice)!r}; each needs a name of its own")
            modules |= own
        return modules

    def pair_flops(self, model: ModelConfig, types: int, resting: bool) -> float:
        return max(part.pair_flops(model, types, resting) for part in self.parts)

    def mistakes(self, model: ModelConfig) -> list[str]:
        return [mistake for part in self.parts for mistake in part.mistakes(model)]


@dataclass(frozen=True)
class Sum(Composite):
    """Several objectives trained together under the name `label`; `heading` is their title, if that is another. A model
    gets one kind of links in one share of its bitexts, so parts that learn from links agree in both."""

    label: str
    summands: tuple[Objective, ...]
    heading: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for one in self.summands:
            if one.traits.start or one.traits.head_only:
                does = "starts from another model" if one.traits.start else "trains the prediction head alone"
                raise ValueError(f"{self.label}: {one.name} {does}, and no part of a sum may")
        linked = {(part.traits.links, part.traits.parallel_share): part.name for part in self.parts}
        linked = {links: name for links, name in linked.items() if links[0]}
        if len(linked) > 1:
            wanted = " and ".join(f"{name} {links} of {share:.0%}" for (links, share), name in linked.items())
            raise ValueError(f"{self.label}: expected the same links for all parts of a sum, not {wanted}")

    @property
    def name(self) -> str:
        return self.label

    @property
    def title(self) -> str:
        return self.heading or self.label

    @property
    def parts(self) -> tuple[Objective, ...]:
        return tuple(part for one in self.summands for part in one.parts)


@dataclass(frozen=True)
class After(Composite):
    """`then`, on the model that `first` made of the same languages with the same seed: a cold start.

    `portion` of the steps are `first`'s, so that both together take as many as any other objective. Its model is a run
    of its own, from which others may start too. Both have a model of the same shape: with language embeddings, or
    without.
    """

    then: Objective
    first: Objective
    portion: float = 0.5

    forms = (percent("portion", "-for-", "{percent} % of the steps", "25", " ({})"),)

    def __post_init__(self) -> None:
        check_portion(self.portion)
        if self.first.traits.start or self.then.traits.start:
            raise ValueError(f"{self.name}: neither may start from another model itself")
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


def check_portion(portion: float) -> None:
    """Raise ValueError unless `portion` is a fraction of the steps that leaves some over."""
    if not 0 < portion < 1:
        raise ValueError(f"portion is a fraction of the steps, between 0 and 1, not {portion}")


@dataclass(frozen=True)
class HeadOnly(Composite):
    """`objective`, of whose model only the prediction head is trained; its table, which it shares, stays as it is. A
    new head asks for gradients that say nothing yet, and an encoder that follows them forgets. With the encoder at rest
    a step costs less than half."""

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
