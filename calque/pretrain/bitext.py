"""Rows of sentence pairs, and base classes for objectives that learn from them.

Shapes: B pairs, L ids per row, at most W ids per side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import add
from typing import Any, ClassVar

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.forms import Form, percent, word
from calque.derive.language import Bitext
from calque.derive.languages import Languages
from calque.derive.ragged import Ragged
from calque.pretrain.batch import MARKS, PairRows
from calque.pretrain.config import ModelConfig
from calque.pretrain.lazy import torch
from calque.pretrain.mask import Masking
from calque.pretrain.mixture import Part
from calque.pretrain.objective import GOLD, Linked, Objective, Stream, Traits

USUAL = 0.25  # the default fraction of parallel sentences to read (ALIGN-MLM, Tables 1 and 6)
PARALLEL = percent("parallel_fraction", "-", "{percent} % parallel", "10")
GOLD_LINKS = word("links", GOLD, "-gold", "gold links")
Pair = tuple[Bitext, int]  # a sentence pair's bitext, and its index there


class PairObjective(Objective):
    """An objective that reads a fraction of the sentence pairs and masks a fraction of their ids."""

    forms: ClassVar[tuple[Form, ...]] = (PARALLEL,)
    stream: ClassVar[type[PairStream]]
    parallel_fraction: float
    links: Linked = ""
    reads_bitexts = True
    limits: ClassVar[dict[str, Any]] = {"fractions": ["parallel_fraction"], "positive": ["weight"]}

    @property
    def weights(self) -> dict[str, float]:
        """Weights of the loss terms."""
        return {"tlm": 1.0}

    @property
    def traits(self) -> Traits:
        own = replace(super().traits, text=False, links=self.links)
        return replace(own, parallel_share=self.parallel_fraction)

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [self.stream(languages, length, seed, self)]

    def mistakes(self, model: ModelConfig) -> list[str]:
        chosen = [getattr(self, name, None) for name in ("label_layer", "layer")]
        lacking = [layer for layer in chosen if layer is not None and not 1 <= layer <= model.layers]
        return [f"{self.name} needs layer {layer}, but the model has {model.layers}" for layer in lacking]


class Groups:
    """Samples of bitexts, divided into groups of consecutive pairs that fit into `room` ids (per side if
    `sides` is 2). Groups are numbered across bitexts; `parts` counts each bitext's, and `left_out` the pairs
    that do not fit."""

    def __init__(
        self, bitexts: Sequence[Bitext], fraction: float, seed: int, room: int, sides: int, shuffled: bool
    ) -> None:
        pairs, starts, drawn, fitting = list[np.ndarray](), list[np.ndarray](), 0, 0
        self.parts: dict[Part, int] = {}
        for bitext in bitexts:
            sample = bitext.sample(fraction, seed)
            if shuffled:
                sample = np.random.default_rng(seed).permutation(sample)
            ids = line_lengths(bitext, sample)
            ids = ids + 1 if sides == 2 else ids.sum(1, keepdims=True) + MARKS
            fits = (ids <= room).all(axis=1)
            pairs.append(sample[fits])
            starts.append(fill(ids[fits], room) + fitting)
            self.parts[bitext.names] = len(starts[-1])
            drawn, fitting = drawn + len(sample), fitting + len(pairs[-1])
        if not fitting:
            each = "per side" if sides == 2 else "with its translation"
            raise BadInput(f"none of the {drawn:,} parallel sentences fits into {room:,} ids {each}")
        self.groups = Ragged(np.concatenate(pairs), np.concatenate([*starts, [fitting]]))
        self.ends = np.cumsum(list(self.parts.values()))
        self.left_out = drawn - fitting

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, group: int) -> tuple[int, np.ndarray]:
        """Return a bitext's index and a group's pairs."""
        return int(np.searchsorted(self.ends, group, side="right")), self.groups[group]


def fill(lengths: np.ndarray, room: int) -> np.ndarray:
    """Return the start of each group when items with `lengths`, (N, sides), are grouped greedily so that no
    side of a group exceeds `room`."""
    starts, used = list[int](), (room,) * lengths.shape[1]
    for item, sizes in enumerate(zip(*(side.tolist() for side in lengths.T), strict=True)):
        used = tuple(map(add, used, sizes))
        if max(used) > room:
            starts.append(item)
            used = sizes
    return np.array(starts, np.int64)


def sizes_of_words(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of ids in each word, on both sides."""
    bitext, number = pair
    first, second = bitext.lines[number]
    return bitext.first.corpus.pieces[first], bitext.second.corpus.pieces[second]


def line_lengths(bitext: Bitext, pairs: np.ndarray) -> np.ndarray:
    """Return the number of ids on each side of pairs, (N, 2)."""
    sides = zip((bitext.first, bitext.second), bitext.lines[pairs].T, strict=True)
    return np.stack([language.corpus.tokens.sizes_of(lines) for language, lines in sides], axis=1)


class PairStream(Stream):
    """Sentence pairs as rows, with sides in random order. An instance is a group of consecutive pairs that
    fit into a row or, if `sides` is 2, whose sides fit into half a row. `has_gold`: whether all pairs have
    gold links."""

    objective: Any
    sides: ClassVar[int] = 1
    shuffled: ClassVar[bool] = False

    def __init__(self, languages: Languages, length: int, seed: int, objective: PairObjective) -> None:
        self.objective, self.weights, links = objective, objective.weights, objective.traits.links
        self.languages, self.bitexts, self.pad = languages, languages.bitexts, languages.specials.pad
        self.masking = Masking.of(languages, objective.mask_rate)
        self.has_gold = all(bitext.gold and bitext.estimates is None for bitext in self.bitexts)
        self.room, place = (length, "a row") if self.sides == 1 else (length // 2 - 1, "half a row")
        chosen = objective.parallel_fraction, seed, self.room, self.sides, self.shuffled
        self.groups = Groups(self.bitexts, *chosen)
        self.instances, self.parts = len(self.groups), self.groups.parts
        self.left_out = {f"parallel sentences longer than {place}": self.groups.left_out}
        if links == GOLD and not self.has_gold:
            raise BadInput(f"{objective.name} needs gold links, which natural bitexts do not have")
        if links not in ("", GOLD) and any(bitext.estimates is None for bitext in self.bitexts):
            raise BadInput(f"{objective.name} needs estimated links for all bitexts, but some have none")

    def chosen(self, instances: Sequence[int]) -> list[Pair]:
        """Return the sentence pairs in the given instances."""
        groups = map(self.groups.__getitem__, instances)
        return [(self.bitexts[number], pair) for number, pairs in groups for pair in pairs.tolist()]

    def draw_pairs(self, instances: Sequence[int], random: np.random.Generator) -> PairRows:
        """Return the instances' pairs with new masks."""
        pairs = self.chosen(instances)
        return self.masked(pairs, random.random(len(pairs)) < 0.5, random)

    def in_order(self, pairs: Sequence[Pair], random: np.random.Generator) -> PairRows:
        """Read pairs, with sides in the bitext's order."""
        return self.masked(pairs, np.zeros(len(pairs), bool), random)

    def masked(self, pairs: Sequence[Pair], turned: np.ndarray, random: np.random.Generator) -> PairRows:
        """Read and mask pairs, with sides swapped where `turned` is true."""
        texts = [bitext.ids(pair) for bitext, pair in pairs]
        sides = np.array([[len(side) for side in text] for text in texts])
        sides[turned] = sides[turned, ::-1]
        specials, width = self.languages.specials, int(sides.sum(1).max()) + MARKS
        ids = np.full((len(pairs), width), specials.pad)
        languages = np.full(ids.shape, self.languages.padding)
        gold = np.full((len(pairs), int(sides.max())), -1)
        ids[:, 0] = specials.start
        for row, ((bitext, pair), back) in enumerate(zip(pairs, turned.tolist(), strict=True)):
            start, written = 0, 1
            for side in (1, 0) if back else (0, 1):
                text, language = texts[row][side], (bitext.first, bitext.second)[side]
                end = written + len(text)
                ids[row, written:end], ids[row, end] = text, specials.end
                languages[row, start : end + 1] = language.number
                start = written = end + 1
            if bitext.linked:
                offsets = bitext.targets(pair, back)
                gold[row, : len(offsets)] = offsets
        rows = self.masking(ids, languages, random, padded=True)
        if any(token_types := self.languages.vocabulary.layout.types):
            second = np.arange(ids.shape[1]) > sides[:, :1] + 1  # positions after the first side's `</s>`
            types = np.where(second, token_types[1], token_types[0])
            types[ids == self.pad] = 0
            rows = replace(rows, segments=torch.from_numpy(types))
        dice = random.random(ids.shape, np.float32)
        clean, numbers, links, coins = map(torch.from_numpy, (ids, sides, gold, dice))
        return PairRows(rows, clean, numbers, links, coins)
