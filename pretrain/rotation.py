"""The rotation that brings one set of vectors closest to another. Shapes: d pairs, hidden size H."""

from __future__ import annotations

from dataclasses import dataclass

from calque.pretrain.lazy import Tensor, torch


def procrustes(rows: Tensor, targets: Tensor) -> Tensor:
    """Return the orthogonal matrix, (H, H), that brings `rows` closest to `targets`, both (d, H): UV' from
    the singular value decomposition of rows.T @ targets (Schönemann 1966)."""
    left, _, right = torch.linalg.svd(rows.double().T @ targets.double())
    return (left @ right).to(rows.dtype)


@dataclass(frozen=True)
class Rotation:
    """Maps a row x to (x - start) @ matrix + end. The pairs determine the matrix in `rank` of the H
    dimensions; in the others, it is arbitrary."""

    start: Tensor
    matrix: Tensor
    end: Tensor
    rank: int

    @classmethod
    def fit(cls, rows: Tensor, targets: Tensor) -> Rotation:
        """Fit the rotation that brings `rows` closest to `targets`, both (d, H), after centring both."""
        start, end = rows.mean(0), targets.mean(0)
        first, second = rows - start, targets - end
        rank = min(int(torch.linalg.matrix_rank(side)) for side in (first, second))
        return cls(start, procrustes(first, second), end, rank)

    def __call__(self, rows: Tensor) -> Tensor:
        return (rows - self.start) @ self.matrix + self.end
