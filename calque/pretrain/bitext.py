"""Base classes of objectives that learn from sentence pairs.

Shapes: B pairs, L ids per row, at most W ids per side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import add
from typing import Any, ClassVar

import numpy as np

from calque.derive.corpus import Ragged
from calque.derive.errors import BadInput
from calque.derive.forms import Form, percent, word
from calque.derive.languages import Bitext
from calque.pretrain.batch import MARKS, Masking, PairRows
from calque.pretrain.config import ModelConfig
from calque.pretrain.lazy import torch
from calque.pretrain.objective import GOLD, GROWN, Linked, Objective, Random, Stream, Traits

USUAL = 0.25  # the default fraction of parallel sentences to read (ALIGN-MLM, Tables 1 and 6)
PARALLEL = percent("parallel_fraction", "-", "{percent} % parallel", "10")
GOLD_LINKS = word("links", GOLD, "-gold", "gold links")
LINKS: dict[str, Linked] = {"self": "", "gold": GOLD, "estimated": GROWN, "agreement": GROWN}
"""The links for each kind of label; none if the model labels pairs itself."""
Pair = tuple[Bitext, int]  # a sentence pair's bitext, and its index there


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
    """Group items with `lengths`, (N, sides), greedily, so that no side exceeds `room`; return the groups'
    starts."""
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

    groups: the indices of each instance's pairs in their bitext.
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
        swaps, specials = np.broadcast_to(swapped, len(pairs)).tolist(), self.languages.specials
        texts, numbers = [], []
        for (bitext, pair), swap in zip(pairs, swaps, strict=True):
            order = -1 if swap else 1
            texts.append(bitext.ids(pair)[::order])
            numbers.append([bitext.first.number, bitext.second.number][::order])
        sides = np.array([[len(side) for side in text] for text in texts])
        ids = np.full((len(pairs), int(sides.sum(1).max()) + MARKS), specials.pad)
        languages = np.full(ids.shape, self.languages.padding)
        gold = np.full((len(pairs), int(sides.max())), -1)
        start, end = [specials.start], [specials.end]
        for row, (first, second) in enumerate(texts):
            ends = len(first) + 2, len(first) + len(second) + MARKS
            ids[row, : ends[1]] = np.concatenate([start, first, end, second, end])
            languages[row, : ends[0]], languages[row, ends[0] : ends[1]] = numbers[row]
            bitext, pair = pairs[row]
            if bitext.linked:
                offsets = bitext.targets(pair, swaps[row])
                gold[row, : len(offsets)] = offsets
        rows = self.masking(ids, languages, random, padded=True)
        if self.languages.vocabulary.is_bert:
            second = np.arange(ids.shape[1]) > sides[:, :1] + 1  # positions after the first side's `[SEP]`
            segments = (second & (ids != self.pad)).astype(np.int64)
            rows = replace(rows, segments=torch.from_numpy(segments))
        dice = random.random(ids.shape, np.float32)
        return PairRows(rows, *map(torch.from_numpy, (ids, sides, gold, dice)))
