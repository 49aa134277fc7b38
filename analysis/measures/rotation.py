"""Fit a rotation between two languages' embeddings on word pairs (MUSE, Conneau et al. 2018; VecMap, Artetxe
et al. 2018). Shapes: n types in each language, d pairs, H width."""

import numpy as np

from calque.pretrain.lazy import F, Tensor, torch
from calque.pretrain.rotation import procrustes

NEIGHBOURS = 10  # number of neighbours in CSLS, as in MUSE
ROUNDS = 20  # maximum number of self-learning rounds
LEARNT = 4_000  # self-learning compares all pairs, so it uses only this many types, the most frequent


def normalised(rows: Tensor) -> Tensor:
    """Scale rows (n, H) to unit length, centre them, and rescale them to unit length, as VecMap does."""
    rows = F.normalize(rows, dim=1)
    return F.normalize(rows - rows.mean(0), dim=1)


def rotated(source: Tensor, derived: Tensor, pairs: np.ndarray) -> Tensor:
    """Rotate the derived language's normalised embeddings (n, H) onto the source's. The rotation is fitted on
    `pairs` (2, d), row indices of source types and of their translations."""
    own, other = torch.from_numpy(pairs).to(source.device)
    return derived @ procrustes(derived[other], source[own])


def self_learnt(source: Tensor, derived: Tensor, pairs: np.ndarray, counts: np.ndarray) -> Tensor:
    """Like `rotated`, but the dictionary grows by self-learning (VecMap, section 3): frequent types (by
    `counts`, (n,)) that are mutual nearest neighbours by CSLS are added to `pairs` until nothing changes."""
    frequent = np.argsort(-counts, kind="stable")[:LEARNT]
    known, places = pairs, torch.from_numpy(frequent.copy()).to(source.device)
    for _ in range(ROUNDS):
        scores = csls(source[places] @ rotated(source, derived, known)[places].T)
        forward, back = scores.argmax(1).cpu().numpy(), scores.argmax(0).cpu().numpy()
        mutual = np.flatnonzero(back[forward] == np.arange(len(frequent)))
        found = np.concatenate([pairs, [frequent[mutual], frequent[forward[mutual]]]], axis=1)
        if np.array_equal(found, known):
            break
        known = found
    return rotated(source, derived, known)


def csls(cosines: Tensor) -> Tensor:
    """Correct cosines (n, m) for hubs: from twice the cosine, subtract each word's mean cosine with its
    nearest neighbours in the other language (Conneau et al. 2018, equation 3)."""
    rows, columns = neighbourhoods(cosines, NEIGHBOURS)
    return 2 * cosines - rows[:, None] - columns[None]


def neighbourhoods(cosines: Tensor, neighbours: int) -> list[Tensor]:
    """Return the mean of the largest `neighbours` cosines in each row, and in each column."""
    return [cosines.topk(min(neighbours, cosines.shape[dim]), dim=dim).values.mean(dim) for dim in (1, 0)]
