"""Sentence pairs encoded once, and links read from any of the encoder's layers (SimAlign; XLM-Align, section 4.2).

No parallel text is needed. Pairs are cut to the model's maximum length, and batched by length. Shapes: B sentence pairs
or rows, n and m sub-words of their longest sides, L ids of the longest row or links, H hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from calque.analysis.aligners.encoder import Encoder, Precision, main_layer
from calque.analysis.aligners.methods import DEFAULT, Method
from calque.analysis.aligners.subwords import Pieces, SubWords
from calque.derive.errors import BadInput
from calque.derive.links.aligner import Aligner, LeftOut, Links, Pair, Scored
from calque.pretrain.saved_model import read_config

CELLS = 6144  # ids in a batch of pairs, both sides and padding
LEAST, MOST = 512, 2048
"""Ids in a batch of rows. With fewer, matrix products are slower; with more, their results exceed the cache."""
Stretches = Sequence[tuple[int, Sequence[int]]]  # a row: stretches of ids, each with the token type of its ids


@dataclass(frozen=True)
class CutSide:
    """The part of one side that fits into a row: its ids, and the word that each belongs to."""

    ids: list[int]
    word: np.ndarray


@dataclass(frozen=True)
class RowRoom:
    """The room for ids in a row of `length` with `marks` special ids; a `joint` row holds both sides."""

    length: int
    marks: int
    joint: bool

    def cut(self, pair: Sequence[Pieces], line: int, left_out: LeftOut) -> tuple[CutSide, CutSide]:
        """Both sides, cut to fit; in a joint row, the longer side is cut first. Words that get no links for that reason
        are counted, with the pair's line."""
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
        """The number of ids of each side that fit."""
        room = self.length - self.marks
        if not self.joint:
            return [min(size, room) for size in sizes]
        if sum(sizes) <= room:
            return sizes
        least = min(*sizes, room // 2)
        return [least, room - least] if sizes[0] <= sizes[1] else [room - least, least]


def row_batches(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Indices of non-empty rows in batches of equal length, the shortest first. Batches below LEAST ids are filled with
    longer rows, and only these are padded; MOST bounds the padded ids."""
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
    """Indices of the pairs without an empty side, in batches of similar length; CELLS bounds a batch's padded ids."""
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
    """The states of rows after some layers of an encoder, concatenated, in float32. Empty rows are skipped."""

    def __init__(self, encoder: Encoder, rows: Sequence[Stretches], layers: Collection[int]) -> None:
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
        """The states of `width` ids of some rows from id `first` on, (B, width, H), arbitrary beyond a row's end."""
        flat = self._layers[layer]
        starts = torch.from_numpy(self._starts[rows] + np.asarray(first, np.int64))
        return flat[(starts[:, None] + torch.arange(width)).clamp_(max=len(flat) - 1).to(flat.device)]


WINDOW = 1024  # pairs, times layers, in memory at a time, sorted by length


@dataclass(frozen=True)
class LinkReading:
    """A method applied to the hidden states of one layer."""

    method: Method
    layer: int


class PairEncoder:
    """An encoder of sentence pairs, each encoded once for any number of readings. `joint` encodes a pair as one row,
    `<s> S </s> T </s>` as in XLM-Align's pretraining; otherwise each side is a row. Words are linked if any of their
    sub-words are. Words that the tokenizer drops, or that do not fit into the model, have no links; `left_out` counts
    them. The same pairs in the same order have bitwise the same links; among others, last digits of scores differ."""

    def __init__(
        self,
        encoder: Encoder,
        around: tuple[Sequence[int], Sequence[int]],
        types: tuple[int, int] = (0, 0),
        joint: bool = False,
        pieces: SubWords | None = None,
    ) -> None:
        """`around` are the special ids before and after a sentence, and `types` the token types of the two sides.
        `pieces`, the tokenizer, may limit the length of rows and is needed for pairs of words."""
        self.encoder, self.types, self.joint, self.pieces = encoder, types, joint, pieces
        self.before, self.after = map(list, around)
        marks = len(self.before) + len(self.after) * (2 if joint else 1)
        longest = pieces.longest if pieces else None
        self.room = RowRoom(min(encoder.length, longest or encoder.length), marks, joint)
        self.left_out = LeftOut()

    def links(self, pairs: Iterable[Pair], readings: Sequence[LinkReading]) -> Iterator[list[Scored]]:
        """The links of each pair of words by each reading; only a few pairs are in memory at a time."""
        return self.piece_links(map(self._cut, pairs), readings)

    def _cut(self, pair: Pair) -> tuple[Pieces, Pieces]:
        assert self.pieces is not None, "pairs of words need a tokenizer"
        return self.pieces(pair[0]), self.pieces(pair[1])

    def piece_links(
        self, pairs: Iterable[tuple[Pieces, Pieces]], readings: Sequence[LinkReading]
    ) -> Iterator[list[Scored]]:
        """As `links`, for sentence pairs that are ids already."""
        numbered, layers = enumerate(pairs, start=1), {reading.layer for reading in readings}
        size = max(1, WINDOW // max(1, len(layers)))
        while window := list(islice(numbered, size)):
            cut = [self.room.cut(pair, line, self.left_out) for line, pair in window]
            rows = self._encode(cut, layers)
            linked: list[list[Scored]] = [[{} for _ in readings] for _ in cut]
            for batch in batches(cut):
                for number, reading in enumerate(readings):
                    for i, links in zip(batch, self._read(cut, batch, rows, reading), strict=True):
                        linked[i][number] = links
            yield from linked

    def matrix(self, pair: Pair, reading: LinkReading) -> np.ndarray:
        """The scores between the words of a pair: the largest of their sub-words', NaN without sub-words."""
        source, target = cut = self.room.cut(self._cut(pair), 1, LeftOut())
        table = np.full((len(pair[0]), len(pair[1])), np.nan)
        if source.ids and target.ids:
            states, masks = self._states([cut], [0], self._encode([cut], {reading.layer}), reading.layer)
            scores = reading.method.score(*states, *masks)
            np.fmax.at(table, (source.word[:, None], target.word[None]), scores[0].cpu().numpy())
        return table

    def _read(
        self, cut: Sequence[tuple[CutSide, CutSide]], batch: Sequence[int], rows: EncodedRows, reading: LinkReading
    ) -> list[Scored]:
        """The word links of the pairs of a batch, each with the largest score of its sub-words' links."""
        states, masks = self._states(cut, batch, rows, reading.layer)
        if not all(side[mask].isfinite().all() for side, mask in zip(states, masks, strict=True)):
            raise BadInput(f"layer {reading.layer} of the model has numbers that are not finite", self.encoder.folder)
        scores = reading.method.score(*states, *masks)
        links = reading.method.extract(scores, *masks)
        values = scores[links.unbind(1)].tolist()
        linked: list[Scored] = [{} for _ in batch]
        words = [[side.word.tolist() for side in cut[i]] for i in batch]
        for (pair, i, j), value in zip(links.tolist(), values, strict=True):
            link = words[pair][0][i], words[pair][1][j]
            linked[pair][link] = max(value, linked[pair].get(link, value))
        return [dict(sorted(links_of_pair.items())) for links_of_pair in linked]

    def _states(
        self, cut: Sequence[tuple[CutSide, CutSide]], batch: Sequence[int], rows: EncodedRows, layer: int
    ) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """The states of a batch's sub-words after a layer, (B, n, H) and (B, m, H), and their masks."""
        states, masks, head = [], [], len(self.before)
        for number in (0, 1):
            lengths = [len(cut[i][number].ids) for i in batch]
            width = max(lengths)
            masks.append((torch.arange(width) < torch.tensor(lengths)[:, None]).to(self.encoder.device))
            if self.joint:
                first = [head + number * (len(cut[i][0].ids) + len(self.after)) for i in batch]
                states.append(rows.part(layer, batch, first, width))
            else:
                states.append(rows.part(layer, [2 * i + number for i in batch], [head] * len(batch), width))
        return (states[0], states[1]), (masks[0], masks[1])

    def _encode(self, cut: Sequence[tuple[CutSide, CutSide]], layers: Collection[int]) -> EncodedRows:
        """Encode the pairs without an empty side, each as one row or two."""
        rows: list[Stretches] = []
        for source, target in cut:
            if not (source.ids and target.ids):
                rows += [()] * (1 if self.joint else 2)
                continue
            first, second = (
                [(kind, ids) for ids in (self.before, side.ids, self.after)]
                for kind, side in zip(self.types, (source, target), strict=True)
            )
            rows += [[*first, *second[1:]]] if self.joint else [first, second]
        return EncodedRows(self.encoder, rows, layers)


class EncoderAligner(Aligner):
    """Links from the similarity of the hidden states of sub-words."""

    def __init__(self, encoder: PairEncoder, reading: LinkReading) -> None:
        self.encoder, self.reading = encoder, reading

    @classmethod
    def open(
        cls,
        folder: Path,
        method: Method = DEFAULT,
        layer: int | None = None,
        *,
        joint: bool = False,
        device: str = "cpu",
        precision: Precision = "float32",
    ) -> EncoderAligner:
        """A model with the tokenizer in its folder; `layer` is by default the one at two thirds of its depth. In a
        joint row the target has the token type that the tokenizer's template gives it, if the model has that type."""
        if layer is None:
            layer = main_layer(getattr(read_config(folder).get_text_config(), "num_hidden_layers", 0))
        encoder, pieces = Encoder(folder, layer, device, precision), SubWords(folder)
        if pieces.size > encoder.types:
            raise BadInput(f"a tokenizer of {pieces.size:,} types for a model of {encoder.types:,}", folder)
        target_type = pieces.second_type if joint and encoder.token_types > 1 else 0
        around = pieces.before, pieces.after
        return cls(PairEncoder(encoder, around, (0, target_type), joint, pieces), LinkReading(method, layer))

    @property
    def name(self) -> str:
        name = f"{self.reading.method.name}, layer {self.reading.layer}"
        return f"{name}, joint" if self.encoder.joint else name

    @property
    def left_out(self) -> LeftOut:
        return self.encoder.left_out

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        return map(list, self.align_scored(pairs))

    def align_scored(self, pairs: Iterable[Pair]) -> Iterator[Scored]:
        """Links as in `align`, each with the largest score of its sub-words' links."""
        return (links for (links,) in self.encoder.links(pairs, [self.reading]))

    def matrix(self, pair: Pair) -> np.ndarray:
        """The scores between the words of one pair; NaN for words without sub-words."""
        return self.encoder.matrix(pair, self.reading)
