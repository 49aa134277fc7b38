"""Hidden states of rows of ids in a model that is in memory, and their means over sentences and types.

Shapes: N rows, L layers with the embeddings, H hidden, T types, K width, S exchanges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.measures.nulls import like_frequent, shuffled
from analysis.measures.vectors import linear_cka
from pretrain.architecture import architecture_of, has_languages

ROWS = 128
"""Rows of a batch, of similar lengths: the number changes only the last digits."""


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

        A type's mean state takes the place of another's. The contribution of its context stays, and so does which
        sentences share words.
        """
        exchanges = torch.from_numpy(shuffled(like_frequent(self.counts), shuffles, seed)).to(y.device)
        means = self.means[layer]
        return np.array([linear_cka(x, y + self.shares @ (means[exchange] - means)) for exchange in exchanges])


@torch.inference_mode()
def states(model: Any, rows: Sequence[np.ndarray], language: int) -> Iterator[tuple[list[int], tuple[Tensor, ...]]]:
    """Rows of ids, each with its special ids, in batches.

    `language` is their token type, in a model that tells languages apart.

    Yields:
        The places of a batch's rows, and their states at each layer: L tensors of (rows, ids, H). Padding, after the
        shorter rows, holds anything.
    """
    spelt, config, device = architecture_of(model.config), model.config, next(model.parameters()).device
    encoder, number = spelt.encoder(model), language if has_languages(config.type_vocab_size) else 0
    ordered = sorted(range(len(rows)), key=lambda place: len(rows[place]))
    for first in range(0, len(ordered), ROWS):
        places = ordered[first : first + ROWS]
        table = np.full((len(places), len(rows[places[-1]])), config.pad_token_id)
        for line, place in zip(table, places, strict=True):
            line[: len(rows[place])] = rows[place]
        ids = torch.from_numpy(table).to(device)
        real = ids != config.pad_token_id
        output = encoder(
            input_ids=ids,
            attention_mask=None if real.all() else real.long(),
            token_type_ids=torch.full_like(ids, number),
            output_hidden_states=True,
        )
        yield places, output.hidden_states


def sentence_means(model: Any, rows: Sequence[np.ndarray], language: int) -> Tensor:
    """The mean of each row's states at each layer, (L, N, H), the first and the last id, which are special, left out.

    Raises:
        ValueError: no rows.
    """
    if not rows:
        raise ValueError("no sentence to encode")
    means, order = [], []
    for places, hidden in states(model, rows, language):
        lengths = torch.tensor([len(rows[place]) for place in places], device=hidden[0].device)
        place = torch.arange(hidden[0].shape[1], device=lengths.device)
        inside = (place > 0) & (place < lengths[:, None] - 1)  # (rows, ids)
        counts = inside.sum(1, keepdim=True)
        means.append(torch.stack([layer.masked_fill(~inside[:, :, None], 0.0).sum(1) / counts for layer in hidden]))
        order += places
    return torch.cat(means, dim=1)[:, torch.tensor(order).argsort().to(means[0].device)]


def type_means(model: Any, rows: Sequence[np.ndarray], language: int) -> TypeMeans:
    """The mean states of the types that rows have, and their shares of each row, special ids left out.

    Raises:
        ValueError: no rows.
    """
    if not rows:
        raise ValueError("no sentence to encode")
    types, inside = np.unique(np.concatenate([row[1:-1] for row in rows]), return_inverse=True)
    lengths = np.array([len(row) - 2 for row in rows])
    of = np.split(inside, np.cumsum(lengths)[:-1])
    counted, shares = np.bincount(inside), np.zeros((len(rows), len(types)), np.float32)
    np.add.at(shares, (np.repeat(np.arange(len(rows)), lengths), inside), 1 / np.repeat(lengths, lengths))
    sums: list[Tensor] = []
    for places, hidden in states(model, rows, language):
        sums = sums or [layer.new_zeros(len(types), layer.shape[2]) for layer in hidden]
        here = torch.from_numpy(np.concatenate([of[place] for place in places])).to(hidden[0].device)
        for total, layer in zip(sums, hidden, strict=True):
            total.index_add_(0, here, torch.cat([layer[i, 1 : 1 + lengths[p]] for i, p in enumerate(places)]))
    means = torch.stack(sums) / torch.from_numpy(counted).to(sums[0].device)[:, None]
    return TypeMeans(means, torch.from_numpy(shares).to(means.device), counted)
