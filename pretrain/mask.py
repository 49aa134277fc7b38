"""Masking, drawn afresh each time a row is shown. Shapes: B rows, L ids a row."""

from __future__ import annotations

import numpy as np
import torch

from derive.types import FIRST, MASK
from pretrain.batch import UNLABELLED, Rows
from pretrain.data import DERIVED

SHARE, MASKED, RANDOM = 0.15, 0.8, 0.1
"""Of the non-special positions 15 % are selected; of these 80 % are masked, 10 % random, 10 % kept."""


def select(ids: np.ndarray, share: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Select positions: (flat positions, a uniform number in [0, 1) for each to decide its fate).

    One draw a position serves both: given that u < share, u / share is uniform again.
    """
    u = random.random(ids.shape, np.float32)
    selected = np.flatnonzero((u < share) & (ids >= FIRST))
    return selected, u.reshape(-1)[selected] / share


def corrupt(
    ids: np.ndarray,
    languages: np.ndarray,
    selected: np.ndarray,
    fate: np.ndarray,
    image: np.ndarray,
    random: np.random.Generator,
) -> np.ndarray:
    """What is shown: the selected positions masked, replaced or kept, (B, L).

    A random replacement is of the position's own language (the published code always takes the source's).
    """
    shown = ids.copy()
    flat = shown.reshape(-1)
    flat[selected[fate < MASKED]] = MASK
    replaced = selected[(fate >= MASKED) & (fate < MASKED + RANDOM)]
    words = random.integers(FIRST, len(image), len(replaced))
    flat[replaced] = np.where(languages.reshape(-1)[replaced] == DERIVED, image[words], words)
    return shown


def labels_at(ids: np.ndarray, selected: np.ndarray) -> np.ndarray:
    """The original ids where selected, UNLABELLED elsewhere, (B, L)."""
    labels = np.full(ids.size, UNLABELLED, np.int64)
    labels[selected] = ids.reshape(-1)[selected]
    return labels.reshape(ids.shape)


def as_rows(shown: np.ndarray, labels: np.ndarray, languages: np.ndarray, padded: bool) -> Rows:
    """Arrays as a batch of tensors, without copies."""
    return Rows(torch.from_numpy(shown), torch.from_numpy(labels), torch.from_numpy(languages), padded)


def mask(
    ids: np.ndarray,
    languages: np.ndarray,
    image: np.ndarray,
    random: np.random.Generator,
    share: float = SHARE,
    padded: bool = False,
) -> Rows:
    """Rows masked as in BERT: `ids` and `languages` are (B, L) int64, `image` the pair's (V,) table."""
    selected, fate = select(ids, share, random)
    shown = corrupt(ids, languages, selected, fate, image, random)
    return as_rows(shown, labels_at(ids, selected), languages, padded)
