"""What a step is computed on: rows of ids with their labels. Shapes: B rows, L ids a row, N labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

UNLABELLED = -100


@dataclass(frozen=True)
class Asked:
    """Where labels stand.

    `at` (N,) are their flat positions. In a table of `most` slots a row, the most that a row has (at least 1), `slot`
    (N,) is the place of each.
    """

    at: Tensor
    slot: Tensor
    most: int


@dataclass(frozen=True)
class Rows:
    """Masked rows.

    `ids`, `labels` and `languages` are (B, L) int64. A position without a label holds UNLABELLED.
    `padded` says whether any position is padding, so that rows without any skip the attention mask.
    `places` (B, L) say where each id stands, from 0, and -1 for padding, where it is not the ids before it that count.
    `segments` (B, L) are the token types of a row's two texts, where the tokenizer's template has two.
    """

    ids: Tensor
    labels: Tensor
    languages: Tensor
    padded: bool
    places: Tensor | None = None
    segments: Tensor | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, i: int, n: int) -> Rows:
        """Piece `i` of `n` nearly equal ones, in order."""
        a, b = len(self) * i // n, len(self) * (i + 1) // n
        places, segments = (None if x is None else x[a:b] for x in (self.places, self.segments))
        return Rows(self.ids[a:b], self.labels[a:b], self.languages[a:b], self.padded, places, segments)

    def to(self, device: torch.device) -> Rows:
        """The same rows on a device."""
        if device.type == self.ids.device.type:
            return self
        asked = self.asked  # counted here: over there the count would be waited for
        places, segments = (None if x is None else moved(x, device) for x in (self.places, self.segments))
        ids, labels, languages = (moved(tensor, device) for tensor in (self.ids, self.labels, self.languages))
        rows = Rows(ids, labels, languages, self.padded, places, segments)
        rows.__dict__["asked"] = Asked(moved(asked.at, device), moved(asked.slot, device), asked.most)
        return rows

    @property
    def labelled(self) -> int:
        """How many positions have a label."""
        return int((self.labels != UNLABELLED).sum())

    @cached_property
    def asked(self) -> Asked:
        """Where the labels stand."""
        rows, length = self.labels.shape
        at = (self.labels.flatten() != UNLABELLED).nonzero().squeeze(1)
        row = at // length
        counts = torch.bincount(row, minlength=rows)
        most = max(1, int(counts.max()))
        slot = row * most + torch.arange(len(at), device=at.device) - (counts.cumsum(0) - counts)[row]
        return Asked(at, slot, most)


@dataclass(frozen=True)
class Pairs:
    """Dictionary entries: `ids` is (B, 2) int64, an id of one language and its image in another."""

    ids: Tensor

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, i: int, n: int) -> Pairs:
        """Piece `i` of `n` nearly equal ones, in order."""
        return Pairs(self.ids[len(self) * i // n : len(self) * (i + 1) // n])

    def to(self, device: torch.device) -> Pairs:
        """The same entries on a device."""
        return Pairs(moved(self.ids, device))


def moved(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor on a device. To a GPU it travels while the host goes on."""
    if device.type != "cuda" or tensor.is_cuda:
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)
