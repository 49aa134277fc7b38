"""alignment@1 of natural languages: whether a word's most similar row is that of its translation in a lexicon.

Shapes: R rows of a table, H width, n entries, c candidates.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

BLOCK = 512
"""Entries that are asked for at a time."""


def lexicon_alignment(table: Tensor, entries: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Which entries find their translation, (n,) bool: it is more similar (cosine) than every other candidate.

    Languages that share a vocabulary share rows, and a word would find itself, so it is no candidate of its own. A tie
    is no find. Unlike a derived language's, translations are not one to one: a find of a synonym counts as none.

    Args:
        table: (R, H) word embeddings.
        entries: (n, 2) rows of words and of their translations, which are among the candidates.
        candidates: (c,) rows to seek among, such as those of the types that the second language's text has.

    Raises:
        ValueError: an entry's translation is its own word, or no candidate.
    """
    if not np.isin(entries[:, 1], candidates).all() or (entries[:, 0] == entries[:, 1]).any():
        raise ValueError("a translation is a candidate, and another row than its word")
    rows = F.normalize(table.detach()[torch.from_numpy(candidates)].float(), dim=1)
    place = np.full(len(table), -1)
    place[candidates] = np.arange(len(candidates))
    found = []
    for begin in range(0, len(entries), BLOCK):
        words, translations = entries[begin : begin + BLOCK].T
        asked = F.normalize(table.detach()[torch.from_numpy(np.ascontiguousarray(words))].float(), dim=1)
        similarity, here = asked @ rows.T, np.arange(len(words))
        itself = place[words]
        similarity[here[itself >= 0], itself[itself >= 0]] = -torch.inf
        own = similarity[here, place[translations]].clone()
        similarity[here, place[translations]] = -torch.inf
        found.append((own > similarity.amax(1)).numpy())
    return np.concatenate(found) if found else np.empty(0, bool)
