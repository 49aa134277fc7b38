"""Linear CKA: how far two sets of vectors of the same items are alike but for a rotation and a scale.

Kornblith et al. 2019, "Similarity of Neural Network Representations Revisited", section 3. Shapes: N items, H and K
widths.
"""

from __future__ import annotations

import torch
from torch import Tensor


def linear_cka(x: Tensor, y: Tensor) -> float:
    """||Y'X||^2 / (||X'X|| ||Y'Y||), Frobenius norms of centred columns, from 0 to 1.

    Args:
        x, y: (N, H) and (N, K), row by row of the same items.

    Raises:
        ValueError: other numbers of items, or all items of a side are alike, so that there is nothing to compare.
    """
    if len(x) != len(y):
        raise ValueError(f"{len(x)} items and {len(y)}")
    a, b = (side.double() - side.double().mean(0) for side in (x, y))
    norm = torch.linalg.matrix_norm(a.T @ a) * torch.linalg.matrix_norm(b.T @ b)
    if not norm > 0:
        raise ValueError("all vectors of a language are the same: there is nothing to compare")
    return float(torch.linalg.matrix_norm(b.T @ a) ** 2 / norm)
