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
    """

    ids: Tensor
    labels: Tensor
    languages: Tensor
    padded: bool

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, i: int, n: int) -> Rows:
        """Piece `i` of `n` nearly equal ones, in order."""
        a, b = len(self) * i // n, len(self) * (i + 1) // n
        return Rows(self.ids[a:b], self.labels[a:b], self.languages[a:b], self.padded)

    def to(self, device: torch.device) -> Rows:
        """The same rows on a device."""
        return Rows(self.ids.to(device), self.labels.to(device), self.languages.to(device), self.padded)

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
