"""Sentence pairs as sub-words, cut to the length of a model's rows, and encoded with others of similar length.

Shapes: B rows, L ids of the longest, H hidden, T ids of all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from analysis.aligners.encoder import Encoder
from analysis.aligners.subwords import Pieces
from derive.links.aligner import LeftOut

CELLS = 6144
"""Ids of both sides in a batch of pairs, with padding."""
LEAST, MOST = 512, 2048
"""Ids in a batch of rows. With fewer, a matrix product is slower; with more, its results leave the cache."""
Stretches = Sequence[tuple[int, Sequence[int]]]
"""A row: stretches of ids, each with the token type of its ids."""


@dataclass(frozen=True)
class CutSide:
    """The part of a pair's side that fits into a row: the ids, and the word that each belongs to."""

    ids: list[int]
    word: np.ndarray


@dataclass(frozen=True)
class RowRoom:
    """How many ids fit into a row of `length`, besides its `marks`; a `joint` row holds both sides."""

    length: int
    marks: int
    joint: bool

    def cut(self, pair: Sequence[Pieces], line: int, left_out: LeftOut) -> tuple[CutSide, CutSide]:
        """Both sides as far as they fit; in a joint row, the longer side loses its end first. The rest is counted."""
        flat = [[i for word in side for i in word] for side in pair]
        if not all(pair):
            left_out.add("sentence pairs with an empty side", line)
        sides = []
        for side, ids, kept in zip(pair, flat, self._kept([len(ids) for ids in flat]), strict=True):
            words = np.repeat(np.arange(len(side)), [len(word) for word in side])
            if dropped := sum(not word for word in side):
                left_out.add("words that the tokenizer drops", line, dropped)
            if kept < len(ids):
                beyond = len(np.setdiff1d(words[kept:], words[:kept]))
                left_out.add(f"words beyond the {self.length:,} ids that the model takes", line, beyond)
            sides.append(CutSide(ids[:kept], words[:kept]))
        return sides[0], sides[1]

    def _kept(self, sizes: list[int]) -> list[int]:
        """How many ids of each side fit."""
        room = self.length - self.marks
        if not self.joint:
            return [min(size, room) for size in sizes]
        if sum(sizes) <= room:
            return sizes
        least = min(*sizes, room // 2)
        return [least, room - least] if sizes[0] <= sizes[1] else [room - least, least]


def row_batches(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """The places of all rows that have ids, in batches of one length each, the shortest first.

    Batches of fewer than LEAST ids take in longer rows, so that only these have padding; MOST bounds the padded ids.
    """
    order = np.argsort(lengths, kind="stable")
    order = order[np.searchsorted(lengths[order], 1) :]
    start = 0
    for end, length in enumerate(lengths[order].tolist()):
        size, last = end - start, int(lengths[order[end - 1]])
        if size and ((size + 1) * length > MOST or (length > last and size * last >= LEAST)):
            yield order[start:end]
            start = end
    if start < len(order):
        yield order[start:]


def batches(pairs: Sequence[tuple[CutSide, CutSide]]) -> Iterator[list[int]]:
    """Pairs of like lengths that have sub-words on both sides, by place; CELLS bounds the padded ids of a batch."""
    lengths = [(len(source.ids), len(target.ids)) for source, target in pairs]
    batch: list[int] = []
    n = m = 0
    for i in sorted((i for i, pair in enumerate(lengths) if all(pair)), key=lambda i: (sum(lengths[i]), lengths[i])):
        wide, high = max(n, lengths[i][0]), max(m, lengths[i][1])
        if batch and (len(batch) + 1) * (wide + high) > CELLS:
            yield batch
            batch, wide, high = [], *lengths[i]
        batch.append(i)
        n, m = wide, high
    if batch:
        yield batch


class EncodedRows:
    """The states of the ids of rows after some layers of an encoder, row after row, in float32.

    A row without ids is skipped.
    """

    def __init__(self, encoder: Encoder, rows: Sequence[Stretches], layers: Collection[int]) -> None:
        """Encode the rows in batches of similar length."""
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
        """The states of `width` ids of some rows from id `first` on, (B, width, H), anything beyond a row's end."""
        flat = self._layers[layer]
        starts = torch.from_numpy(self._starts[rows] + np.asarray(first, np.int64))
        return flat[(starts[:, None] + torch.arange(width)).clamp_(max=len(flat) - 1).to(flat.device)]
