"""A linear probe: least squares with a ridge on frozen vectors, so that nothing is drawn and nothing is tuned.

Shapes: N words, H hidden, C labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

RIDGE = 1.0
"""Beside the sum over words of squares of features that have variance 1."""


@dataclass(frozen=True)
class LinearProbe:
    """Features less `mean` by `scale`, (H,), and a 1; times `weights` (H + 1, C) they are the labels' scores."""

    mean: Tensor
    scale: Tensor
    weights: Tensor

    @classmethod
    def fitted(cls, vectors: Tensor, labels: np.ndarray, ridge: float = RIDGE) -> LinearProbe:
        """The probe that tells the labels (N,), numbers from 0, of vectors (N, H).

        Raises:
            ValueError: fewer than two labels to tell apart.
        """
        if len(set(labels.tolist())) < 2:
            raise ValueError("a probe tells two labels apart at least")
        x = vectors.double()
        mean, scale = x.mean(0), x.std(0, correction=0).clamp_min(1e-6)
        features = _with_one((x - mean) / scale)
        wanted = F.one_hot(torch.from_numpy(labels).to(x.device)).double()
        penalty = ridge * torch.eye(features.shape[1], dtype=torch.float64, device=x.device)
        penalty[-1, -1] = 0.0
        weights = torch.linalg.lstsq(features.T @ features + penalty, features.T @ wanted).solution
        return cls(mean, scale, weights)

    def __call__(self, vectors: Tensor) -> np.ndarray:
        """The label of each vector, (N,)."""
        scores = _with_one((vectors.double() - self.mean) / self.scale) @ self.weights
        return np.asarray(scores.argmax(1).cpu())


def _with_one(features: Tensor) -> Tensor:
    return torch.cat([features, torch.ones_like(features[:, :1])], dim=1)
