"""Batches of masked rows, of dictionary entries, and of sentence pairs with links.

Shapes: B rows or pairs, L ids per row, at most W ids per side, N labels, K links or languages, V types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from calque.derive.vocabulary import Specials
from calque.pretrain.lazy import F, Tensor, torch

UNLABELLED = -100
MASK_RATE, MASKED, RANDOM = 0.15, 0.8, 0.1
"""BERT selects 15 % of the non-special positions, masks 80 % of them, replaces 10 % with random types and
leaves 10 % unchanged."""
MARKS = 3  # number of special tokens in a pair's row: `<s>` and two `</s>`


def mapped(value: Any, change: Callable[[Tensor], Tensor], moving: bool = False) -> Any:
    """Change the tensors in a value: in its batches and tuples, too."""
    if isinstance(value, tuple):
        return tuple(mapped(item, change, moving) for item in value)
    if isinstance(value, Batch):
        return value.each(change, moving)
    return change(value) if isinstance(value, torch.Tensor) else value


@dataclass(frozen=True)
class Batch:
    """Tensors of equal length, to divide and move to a device; `computed` properties would stall a GPU."""

    computed: ClassVar[tuple[str, ...]] = ()

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def part(self, i: int, n: int) -> Self:
        """Return part `i` of `n` consecutive parts of nearly equal size."""
        return self.cut(slice(len(self) * i // n, len(self) * (i + 1) // n))

    def cut(self, rows: slice) -> Self:
        return self.each(lambda tensor: tensor[rows])

    def to(self, device: torch.device) -> Self:
        """Move the batch to a device, asynchronously to a GPU."""
        if device.type == "cpu":
            return self
        return self.each(lambda tensor: tensor.pin_memory().to(device, non_blocking=True), moving=True)

    def each(self, change: Callable[[Tensor], Tensor], moving: bool = False) -> Self:
        """Change all tensors and, if `moving`, those of `computed` properties."""
        names = [attribute.name for attribute in fields(self)]
        copy = replace(self, **{name: mapped(getattr(self, name), change, moving) for name in names})
        for name in self.computed if moving else ():
            vars(copy)[name] = mapped(getattr(self, name), change, moving)
        return copy


@dataclass(frozen=True)
class LabelledPositions(Batch):
    """Labelled positions, as flat indices into the batch, `index` (N,), and into a table of `slots` per row,
    `slot` (N,); `slots` is the largest number of labels in a row, at least 1."""

    index: Tensor
    slot: Tensor
    slots: int


@dataclass(frozen=True)
class Rows(Batch):
    """Masked rows: `ids`, `labels` (or UNLABELLED) and `languages`, all (B, L) int64.

    padded: whether rows may contain padding, which requires an attention mask.
    places: each id's 0-based position, or -1 for padding, (B, L); None if consecutive.
    segments: each id's token type, (B, L), if the two texts have different ones.
    """

    computed = ("positions",)
    ids: Tensor
    labels: Tensor
    languages: Tensor
    padded: bool
    places: Tensor | None = None
    segments: Tensor | None = None

    @property
    def labelled(self) -> int:
        return int((self.labels != UNLABELLED).sum())

    @cached_property
    def positions(self) -> LabelledPositions:
        index = (self.labels.flatten() != UNLABELLED).nonzero().squeeze(1)
        row = index // self.labels.shape[1]
        counts = torch.bincount(row, minlength=len(self))
        slots = max(1, int(counts.max()))
        before = (counts.cumsum(0) - counts)[row]  # labels in earlier rows
        slot = row * slots + torch.arange(len(index), device=index.device) - before
        return LabelledPositions(index, slot, slots)


@dataclass(frozen=True)
class Masking:
    """Selects a fraction `mask_rate` of the non-special positions, anew each time, and masks them as in BERT.
    `tables`, (K, V) int64, contains each type's id in each language. Random replacements come from the
    position's language (in the published code, from the source)."""

    specials: Specials
    tables: np.ndarray
    mask_rate: float = MASK_RATE

    def __call__(
        self, ids: np.ndarray, languages: np.ndarray, random: np.random.Generator, padded: bool = False
    ) -> Rows:
        """Mask and label rows of `ids` and `languages`, both (B, L) int64."""
        selected, fate = self.select(ids, random)
        masked = self.corrupt(ids, languages, selected, fate, random)
        return labelled_rows(ids, masked, selected, languages, padded)

    def select(self, ids: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Select flat positions; return them with uniform random numbers that decide their replacement."""
        draws = random.random(ids.shape, np.float32)
        selected = np.flatnonzero((draws < self.mask_rate) & self.specials.is_ordinary(ids))
        # A uniform draw below the rate, divided by the rate, is uniform.
        return selected, draws.reshape(-1)[selected] / self.mask_rate

    def corrupt(
        self,
        ids: np.ndarray,
        languages: np.ndarray,
        selected: np.ndarray,
        fate: np.ndarray,
        random: np.random.Generator,
    ) -> np.ndarray:
        masked = ids.copy()
        flat = masked.reshape(-1)
        flat[selected[fate < MASKED]] = self.specials.mask
        replaced = selected[(fate >= MASKED) & (fate < MASKED + RANDOM)]
        types = self._ordinary[random.integers(0, len(self._ordinary), len(replaced))]
        flat[replaced] = self.tables[languages.reshape(-1)[replaced], types]
        return masked

    @cached_property
    def _ordinary(self) -> np.ndarray:
        return self.specials.ordinary(self.tables.shape[1])


def labelled_rows(
    ids: np.ndarray, masked: np.ndarray, selected: np.ndarray, languages: np.ndarray, padded: bool
) -> Rows:
    """Return masked rows with the original `ids` as labels at the `selected` flat positions."""
    labels = np.full(ids.size, UNLABELLED, np.int64)
    labels[selected] = ids.reshape(-1)[selected]
    inputs, targets, types = map(torch.from_numpy, (masked, labels.reshape(ids.shape), languages))
    return Rows(inputs, targets, types, padded)


@dataclass(frozen=True)
class Pairs(Batch):
    """Dictionary entries: a word's id and its image's id, (B, 2) int64."""

    ids: Tensor


def padded(arrays: Sequence[np.ndarray]) -> Tensor:
    """Stack each row's array, (k, ...), with -1 as padding: (B, K, ...) int64."""
    table = np.full((len(arrays), max(map(len, arrays)), *arrays[0].shape[1:]), -1)
    for row, array in zip(table, arrays, strict=True):
        row[: len(array)] = array
    return torch.from_numpy(table)


@dataclass(frozen=True)
class PairRows(Batch):
    """Sentence pairs, one per row: `<s>`, first side, `</s>`, second side, `</s>`, padding.

    clean: the unmasked ids, (B, L).
    sides: the number of ids on each side, (B, 2).
    gold: the 0-based position on the second side that each id on the first is linked to, or -1, (B, W).
    dice: uniform random numbers, (B, L).
    links: tables of linked positions or words, (B, K, sides), padded with -1.
    words: for each side, the number of each id's word, (B, W), padded with -1.
    """

    computed = ("widths", "linked")
    rows: Rows
    clean: Tensor
    sides: Tensor
    gold: Tensor
    dice: Tensor
    links: tuple[Tensor, ...] = field(default=(), kw_only=True)
    words: tuple[Tensor, ...] = field(default=(), kw_only=True)

    @cached_property
    def widths(self) -> list[int]:
        """The largest number of ids on each side."""
        return self.sides.amax(0).tolist()

    @cached_property
    def linked(self) -> tuple[tuple[Tensor, ...], ...]:
        """For each table of links, each link's row and its ends, all (links,)."""
        rows = [(table[:, :, 0] >= 0).nonzero().unbind(1) for table in self.links]
        ends = (table[place].unbind(1) for table, place in zip(self.links, rows, strict=True))
        return tuple((place[0], *end) for place, end in zip(rows, ends, strict=True))

    def by_length(self, pieces: int) -> list[PairRows]:
        """Sort pairs by length and divide them into at most `pieces` parts of similar total length."""
        lengths, order = self.sides.sum(1).sort(stable=True)
        ends = lengths.cumsum(0)
        _, sizes = ((ends - lengths) * pieces // ends[-1]).unique_consecutive(return_counts=True)
        return [self._narrow(pairs) for pairs in order.split(sizes.tolist())]

    def _narrow(self, pairs: Tensor) -> PairRows:
        sides = self.sides[pairs]
        row, side = slice(int(sides.sum(1).max()) + MARKS), slice(int(sides.max()))
        rows = self.rows.each(lambda tensor: tensor[pairs, row])
        return PairRows(rows, self.clean[pairs, row], sides, self.gold[pairs, side], self.dice[pairs, row])

    def places(self, side: int) -> tuple[Tensor, Tensor]:
        """Return the positions of one side's ids (0 for padding) and a mask of real ids, both (B, W)."""
        offsets = torch.arange(self.gold.shape[1], device=self.sides.device)
        real = offsets < self.sides[:, side, None]
        first = self.sides[:, :1] * side + 1 + side  # a second side starts after the first and its `</s>`
        return (first + offsets).masked_fill(~real, 0), real

    def side_rows(self, side: int, pad: int, masked: bool = False) -> Rows:
        """Return one side of each pair as a row `<s>` ids `</s>`; if `masked`, as wide as the longer."""
        ids, width = (self.rows.ids, max(self.widths)) if masked else (self.clean, self.widths[side])
        places, real = self.places(side)
        side_ids = ids.gather(1, places).masked_fill(~real, pad)[:, :width]
        labels = self.rows.labels.gather(1, places).masked_fill(~real, UNLABELLED)[:, :width]
        side_ids = F.pad(torch.cat([self.clean[:, :1], side_ids], 1), (0, 1), value=pad)
        end = self.clean.gather(1, self.sides[:, :1] + 1)  # the first side's `</s>`
        side_ids = side_ids.scatter(1, self.sides[:, side, None] + 1, end)
        languages = self.rows.languages.gather(1, places[:, :1]).expand_as(side_ids)
        return Rows(side_ids, F.pad(labels, (1, 1), value=UNLABELLED), languages, padded=True)

    def sides_as_rows(self, pad: int) -> Rows:
        """Return all first sides, then all second sides, masked as in `rows`."""
        first, second = (self.side_rows(side, pad, masked=True) for side in (0, 1))
        columns = (first.ids, second.ids), (first.labels, second.labels), (first.languages, second.languages)
        ids, labels, languages = map(torch.cat, columns)
        return Rows(ids, labels, languages, padded=True)
