"""One rotation between the embeddings of two languages, fitted on pairs of words: languages may share their
geometry except for a rotation (MUSE, Conneau et al. 2018; VecMap, Artetxe et al. 2018). Shapes: n types of
two languages, d pairs, H width."""

from __future__ import annotations

import numpy as np

from calque.pretrain.lazy import F, Tensor, torch
from calque.pretrain.rotation import procrustes

NEIGHBOURS = 10  # for CSLS, as in MUSE
ROUNDS = 20  # maximum number of self-learning rounds
LEARNT = 4_000  # self-learning uses the most frequent types, comparing all with each other


def normalised(rows: Tensor) -> Tensor:
    """Scale rows (n, H) to length 1, centre them, and scale them to length 1 again, as VecMap does."""
    rows = F.normalize(rows, dim=1)
    return F.normalize(rows - rows.mean(0), dim=1)


def rotated(source: Tensor, derived: Tensor, pairs: np.ndarray) -> Tensor:
    """Rotate normalised rows of the derived language (n, H) onto the source's; the rotation is fitted on
    `pairs` (2, d) of source types and their translations, as row indices."""
    own, other = torch.from_numpy(pairs).to(source.device)
    return derived @ procrustes(derived[other], source[own])


def self_learnt(source: Tensor, derived: Tensor, pairs: np.ndarray, counts: np.ndarray) -> Tensor:
    """As `rotated`, with a growing dictionary: frequent types, by `counts` (n,), that are mutual nearest
    neighbours by CSLS are added to the pairs, until none is new (VecMap, section 3)."""
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
    """Correct cosines (n, m) for hubs: twice the cosine, minus each side's mean cosine with its nearest
    neighbours in the other language (Conneau et al. 2018, equation 3)."""
    rows, columns = neighbourhoods(cosines, NEIGHBOURS)
    return 2 * cosines - rows[:, None] - columns[None]


def neighbourhoods(cosines: Tensor, neighbours: int) -> list[Tensor]:
    """Return the mean cosine of each row, and of each column, with its nearest `neighbours`."""
    return [cosines.topk(min(neighbours, cosines.shape[dim]), dim=dim).values.mean(dim) for dim in (1, 0)]
