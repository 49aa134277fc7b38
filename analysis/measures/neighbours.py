"""Find each vector's nearest neighbours in another language. Shapes: N and M vectors, H width."""

import numpy as np

from calque.pretrain.lazy import F, Tensor, inference_mode, torch

NONE = -1  # replaces the nearest row's index in case of a tie
BLOCK = 512
CSLS_NEIGHBOURS = 10  # as in MUSE (Conneau et al. 2018)
MARGIN_NEIGHBOURS = 4  # as in Artetxe and Schwenk 2019


@inference_mode
def nearest(source: Tensor, target: Tensor) -> np.ndarray:
    """Return the index (N,) of the row of `target` with the highest cosine to each row of `source` (N, H);
    NONE for ties."""
    source, target = F.normalize(source.float(), dim=1), F.normalize(target.float(), dim=1)
    blocks = []
    for rows in source.split(BLOCK):
        values, indices = (rows @ target.T).topk(min(2, len(target)), dim=1)
        tied = (values[:, 0] == values[:, -1]) & (len(target) > 1)
        blocks.append(indices[:, 0].masked_fill(tied, NONE))
    return torch.cat(blocks).cpu().numpy()


def mutually_nearest(forward: np.ndarray, back: np.ndarray, pairing: np.ndarray) -> np.ndarray:
    """Return whether each pair's cosine exceeds every other cosine of either member (MEXA, Kargaran et al.
    2024, equation 1). `forward` and `back` (N,) are indices of nearest rows, and `pairing` (..., N) is each
    row's partner."""
    return (forward == pairing) & (back[pairing] == np.arange(len(forward)))


def cosine(source: Tensor, target: Tensor) -> Tensor:
    """Return the cosines (N, M) between the rows of two matrices, (N, H) and (M, H)."""
    return F.normalize(source, dim=1) @ F.normalize(target, dim=1).T


def found(scores: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows, and which columns, of `scores` (N, N) have a unique maximum on the diagonal."""
    own, others = scores.diagonal(), scores.clone().fill_diagonal_(-torch.inf)
    return (own > others.amax(1)).cpu().numpy(), (own > others.amax(0)).cpu().numpy()


def csls(cosines: Tensor) -> Tensor:
    """Correct cosines (n, m) for hubs: from twice the cosine, subtract each word's mean cosine with its
    nearest neighbours in the other language (Conneau et al. 2018, equation 3)."""
    rows, columns = neighbourhoods(cosines, CSLS_NEIGHBOURS)
    return 2 * cosines - rows[:, None] - columns[None]


def neighbourhoods(cosines: Tensor, neighbours: int) -> list[Tensor]:
    """Return the mean of the largest `neighbours` cosines in each row, and in each column."""
    return [cosines.topk(min(neighbours, cosines.shape[dim]), dim=dim).values.mean(dim) for dim in (1, 0)]


def margin(source: Tensor, target: Tensor) -> Tensor:
    """Return the margins (N, M) between the rows of two matrices, (N, H) and (M, H): their cosine, divided by
    the mean cosine of both with their nearest neighbours."""
    cosines = cosine(source, target)
    rows, columns = neighbourhoods(cosines, MARGIN_NEIGHBOURS)
    return 2 * cosines / (rows[:, None] + columns[None])
