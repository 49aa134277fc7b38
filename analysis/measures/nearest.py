"""Nearest rows of another language, and how many would be right if translations were shuffled.

Shapes: N rows of either language, H hidden, S shuffles.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

NONE = -1
"""The nearest row where two are equally near."""
BLOCK = 512


@torch.inference_mode()
def nearest(source: Tensor, target: Tensor) -> np.ndarray:
    """The row of `target` (N, H) with the highest cosine to each row of `source`, (N,) int64, or NONE at a tie."""
    source, target = F.normalize(source.float(), dim=1), F.normalize(target.float(), dim=1)
    found = []
    for rows in source.split(BLOCK):
        best = (rows @ target.T).topk(min(2, len(target)), dim=1)
        tied = best.values[:, 0] == best.values[:, -1] if len(target) > 1 else torch.zeros(len(rows), dtype=torch.bool)
        found.append(best.indices[:, 0].masked_fill(tied, NONE))
    return torch.cat(found).cpu().numpy()


def found(forward: np.ndarray, pairing: np.ndarray) -> np.ndarray:
    """Whether each row's nearest is the one that the pairing (..., N) gives it."""
    return np.asarray(forward == pairing)


def found_mutually(forward: np.ndarray, back: np.ndarray, pairing: np.ndarray) -> np.ndarray:
    """Whether a pair's cosine is higher than every other of either: MEXA (Kargaran et al. 2024, equation 1).

    `forward` and `back` are the nearest rows of each language, (N,), and `pairing` (..., N) says which belong together.
    """
    return (forward == pairing) & (back[pairing] == np.arange(len(forward)))
