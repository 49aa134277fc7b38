"""The loss on masked ids, and what it would be if they were asked for at one another's places.

Shapes: N masked ids, S shuffles, V types.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from pretrain.architecture import architecture_of
from pretrain.batch import UNLABELLED, Rows
from pretrain.model import encode

MOST = 2048
"""Masked ids that are asked for; the first ones, where there are more."""


def masked_only(rows: Rows, mask: int) -> Rows:
    """The rows with labels where the mask, a special id, is shown.

    One in five ids that pretraining asks for is shown, mostly as it is: to copy those lowers the loss without context.
    """
    labels = rows.labels.masked_fill(rows.ids != mask, UNLABELLED)
    return Rows(rows.ids, labels, rows.languages, rows.padded, rows.places)


@torch.inference_mode()
def masked_loss(model: Any, rows: Rows, shuffles: int, seed: int) -> tuple[float, int, np.ndarray]:
    """The mean loss in nats of N masked ids, N, and the means after the ids were shuffled among their places, (S,).

    A model that knows how frequent words are, and no more, has the same loss after a shuffle: what is lower was read
    from the context, if every id that is asked for is behind a mask (`masked_only`). The model is used as it is: in
    evaluation mode without dropout.

    Raises:
        ValueError: no id is masked.
    """
    spelt, at = architecture_of(model.config), rows.positions.at[:MOST]
    if not len(at):
        raise ValueError("no id is masked")
    labels = rows.labels.flatten()[at]
    top = encode(model, rows, len(spelt.layers(model))).flatten(0, 1)[at]
    losses = torch.cat([-spelt.logits(model, part).float().log_softmax(1)[:, labels] for part in top.split(256)])
    table = losses.double().cpu().numpy()  # (N, N): at each place, of each id
    here, random = np.arange(len(at)), np.random.default_rng(seed)
    shuffled = [table[here, random.permutation(here)].mean() for _ in range(shuffles)]
    return float(table.diagonal().mean()), len(at), np.array(shuffled)


def unigram_loss(labels: np.ndarray, counts: np.ndarray) -> float:
    """The mean loss in nats of who predicts each type by how often it occurs, one added: chance.

    Args:
        labels: (N,) types from 0.
        counts: (V,) occurrences of each type.
    """
    return float(-np.log((counts[labels] + 1) / (counts.sum() + len(counts))).mean())
