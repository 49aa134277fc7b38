"""Sentence pairs seen by an encoder once, and links read from any of its layers (SimAlign; XLM-Align, section 4.2).

Shapes: B sentence pairs, n and m sub-words of their longest sides, H hidden, L links.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from analysis.aligners.batches import Room, Shown, batches
from analysis.aligners.encoder import Encoder
from analysis.aligners.methods import Method
from analysis.aligners.subwords import Pieces, SubWords
from derive.errors import BadInput
from derive.links.aligner import LeftOut, Pair

WINDOW = 2048
"""Pairs that are held at a time, and sorted by length."""
Scored = dict[tuple[int, int], float]
"""The word links of a pair, sorted, each with the largest score of the sub-word links that it comes from."""


@dataclass(frozen=True)
class Side:
    """One side of sentence pairs: how its words become ids, and which token type they have where the model has any."""

    pieces: Callable[[Sequence[str]], Pieces]
    token_type: int = 0


@dataclass(frozen=True)
class Reading:
    """Links as a method reads them from the hidden states of a layer."""

    method: Method
    layer: int


@dataclass(frozen=True)
class _States:
    """What the sub-words of a batch hold after some layers, (B, n, H) and (B, m, H) each, and where there are any."""

    layers: dict[int, tuple[Tensor, Tensor]]
    masks: tuple[Tensor, Tensor]


class PairEncoder:
    """An encoder before which sentence pairs pass once, for as many readings of links as are asked for.

    `joint` encodes a pair as one row, `<s> S </s> T </s>` as in XLM-Align's pretraining; else each side is a row.
    A word that the tokenizer drops has no link, nor has what does not fit into the model; `left_out` counts them.
    Words are linked if any of their sub-words are. The same pairs in the same order have the same links to the last
    bit. Among other pairs a pair's sums are rounded otherwise, so that scores differ in their last digits, and links
    only where two scores do not.
    """

    def __init__(
        self,
        encoder: Encoder,
        source: Side,
        target: Side,
        around: tuple[Sequence[int], Sequence[int]],
        joint: bool = False,
        length: int | None = None,
    ) -> None:
        """`around` are the special ids before and after a sentence, `length` the ids of a row where they are fewer."""
        self.encoder, self.sides, self.joint = encoder, (source, target), joint
        self.before, self.after = map(list, around)
        marks = len(self.before) + len(self.after) * (2 if joint else 1)
        self.room = Room(min(encoder.length, length or encoder.length), marks, joint)
        self.left_out = LeftOut()

    @classmethod
    def open(cls, folder: Path, top: int | None = None, *, joint: bool = False, device: str = "cpu") -> PairEncoder:
        """A model up to layer `top`, or all of it, with the tokenizer that lies beside it.

        In a joint row the target has the second token type, if there is one.

        Raises:
            BadInput: either is missing or damaged, they do not fit each other, or the model has no such layer.
        """
        encoder, pieces = Encoder(folder, top, device), SubWords(folder)
        if pieces.size > encoder.types:
            raise BadInput(f"a tokenizer of {pieces.size:,} types for a model of {encoder.types:,}", folder)
        second = int(joint and encoder.token_types > 1)
        return cls(encoder, Side(pieces), Side(pieces, second), (pieces.before, pieces.after), joint, pieces.longest)

    def links(self, pairs: Iterable[Pair], readings: Sequence[Reading]) -> Iterator[list[Scored]]:
        """The links of each pair by each reading; only a few pairs are held at a time."""
        source, target = self.sides
        return self.piece_links(((source.pieces(s), target.pieces(t)) for s, t in pairs), readings)

    def piece_links(
        self, pairs: Iterable[tuple[Pieces, Pieces]], readings: Sequence[Reading]
    ) -> Iterator[list[Scored]]:
        """As `links`, of sentence pairs that are ids already."""
        numbered, layers = enumerate(pairs, start=1), {reading.layer for reading in readings}
        while window := list(islice(numbered, WINDOW)):
            shown = [self.room.cut(pair, line, self.left_out) for line, pair in window]
            linked: list[list[Scored]] = [[{} for _ in readings] for _ in shown]
            for batch in batches(shown):
                here = [shown[i] for i in batch]
                states = self._states(here, layers)
                for number, reading in enumerate(readings):
                    for i, links in zip(batch, self._read(here, states, reading), strict=True):
                        linked[i][number] = links
            yield from linked

    def matrix(self, pair: Pair, reading: Reading) -> np.ndarray:
        """The scores between the words of one pair, the largest of their sub-words', NaN where there are none."""
        pieces = [side.pieces(words) for side, words in zip(self.sides, pair, strict=True)]
        source, target = self.room.cut(pieces, 1, LeftOut())
        table = np.full((len(pair[0]), len(pair[1])), np.nan)
        if source.ids and target.ids:
            states = self._states([(source, target)], {reading.layer})
            scores = reading.method.score(*states.layers[reading.layer], *states.masks)
            np.fmax.at(table, (source.word[:, None], target.word[None]), scores[0].cpu().numpy())
        return table

    def _read(self, pairs: Sequence[tuple[Shown, Shown]], states: _States, reading: Reading) -> list[Scored]:
        hidden = states.layers[reading.layer]
        for side, mask in zip(hidden, states.masks, strict=True):
            if not side[mask].isfinite().all():
                raise BadInput(
                    f"layer {reading.layer} of the model has numbers that are not finite", self.encoder.folder
                )
        scores = reading.method.score(*hidden, *states.masks)
        links = reading.method.extract(scores, *states.masks)
        values = scores[links.unbind(1)].tolist()
        linked: list[Scored] = [{} for _ in pairs]
        words = [[side.word.tolist() for side in pair] for pair in pairs]
        for (pair, i, j), value in zip(links.tolist(), values, strict=True):
            link = words[pair][0][i], words[pair][1][j]
            linked[pair][link] = max(value, linked[pair].get(link, value))
        return [dict(sorted(links_of_pair.items())) for links_of_pair in linked]

    def _states(self, pairs: Sequence[tuple[Shown, Shown]], layers: Collection[int]) -> _States:
        columns = [[side.ids for side in column] for column in zip(*pairs, strict=True)]
        lengths = [torch.tensor([len(ids) for ids in column]) for column in columns]
        source, target = (torch.arange(int(sizes.max())) < sizes[:, None] for sizes in lengths)
        head, tail, device = len(self.before), len(self.after), self.encoder.device
        n, m = source.shape[1], target.shape[1]
        masks = source.to(device), target.to(device)
        if not self.joint:
            source_hidden, target_hidden = (
                self._encode([[(side, self.before), (side, ids), (side, self.after)] for ids in column])
                for side, column in enumerate(columns)
            )
            aligned = {
                layer: (source_hidden[layer][:, head : head + n], target_hidden[layer][:, head : head + m])
                for layer in layers
            }
            return _States(aligned, masks)
        rows = zip(*columns, strict=True)
        hidden = self._encode([[(0, self.before), (0, s), (0, self.after), (1, t), (1, self.after)] for s, t in rows])
        last = hidden[0].shape[1] - 1
        begins = (head + lengths[0] + tail)[:, None]
        places = (begins + torch.arange(m)).clamp_(max=last).to(device)[:, :, None]
        return _States(
            {
                layer: (
                    hidden[layer][:, head : head + n],
                    hidden[layer].gather(1, places.expand(-1, -1, hidden[layer].shape[2])),
                )
                for layer in layers
            },
            masks,
        )

    def _encode(self, rows: list[list[tuple[int, list[int]]]]) -> tuple[Tensor, ...]:
        """Every layer's states of rows that are made of stretches of ids, each of one of the two sides."""
        kinds = [side.token_type for side in self.sides]
        ids = [list(chain.from_iterable(stretch for _, stretch in row)) for row in rows]
        if not any(kinds):
            return self.encoder(ids)
        return self.encoder(ids, [[kinds[side] for side, stretch in row for _ in stretch] for row in rows])
