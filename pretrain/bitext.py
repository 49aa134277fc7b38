"""Rows of sentence pairs from bitexts, and base classes for objectives that learn from them.

Shapes: B pairs, L ids per row, at most W ids per side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.forms import Form, percent, word
from calque.derive.language import Bitext
from calque.derive.languages import Languages
from calque.derive.ragged import Ragged, ends_of, ranges
from calque.derive.vocabulary import pair_types
from calque.pretrain.batch import (
    MARKS,
    UNLABELLED,
    LinkedPairs,
    NumberedWords,
    PairRows,
    PlaceLinks,
    WordPairs,
)
from calque.pretrain.config import ModelConfig
from calque.pretrain.lazy import torch
from calque.pretrain.mask import Masking, as_rows
from calque.pretrain.objective import GOLD, Linked, Objective, Stream, Traits
from calque.pretrain.shuffle import Part

USUAL = 0.25  # the default fraction of parallel sentences to read (ALIGN-MLM, Tables 1 and 6)
PARALLEL = percent("parallel_fraction", "-", "{percent} % parallel", "10")
GOLD_LINKS = word("links", GOLD, "-gold", "gold links")


class PairObjective(Objective):
    """An objective that reads a fraction of the parallel sentences and masks a fraction of their ids."""

    forms: ClassVar[tuple[Form, ...]] = (PARALLEL,)
    parallel_fraction: float
    mask_rate: float = 0.0
    reads_bitexts = True

    def __post_init__(self) -> None:
        if not 0 < self.parallel_fraction <= 1:
            raise ValueError(f"parallel_fraction must be above 0 and at most 1, not {self.parallel_fraction}")

    @property
    def traits(self) -> Traits:
        return Traits(mask_rate=self.mask_rate, text=False, parallel_share=self.parallel_fraction)

    def lacking_layers(self, model: ModelConfig, *layers: int | None) -> list[str]:
        """Return a message for each of the 1-based `layers` that the model lacks, ignoring None."""
        lacking = [layer for layer in layers if layer is not None and not 1 <= layer <= model.layers]
        return [f"{self.name} needs layer {layer}, but the model has {model.layers}" for layer in lacking]


class LinkObjective(PairObjective):
    """An objective that learns from word links in sentence pairs; `weight` applies to one of its loss
    terms."""

    forms: ClassVar[tuple[Form, ...]] = (PARALLEL, GOLD_LINKS)
    weight: float
    links: Linked

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.weight > 0:
            raise ValueError(f"weight must be positive, not {self.weight}")

    @property
    def traits(self) -> Traits:
        return replace(super().traits, links=self.links)


class Groups:
    """A sample of the pairs in each bitext, optionally shuffled and then divided into groups of consecutive
    pairs that fit into `room` ids (per side if `sides` is 2). Groups are numbered across
    bitexts.

    parts: the number of groups in each bitext.
    left_out: the number of pairs too long for any group.
    """

    def __init__(
        self,
        bitexts: Sequence[Bitext],
        fraction: float,
        seed: int,
        room: int,
        sides: int,
        shuffled: bool = False,
    ) -> None:
        pairs, starts, drawn, fitting = list[np.ndarray](), list[np.ndarray](), 0, 0
        for bitext in bitexts:
            sample = bitext.sample(fraction, seed)
            if shuffled:
                sample = np.random.default_rng(seed).permutation(sample)
            ids = line_lengths(bitext, sample)
            ids = ids + 1 if sides == 2 else ids.sum(1, keepdims=True) + MARKS
            fits = (ids <= room).all(axis=1)
            pairs.append(sample[fits])
            starts.append(fill(ids[fits], room)[:-1] + fitting)
            drawn, fitting = drawn + len(sample), fitting + len(pairs[-1])
        if not fitting:
            each = "per side" if sides == 2 else "with its translation"
            raise BadInput(f"none of the {drawn:,} parallel sentences fits into {room:,} ids {each}")
        self.groups = Ragged(np.concatenate(pairs), np.concatenate([*starts, [fitting]]))
        sizes = list(map(len, starts))
        self.ends = np.cumsum(sizes)
        self.parts: dict[Part, int] = dict(zip((bitext.names for bitext in bitexts), sizes, strict=True))
        self.left_out = drawn - fitting

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, group: int) -> tuple[int, np.ndarray]:
        """Return the index of a group's bitext, and the group's pairs."""
        return int(np.searchsorted(self.ends, group, side="right")), self.groups[group]


def fill(lengths: np.ndarray, room: int) -> np.ndarray:
    """Greedily group consecutive items with the given `lengths`, (N, sides), so that no side of a group
    exceeds `room`. Return the start of each group and the end of the last one. Every item must fit."""
    count = len(lengths)
    following = np.full(count, count)  # for each item, where the next group starts if a group starts here
    for side in lengths.T:
        before = ends_of(side)
        np.minimum(following, np.searchsorted(before, before[:-1] + room, side="right") - 1, out=following)
    bounds = [0]
    while bounds[-1] < count:
        bounds.append(following.item(bounds[-1]))
    return np.array(bounds)


def line_lengths(bitext: Bitext, pairs: np.ndarray) -> np.ndarray:
    """Return the number of ids on each side of the given sentence pairs, (N, 2)."""
    sides = zip((bitext.first, bitext.second), bitext.lines[pairs].T, strict=True)
    return np.stack([language.corpus.tokens.sizes_of(lines) for language, lines in sides], axis=1)


class PairStream(Stream):
    """The sentence pairs that an objective reads, as rows with the two sides in random order. An instance is
    a group of consecutive pairs from one bitext that together fit into a row. `has_gold` is true if all
    pairs have gold links."""

    def __init__(
        self, languages: Languages, length: int, seed: int, objective: PairObjective, shuffled: bool = False
    ) -> None:
        self.languages, self.bitexts, self.pad = languages, languages.bitexts, languages.specials.pad
        self.masking, self.types = Masking.of(languages, objective.mask_rate), pair_types(languages.tokenizer)
        self.has_gold = all(bitext.gold and bitext.estimates is None for bitext in self.bitexts)
        links, fraction = objective.traits.links, objective.parallel_fraction
        self.groups = Groups(self.bitexts, fraction, seed, length, sides=1, shuffled=shuffled)
        self.instances, self.parts = len(self.groups), self.groups.parts
        self.left_out = {"parallel sentences longer than a row": self.groups.left_out}
        if links == GOLD and not self.has_gold:
            raise BadInput(f"{objective.name} needs gold links, which natural bitexts do not have")
        if links not in ("", GOLD) and any(bitext.estimates is None for bitext in self.bitexts):
            raise BadInput(f"{objective.name} needs estimated links for every bitext, but some are missing")

    def draw_pairs(self, instances: Sequence[int], random: np.random.Generator) -> PairRows:
        """Return the given instances' pairs with fresh masks."""
        of, pairs = self.chosen(instances)
        return self._masked(of, pairs, random.random(len(pairs)) < 0.5, random)

    def draw_linked(self, instances: Sequence[int], random: np.random.Generator) -> LinkedPairs:
        """Return the given instances' pairs with fresh masks and links between sub-words."""
        of, pairs = self.chosen(instances)
        turned = random.random(len(pairs)) < 0.5
        rows = self._masked(of, pairs, turned, random)
        found = []
        for number, pair, back in zip(of.tolist(), pairs.tolist(), turned.tolist(), strict=True):
            links = self.bitexts[number].piece_links(pair)
            found.append(links[:, ::-1] if back else links)
        return LinkedPairs(rows, _links(found, 1, 2 + rows.sides[:, 0].numpy()))

    def draw_words(self, instances: Sequence[int], marks: bool) -> WordPairs:
        """Return the given instances' pairs with word links; the bitext's first language comes first. If
        `marks`, `<s>` and `</s>` count as words that are linked to their counterparts."""
        of, pairs = self.chosen(instances)
        found, words = [], []
        for links, sizes in self._words(of, pairs):
            ends = [ends_of(size)[1:] for size in sizes]
            if marks:
                links = np.concatenate([[[0, 0]], links + 1, [[len(end) + 1 for end in ends]]])
                ends = [np.concatenate([[0], end, [end.max(initial=0) + 1]]) for end in ends]
            found.append(np.stack([ends[side][links[:, side]] for side in (0, 1)], axis=1))
            words.append(np.stack([ends[0], ends[0]], axis=1))
        return WordPairs(self._unmasked(of, pairs), _links(found, 0, 0), _links(words, 0, 0))

    def numbered(self, of: np.ndarray, pairs: np.ndarray) -> NumberedWords:
        """Return sentence pairs, chosen as in `read`, with links between numbered words; the bitext's first
        language comes first."""
        clean = self._unmasked(of, pairs)
        numbers = [np.full((len(pairs), int(clean.sides[:, side].max())), -1) for side in (0, 1)]
        found = list(self._words(of, pairs))
        for row, (_, sizes) in enumerate(found):
            for number, size in zip(numbers, sizes, strict=True):
                number[row, : int(size.sum())] = np.repeat(np.arange(len(size)), size)
        first, second = map(torch.from_numpy, numbers)
        return NumberedWords(clean, _links([links for links, _ in found], 0, 0), first, second)

    def _unmasked(self, of: np.ndarray, pairs: np.ndarray) -> PairRows:
        ids, languages, sides, gold = self.read(of, pairs, np.zeros(len(pairs), bool))
        rows = as_rows(ids, np.full_like(ids, UNLABELLED), languages, padded=True)
        lengths, linked = torch.from_numpy(sides), torch.from_numpy(gold)
        return PairRows(rows, rows.ids, lengths, linked, torch.zeros(ids.shape))

    def _words(self, of: np.ndarray, pairs: np.ndarray) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
        """Yield each pair's word links, (k, 2), and the number of ids per word on each side."""
        for number, pair in zip(of.tolist(), pairs.tolist(), strict=True):
            bitext = self.bitexts[number]
            sides = zip((bitext.first, bitext.second), bitext.lines[pair], strict=True)
            yield bitext.links(pair), [language.corpus.pieces[line] for language, line in sides]

    def read(
        self, of: np.ndarray, pairs: np.ndarray, turned: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Read the sentence pairs with the indices `pairs` in the bitexts with the indices `of`, swapping the
        sides where `turned` is true. Return ids and language ids, (B, L); the number of ids per side, (B, 2);
        and, for each id on the first side, the linked position on the second or -1, (B, W)."""
        specials, rows = self.languages.specials, np.arange(len(pairs))
        sides, written = np.zeros((len(pairs), 2), np.int64), []
        for number in np.unique(of).tolist():
            bitext, here = self.bitexts[number], np.flatnonzero(of == number)
            for side, language in enumerate((bitext.first, bitext.second)):
                lines = language.corpus.tokens.take(bitext.lines[pairs[here], side])
                place = np.where(turned[here], 1 - side, side)
                sides[here, place] = lines.sizes
                written.append((here, place, language.ids(lines.values), language.number))
        ids = np.full((len(pairs), int(sides.sum(1).max()) + MARKS), specials.pad)
        languages = np.full(ids.shape, self.languages.padding)
        gold = np.full((len(pairs), int(sides.max())), -1)
        for here, place, tokens, number in written:
            lengths = sides[here, place]
            first = 1 + place * (sides[here, 0] + 1)
            ids[_spans(here, first, lengths)] = tokens
            languages[_spans(here, first * place, lengths + 2 - place)] = number
        ids[:, 0] = specials.start
        ids[rows, sides[:, 0] + 1] = ids[rows, sides.sum(1) + 2] = specials.end
        for row, number in enumerate(of.tolist()):
            if self.bitexts[number].linked:
                offsets = self.bitexts[number].targets(int(pairs[row]), bool(turned[row]))
                gold[row, : len(offsets)] = offsets
        return ids, languages, sides, gold

    def chosen(self, instances: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """For each pair in the given instances, return the index of its bitext and its index within this
        bitext."""
        numbers, pairs = zip(*map(self.groups.__getitem__, instances), strict=True)
        return np.repeat(numbers, list(map(len, pairs))), np.concatenate(pairs)

    def _masked(
        self, of: np.ndarray, pairs: np.ndarray, turned: np.ndarray, random: np.random.Generator
    ) -> PairRows:
        ids, languages, sides, gold = self.read(of, pairs, turned)
        rows = self.masking(ids, languages, random, padded=True)
        if any(self.types):
            second = np.arange(ids.shape[1]) > sides[:, :1] + 1  # positions after the first side's `</s>`
            types = np.where(second, self.types[1], self.types[0])
            types[ids == self.pad] = 0
            rows = replace(rows, segments=torch.from_numpy(types))
        dice = random.random(ids.shape, np.float32)
        clean, lengths, linked, uniform = map(torch.from_numpy, (ids, sides, gold, dice))
        return PairRows(rows, clean, lengths, linked, uniform)


def _links(found: Sequence[np.ndarray], first: int, second: np.ndarray | int) -> PlaceLinks:
    """Convert each pair's links, (k, 2) offsets within its sides, to positions by adding `first` and
    `second`."""
    rows = np.repeat(np.arange(len(found)), [len(links) for links in found])
    links = np.concatenate(found)
    of = second[rows] if isinstance(second, np.ndarray) else second
    return PlaceLinks(*map(torch.from_numpy, (rows, links[:, 0] + first, links[:, 1] + of)))


def _spans(rows: np.ndarray, first: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and column indices of spans that start at columns `first` and have the given lengths."""
    return np.repeat(rows, lengths), ranges(first, lengths)
