"""What vectors of two languages have in common: nearest rows, linear CKA, and a linear probe.

Shapes: N rows of either language, H and K widths, S shuffles, C labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

NONE = -1
"""The nearest row where two are equally near."""
BLOCK = 512
RIDGE = 1.0
"""The penalty on squared weights, relative to the sum over words of squares of features with variance 1."""


@torch.inference_mode()
def nearest(source: Tensor, target: Tensor) -> np.ndarray:
    """The row of `target` (N, H) with the highest cosine to each row of `source`, (N,) int64, or NONE at a tie."""
    source, target = F.normalize(source.float(), dim=1), F.normalize(target.float(), dim=1)
    blocks = []
    for rows in source.split(BLOCK):
        best = (rows @ target.T).topk(min(2, len(target)), dim=1)
        tied = best.values[:, 0] == best.values[:, -1] if len(target) > 1 else torch.zeros(len(rows), dtype=torch.bool)
        blocks.append(best.indices[:, 0].masked_fill(tied, NONE))
    return torch.cat(blocks).cpu().numpy()


def mutually_nearest(forward: np.ndarray, back: np.ndarray, pairing: np.ndarray) -> np.ndarray:
    """Whether a pair's cosine is higher than every other of either: MEXA (Kargaran et al. 2024, equation 1).

    `forward` and `back` are the nearest rows of each language, (N,), and `pairing` (..., N) has the pair of each row.
    """
    return (forward == pairing) & (back[pairing] == np.arange(len(forward)))


def linear_cka(x: Tensor, y: Tensor) -> float:
    """||Y'X||^2 / (||X'X|| ||Y'Y||), Frobenius norms of centred columns, from 0 to 1.

    It says how similar two sets of vectors of the same items are but for a rotation and a scale (Kornblith et al. 2019,
    "Similarity of Neural Network Representations Revisited", section 3).

    Args:
        x, y: (N, H) and (N, K), row by row of the same items.

    Raises:
        ValueError: other numbers of items, or all items of a side are the same, so that there is nothing to compare.
    """
    if len(x) != len(y):
        raise ValueError(f"{len(x)} items and {len(y)}")
    a, b = (side.double() - side.double().mean(0) for side in (x, y))
    norm = torch.linalg.matrix_norm(a.T @ a) * torch.linalg.matrix_norm(b.T @ b)
    if not norm > 0:
        raise ValueError("all vectors of a language are the same: there is nothing to compare")
    return float(torch.linalg.matrix_norm(b.T @ a) ** 2 / norm)


@dataclass(frozen=True)
class LinearProbe:
    """Least squares with a ridge on frozen vectors: nothing is drawn and nothing is tuned.

    Features less `mean` by `scale`, (H,), and a 1; times `weights` (H + 1, C) they are the labels' scores.
    """

    mean: Tensor
    scale: Tensor
    weights: Tensor

    @classmethod
    def fitted(cls, vectors: Tensor, labels: np.ndarray, ridge: float = RIDGE) -> LinearProbe:
        """The probe that learns the labels (N,), numbers from 0, from vectors (N, H).

        Raises:
            ValueError: fewer than two labels to distinguish.
        """
        if len(set(labels.tolist())) < 2:
            raise ValueError("a probe tells two labels apart at least")
        x = vectors.double()
        mean, scale = x.mean(0), x.std(0, correction=0).clamp_min(1e-6)
        features = _with_one((x - mean) / scale)
        targets = F.one_hot(torch.from_numpy(labels).to(x.device)).double()
        penalty = ridge * torch.eye(features.shape[1], dtype=torch.float64, device=x.device)
        penalty[-1, -1] = 0.0
        weights = torch.linalg.lstsq(features.T @ features + penalty, features.T @ targets).solution
        return cls(mean, scale, weights)

    def __call__(self, vectors: Tensor) -> np.ndarray:
        """The label of each vector, (N,)."""
        scores = _with_one((vectors.double() - self.mean) / self.scale) @ self.weights
        return np.asarray(scores.argmax(1).cpu())


def _with_one(features: Tensor) -> Tensor:
    return torch.cat([features, torch.ones_like(features[:, :1])], dim=1)
