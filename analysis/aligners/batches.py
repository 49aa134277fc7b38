"""Sentence pairs as sub-words, cut to what a model takes and put beside others of like length. No torch here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.aligners.subwords import Pieces
from derive.links.aligner import LeftOut

CELLS = 6144
"""Ids of both sides in a batch of pairs, with padding."""
LEAST, MOST = 512, 2048
"""Ids in a batch of rows. With fewer, a matrix product is slower; with more, what it makes leaves the cache."""


@dataclass(frozen=True)
class Shown:
    """A side of a pair as far as a model is shown it: the ids, and the word that each belongs to."""

    ids: list[int]
    word: np.ndarray


@dataclass(frozen=True)
class Room:
    """How many ids, marks aside, fit into a row of a model that takes `length`; a `joint` row holds both sides."""

    length: int
    marks: int
    joint: bool

    def cut(self, pair: Sequence[Pieces], line: int, left_out: LeftOut) -> tuple[Shown, Shown]:
        """Both sides as far as they fit; of a joint pair, the longer side gives up its end first.

        What gets no links for it is counted, with the pair's line.
        """
        flat = [[i for word in side for i in word] for side in pair]
        if not all(pair):
            left_out.add("sentence pairs with an empty side", line)
        made = []
        for side, ids, kept in zip(pair, flat, self._kept([len(ids) for ids in flat]), strict=True):
            words = np.repeat(np.arange(len(side)), [len(word) for word in side])
            if dropped := sum(not word for word in side):
                left_out.add("words that the tokenizer drops", line, dropped)
            if kept < len(ids):
                beyond = len(np.setdiff1d(words[kept:], words[:kept]))
                left_out.add(f"words beyond the {self.length:,} ids that the model takes", line, beyond)
            made.append(Shown(ids[:kept], words[:kept]))
        return made[0], made[1]

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
    begin = 0
    for end, length in enumerate(lengths[order].tolist()):
        size, last = end - begin, int(lengths[order[end - 1]])
        if size and ((size + 1) * length > MOST or (length > last and size * last >= LEAST)):
            yield order[begin:end]
            begin = end
    if begin < len(order):
        yield order[begin:]


def batches(pairs: Sequence[tuple[Shown, Shown]]) -> Iterator[list[int]]:
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
