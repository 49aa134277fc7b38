"""Hidden states of rows of ids in a model that is in memory. Shapes: N rows, L layers with the embeddings, H hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.measures.exchanged import TypeMeans
from pretrain.architecture import architecture_of, has_languages

ROWS = 128
"""Rows of a batch, of like lengths: how many decides nothing but the last digits."""


@torch.inference_mode()
def states(model: Any, rows: Sequence[np.ndarray], language: int) -> Iterator[tuple[list[int], tuple[Tensor, ...]]]:
    """Rows of ids, each with its special ids, in batches.

    `language` is their token type, in a model that tells languages apart.

    Yields:
        The places of a batch's rows, and what each layer says of them: L tensors of (rows, ids, H). Padding, behind the
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
        made = encoder(
            input_ids=ids,
            attention_mask=None if real.all() else real.long(),
            token_type_ids=torch.full_like(ids, number),
            output_hidden_states=True,
        )
        yield places, made.hidden_states


def sentence_means(model: Any, rows: Sequence[np.ndarray], language: int) -> Tensor:
    """The mean of each row's states at each layer, (L, N, H), the first and the last id, which are special, left out.

    Raises:
        ValueError: no rows.
    """
    if not rows:
        raise ValueError("no sentence to encode")
    means, order = [], []
    for places, made in states(model, rows, language):
        lengths = torch.tensor([len(rows[place]) for place in places], device=made[0].device)
        place = torch.arange(made[0].shape[1], device=lengths.device)
        inside = (place > 0) & (place < lengths[:, None] - 1)  # (rows, ids)
        counts = inside.sum(1, keepdim=True)
        means.append(torch.stack([layer.masked_fill(~inside[:, :, None], 0.0).sum(1) / counts for layer in made]))
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
    for places, made in states(model, rows, language):
        sums = sums or [layer.new_zeros(len(types), layer.shape[2]) for layer in made]
        here = torch.from_numpy(np.concatenate([of[place] for place in places])).to(made[0].device)
        for total, layer in zip(sums, made, strict=True):
            total.index_add_(0, here, torch.cat([layer[i, 1 : 1 + lengths[p]] for i, p in enumerate(places)]))
    means = torch.stack(sums) / torch.from_numpy(counted).to(sums[0].device)[:, None]
    return TypeMeans(means, torch.from_numpy(shares).to(means.device), counted)
