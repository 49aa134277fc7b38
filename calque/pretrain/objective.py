"""Pretraining objectives: sums of losses, each computed on its own stream of batches.

Shapes: B pairs, L ids per row, at most W ids per side.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import add
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from calque.derive.corpus import Ragged
from calque.derive.errors import BadInput
from calque.derive.fingerprint import code_of, plain
from calque.derive.forms import Form, Named, percent, word
from calque.derive.languages import Bitext, Languages
from calque.pretrain.batch import MARKS, Masking, PairRows
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
USUAL = 0.25  # the default fraction of parallel sentences to read (ALIGN-MLM, Tables 1 and 6)
PARALLEL = percent("parallel_fraction", "-", "{percent} % parallel", "10")
GOLD_LINKS = word("links", GOLD, "-gold", "gold links")
LINKS: dict[str, Linked] = {"self": "", "gold": GOLD, "estimated": GROWN, "agreement": GROWN}
"""The links for each kind of label; none if the model labels pairs itself."""
Pair = tuple[Bitext, int]  # a sentence pair's bitext, and its index there


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
        optimizer's state and the objective's modules, identically in every process; resumed runs restore only
        the modules' parameters and buffers. Return the batches for `losses` and this process's share of
        further divisors, with the same names everywhere."""
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
    parallel_share: float = 1.0
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
        """Create the objective's modules, which are trained and resumed, but not saved in checkpoints."""
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
        """Each trait's largest value among the parts; only parts with links determine which pairs are linked.
        A part that needs a start does not if others train the encoder."""
        traits = [part.traits for part in self.parts]
        names = [field.name for field in fields(Traits) if field.name != "start"]
        largest = {name: max(getattr(trait, name) for trait in traits) for name in names}
        linked = next((trait for trait in traits if trait.links), Traits())
        largest["parallel_share"] = linked.parallel_share
        return Traits(**largest | {"needs_start": all(trait.needs_start for trait in traits)})

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
    """Trains `then` from a model trained with `first` for a fraction `portion` of all steps."""

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


class PairObjective(Objective):
    """An objective that reads a fraction of the sentence pairs."""

    forms: ClassVar[tuple[Form, ...]] = (PARALLEL,)
    parallel_fraction: float
    links: Linked = ""
    reads_bitexts = True
    limits: ClassVar[dict[str, Any]] = {"fractions": ["parallel_fraction"], "positive": ["weight"]}

    @property
    def weights(self) -> dict[str, float]:
        return {"tlm": 1.0}

    @property
    def traits(self) -> Traits:
        return Traits(self.mask_rate, text=False, links=self.links, parallel_share=self.parallel_fraction)

    def mistakes(self, model: ModelConfig) -> list[str]:
        layers = [getattr(self, name, None) for name in ("label_layer", "layer")]
        invalid = [layer for layer in layers if layer is not None and not 1 <= layer <= model.layers]
        return [f"{self.name} needs layer {layer}, but the model has {model.layers}" for layer in invalid]


def fill(lengths: np.ndarray, room: int) -> np.ndarray:
    """Group items of `lengths`, (N, sides), greedily, so that sides fit into `room`; return starts."""
    starts, totals = list[int](), (room,) * lengths.shape[1]
    for item, sizes in enumerate(zip(*(side.tolist() for side in lengths.T), strict=True)):
        totals = tuple(map(add, totals, sizes))
        if max(totals) > room:
            starts.append(item)
            totals = sizes
    return np.array(starts, np.int64)


def sizes_of_words(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of ids in each word on both sides."""
    bitext, number = pair
    first, second = bitext.lines[number]
    return bitext.first.corpus.pieces[first], bitext.second.corpus.pieces[second]


class PairStream(Stream):
    """Sentence pairs as rows, with sides in random order. An instance is a group of consecutive pairs from
    one bitext that fit into a row or, if `sides` is 2, whose sides fit into half a row.

    groups: each instance's pairs, as indices in their bitext.
    has_gold: whether all pairs have gold links.
    """

    sides: ClassVar[int] = 1
    shuffled: ClassVar[bool] = False

    def prepare(self) -> None:
        objective, languages = self.objective, self.languages
        self.weights, links = objective.weights, objective.traits.links
        self.bitexts, self.pad = languages.bitexts, languages.specials.pad
        self.masking = Masking(languages.specials, languages.tables, objective.mask_rate)
        self.has_gold = all(bitext.gold and bitext.estimates is None for bitext in self.bitexts)
        self.room = self.length if self.sides == 1 else self.length // 2 - 1
        self._group()
        if links == GOLD and not self.has_gold:
            raise BadInput(f"{objective.name} needs gold links, which natural bitexts do not have")
        if links not in ("", GOLD) and any(bitext.estimates is None for bitext in self.bitexts):
            raise BadInput(f"{objective.name} needs estimated links for all bitexts, but some have none")

    def _group(self) -> None:
        pairs, starts, sampled, fitting = [], [], 0, 0
        for bitext in self.bitexts:
            sample = bitext.sample(self.objective.parallel_fraction, self.seed)
            if self.shuffled:
                sample = np.random.default_rng(self.seed).permutation(sample)
            sides = zip((bitext.first, bitext.second), bitext.lines[sample].T, strict=True)
            ids = np.stack([language.corpus.tokens.sizes_of(lines) for language, lines in sides], axis=1)
            ids = ids + 1 if self.sides == 2 else ids.sum(1, keepdims=True) + MARKS
            fits = (ids <= self.room).all(axis=1)
            pairs.append(sample[fits])
            starts.append(fill(ids[fits], self.room) + fitting)
            sampled, fitting = sampled + len(sample), fitting + len(pairs[-1])
        room, place = ("per side", "half a row") if self.sides == 2 else ("with its translation", "a row")
        if not fitting:
            raise BadInput(f"none of the {sampled:,} parallel sentences fits into {self.room:,} ids {room}")
        self.groups = Ragged(np.concatenate(pairs), np.concatenate([*starts, [fitting]]))
        self.parts = {bitext.names: len(groups) for bitext, groups in zip(self.bitexts, starts, strict=True)}
        self.instances, self.ends = len(self.groups), np.cumsum(list(self.parts.values()))
        self.left_out = {f"parallel sentences longer than {place}": sampled - fitting}

    def bitext_of(self, instance: int) -> Bitext:
        return self.bitexts[int(np.searchsorted(self.ends, instance, side="right"))]

    def sentence_pairs(self, instances: Sequence[int]) -> list[Pair]:
        groups = ((self.bitext_of(instance), self.groups[instance]) for instance in instances)
        return [(bitext, pair) for bitext, pairs in groups for pair in pairs.tolist()]

    def draw_pairs(self, instances: Sequence[int], random: Random) -> PairRows:
        pairs = self.sentence_pairs(instances)
        return self.masked(pairs, random, random.random(len(pairs)) < 0.5)

    def masked(self, pairs: Sequence[Pair], random: Random, swapped: Any = False) -> PairRows:
        """Read and mask pairs, with sides swapped where `swapped`, (B,) bool."""
        specials, orders = self.languages.specials, np.where(np.broadcast_to(swapped, len(pairs)), -1, 1)
        texts = [bitext.ids(pair)[::order] for (bitext, pair), order in zip(pairs, orders, strict=True)]
        sides = np.array([[len(side) for side in text] for text in texts])
        ids = np.full((len(pairs), int(sides.sum(1).max()) + MARKS), specials.pad)
        languages = np.full(ids.shape, self.languages.padding)
        gold = np.full((len(pairs), int(sides.max())), -1)
        start, end = [specials.start], [specials.end]
        for row, ((bitext, pair), order) in enumerate(zip(pairs, orders, strict=True)):
            (first, second), numbers = texts[row], (bitext.first.number, bitext.second.number)[::order]
            ends = len(first) + 2, len(first) + len(second) + MARKS
            ids[row, : ends[1]] = np.concatenate([start, first, end, second, end])
            languages[row, : ends[0]], languages[row, ends[0] : ends[1]] = numbers
            if bitext.linked:
                gold[row, : len(first)] = bitext.targets(pair, order < 0)
        rows = self.masking(ids, languages, random, padded=True)
        if self.languages.vocabulary.is_bert:
            second = np.arange(ids.shape[1]) > sides[:, :1] + 1  # positions after the first side's `[SEP]`
            segments = (second & (ids != self.pad)).astype(np.int64)
            rows = replace(rows, segments=torch.from_numpy(segments))
        dice = random.random(ids.shape, np.float32)
        return PairRows(rows, *map(torch.from_numpy, (ids, sides, gold, dice)))
