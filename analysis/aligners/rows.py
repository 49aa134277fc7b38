"""Hidden states of many rows of ids, without padding. Shapes: B rows, L ids of the longest, H hidden, T ids of all."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import torch
from torch import Tensor

from analysis.aligners.batches import row_batches
from analysis.aligners.encoder import Encoder

Stretches = Sequence[tuple[int, Sequence[int]]]
"""A row: stretches of ids, each with the token type of its ids."""


class EncodedRows:
    """What the ids of rows hold after some layers of an encoder, row after row, in float32.

    A row without ids is passed over.
    """

    def __init__(self, encoder: Encoder, rows: Sequence[Stretches], layers: Collection[int]) -> None:
        """Encode the rows in batches of like length.

        Raises:
            BadInput: as the encoder.
        """
        ids = [[i for _, stretch in row for i in stretch] for row in rows]
        kinds = None
        if any(kind for row in rows for kind, _ in row):
            kinds = [[kind for kind, stretch in row for _ in stretch] for row in rows]
        lengths = np.array([len(row) for row in ids], np.int64)
        ends = np.cumsum(lengths)
        self._starts = ends - lengths
        self._layers: dict[int, Tensor] = {}
        for batch in row_batches(lengths):
            states = encoder([ids[i] for i in batch], None if kinds is None else [kinds[i] for i in batch])
            columns = np.arange(states[0].shape[1])
            real = torch.from_numpy(columns < lengths[batch, None])
            at = torch.from_numpy(self._starts[batch, None] + columns)[real].to(encoder.device)
            for layer in layers:
                hidden = states[layer]
                flat = self._layers.get(layer)
                if flat is None:
                    self._layers[layer] = flat = torch.empty(int(ends[-1]), hidden.shape[2], device=encoder.device)
                flat[at] = hidden[real.to(encoder.device)].float()

    def part(self, layer: int, rows: Sequence[int], first: Sequence[int], width: int) -> Tensor:
        """The states of `width` ids of each of some rows from its id `first` on, (B, width, H).

        What lies beyond the end of a row is anything.
        """
        flat = self._layers[layer]
        begins = torch.from_numpy(self._starts[rows] + np.asarray(first, np.int64))
        return flat[(begins[:, None] + torch.arange(width)).clamp_(max=len(flat) - 1).to(flat.device)]
