"""Dynamic masking, which selects new positions each time a row is read.

Shapes: B rows, L ids per row, K languages, V types.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calque.derive.vocabulary import Specials
from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.lazy import torch

MASK_RATE, MASKED, RANDOM = 0.15, 0.8, 0.1
"""BERT selects 15 % of the non-special positions, masks 80 % of them, replaces 10 % with random types and
leaves 10 % unchanged."""


@dataclass(frozen=True)
class Masking:
    """Selects a fraction `mask_rate` of the non-special positions and masks them as in BERT. `tables`, (K, V)
    int64, contains each type's id in each language. Random replacements come from the position's language (in
    the published code, from the source)."""

    specials: Specials
    tables: np.ndarray
    mask_rate: float = MASK_RATE

    def __call__(
        self, ids: np.ndarray, languages: np.ndarray, random: np.random.Generator, padded: bool = False
    ) -> Rows:
        """Mask rows of `ids` and `languages`, both (B, L) int64, and label the selected positions."""
        selected, fate = self.select(ids, random)
        masked = self.corrupt(ids, languages, selected, fate, random)
        return labelled_rows(ids, masked, selected, languages, padded)

    def select(self, ids: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Select flat positions; return them with uniform random numbers that decide what replaces each
        one."""
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
    """Return rows of masked ids whose labels at the `selected` flat positions are the original `ids`."""
    labels = np.full(ids.size, UNLABELLED, np.int64)
    labels[selected] = ids.reshape(-1)[selected]
    inputs, targets, types = map(torch.from_numpy, (masked, labels.reshape(ids.shape), languages))
    return Rows(inputs, targets, types, padded)
