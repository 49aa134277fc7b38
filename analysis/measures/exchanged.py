"""Nulls of words: what a measure says when a language's types are exchanged for others that are as frequent.

All occurrences of a type go together, for they are not independent: a model takes most of them for the same, by
chance too, so occurrences that are shuffled one by one make a null that is far too narrow. Shapes: N words or
sentences, T types, H and K widths, C labels, S exchanges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from analysis.measures.cka import linear_cka
from analysis.measures.permutation import like_frequent, shuffled


def exchanged_accuracies(
    said: np.ndarray, labels: np.ndarray, types: np.ndarray, shuffles: int, seed: int
) -> np.ndarray:
    """The share of words whose label is right by the labels of another type, as frequent as theirs, (S,).

    Args:
        said, labels, types: (N,) of each word, what is said of it, what is right, and its type, numbers from 0.
    """
    _, of = np.unique(types, return_inverse=True)
    counts, width = np.bincount(of), 1 + int(max(said.max(), labels.max()))
    said_of, share_of = (np.zeros((len(counts), width)) for _ in range(2))
    np.add.at(said_of, (of, said), 1)
    np.add.at(share_of, (of, labels), 1 / counts[of])
    exchanges = shuffled(like_frequent(counts), shuffles, seed)
    return np.array([(said_of * share_of[exchange]).sum() for exchange in exchanges]) / len(said)


@dataclass(frozen=True)
class TypeMeans:
    """The mean state of each type at each layer, `means` (L, T, H), and each sentence's `shares` of them, (N, T).

    `counts` (T,) are their occurrences.
    """

    means: Tensor
    shares: Tensor
    counts: np.ndarray

    def exchanged_ckas(self, x: Tensor, y: Tensor, layer: int, shuffles: int, seed: int) -> np.ndarray:
        """Linear CKA of `x` (N, K) with `y` (N, H), sentences' means at a layer, after exchanges, (S,).

        A type's mean state takes the place of another's. What its context adds stays, and so does which sentences
        share words.

        Raises:
            ValueError: as `linear_cka`.
        """
        exchanges = torch.from_numpy(shuffled(like_frequent(self.counts), shuffles, seed)).to(y.device)
        means = self.means[layer]
        made = [linear_cka(x, y + self.shares @ (means[exchange] - means)) for exchange in exchanges]
        return np.array(made)
