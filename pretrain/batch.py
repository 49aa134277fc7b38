"""What a step is computed on: rows of ids with their labels. Shapes: B rows, L ids a row."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

UNLABELLED = -100


@dataclass(frozen=True)
class Rows:
    """Masked rows.

    `ids`, `labels` and `languages` are (B, L) int64. A position without a label holds UNLABELLED.
    `padded` says whether any position is padding, so that rows without any skip the attention mask.
    `positions` are position ids (B, L) where they are not RoBERTa's own, which count the ids of a row.
    """

    ids: Tensor
    labels: Tensor
    languages: Tensor
    padded: bool
    positions: Tensor | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, i: int, n: int) -> Rows:
        """Piece `i` of `n` nearly equal ones, in order."""
        a, b = len(self) * i // n, len(self) * (i + 1) // n
        positions = None if self.positions is None else self.positions[a:b]
        return Rows(self.ids[a:b], self.labels[a:b], self.languages[a:b], self.padded, positions)

    def to(self, device: torch.device) -> Rows:
        """The same rows on a device."""
        positions = None if self.positions is None else self.positions.to(device)
        return Rows(self.ids.to(device), self.labels.to(device), self.languages.to(device), self.padded, positions)

    @property
    def labelled(self) -> int:
        """How many positions have a label."""
        return int((self.labels != UNLABELLED).sum())


@dataclass(frozen=True)
class Pairs:
    """Dictionary entries: `ids` is (B, 2) int64, a source id and its image."""

    ids: Tensor

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, i: int, n: int) -> Pairs:
        """Piece `i` of `n` nearly equal ones, in order."""
        return Pairs(self.ids[len(self) * i // n : len(self) * (i + 1) // n])

    def to(self, device: torch.device) -> Pairs:
        """The same entries on a device."""
        return Pairs(self.ids.to(device))
