"""Encode sentence pairs, and extract links from any layer (SimAlign; XLM-Align, section 4.2). Shapes: B
sentence pairs, n and m sub-words in the longest source and target side, H hidden."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from calque.analysis.aligners.encoder import Encoder, PairIds, Precision, SubWords
from calque.analysis.aligners.methods import DEFAULT, TRAINED, Method
from calque.derive.errors import BadInput
from calque.derive.links.aligner import Aligner, LeftOut, Links, Pair, Scored
from calque.pretrain.architecture import main_layer
from calque.pretrain.lazy import Tensor, nn, torch
from calque.pretrain.saved_model import ALIGNER_LAYER, CONFIG, read_config

CELLS = 6144  # maximum number of ids per batch of pairs or sentences, including padding
LEAST, MOST = 512, 2048  # ids per batch of rows: fewer slow down matrix products, more exceed the CPU's cache
WINDOW = 1024  # maximum product of the numbers of pairs and layers held in memory
SideStates = dict[tuple[int, int, int], Tensor]  # the states (n, H) of one side, by layer, pair and side


@dataclass(frozen=True)
class CutSide:
    """The part of a sentence that fits into a row: its ids, and the index of each id's word."""

    ids: list[int]
    word: np.ndarray

    def places(self, words: bool) -> np.ndarray:
        """Return the word index of each row or column in a score table: one per id or, with `words`, per word
        with ids."""
        return np.unique(self.word) if words else self.word

    def means(self, states: Tensor) -> Tensor:
        """Average the states (n, H) over each word's ids, omitting words without ids."""
        _, place, sizes = np.unique(self.word, return_inverse=True, return_counts=True)
        sums = states.new_zeros(len(sizes), states.shape[1])
        sums.index_add_(0, torch.from_numpy(place).to(states.device), states)
        return sums / torch.from_numpy(sizes).to(states.device)[:, None]


def row_batches(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Yield batches of indices of rows with similar lengths, the shortest first."""
    order, start = np.argsort(lengths, kind="stable"), 0
    for end, length in enumerate(lengths[order].tolist()):
        size, last = end - start, int(lengths[order[end - 1]])
        if size and ((size + 1) * length > MOST or (length > last and size * last >= LEAST)):
            yield order[start:end]
            start = end
    if start < len(order):
        yield order[start:]


def batches(sizes: Sequence[tuple[int, ...]]) -> Iterator[list[int]]:
    """Yield batches of indices of items with similar sizes, omitting items with an empty side."""
    batch, widest = list[int](), tuple[int, ...]()
    whole = [i for i, size in enumerate(sizes) if all(size)]
    for i in sorted(whole, key=lambda i: (sum(sizes[i]), sizes[i])):
        wider = tuple(map(max, sizes[i], widest or sizes[i]))
        if batch and (len(batch) + 1) * sum(wider) > CELLS:
            yield batch
            batch, wider = [], sizes[i]
        batch.append(i)
        widest = wider
    if batch:
        yield batch


@dataclass(frozen=True)
class LinkReading:
    """A method that extracts links, and the layer whose hidden states it uses."""

    method: Method
    layer: int


class PairEncoder:
    """Encodes each sentence pair once, and applies any number of readings to its states. With `joint`, a pair
    is a single row, `<s> S </s> T </s>`. `around` are the special ids before and after a sentence, `types`
    the token types of source and target, and `longest` is the maximum number of ids in a row (default: the
    encoder's)."""

    def __init__(
        self,
        encoder: Encoder,
        around: tuple[Sequence[int], Sequence[int]],
        types: tuple[int, int] = (0, 0),
        joint: bool = False,
        longest: int | None = None,
    ) -> None:
        self.encoder, self.types, self.joint = encoder, types, joint
        self.before, self.after = map(list, around)
        self.length = min(encoder.length, longest or encoder.length)
        self.left_out = LeftOut()

    @classmethod
    def of(
        cls, encoder: Encoder, pieces: SubWords, types: tuple[int, int] = (0, 0), joint: bool = False
    ) -> PairEncoder:
        """Return the encoder for sentence pairs that a tokenizer has split into sub-words."""
        return cls(encoder, (pieces.before, pieces.after), types, joint, pieces.longest)

    def cut(self, pair: PairIds, line: int) -> tuple[CutSide, CutSide]:
        flat = [[i for word in side for i in word] for side in pair]
        if not all(pair):
            self.left_out.add("sentence pairs with an empty side", line)
        sides = []
        for side, ids, kept in zip(pair, flat, self._kept([len(ids) for ids in flat]), strict=True):
            words = np.repeat(np.arange(len(side)), [len(word) for word in side])
            if dropped := sum(not word for word in side):
                self.left_out.add("words that the tokenizer drops", line, dropped)
            if kept < len(ids):
                beyond = len(np.setdiff1d(words[kept:], words[:kept]))
                self.left_out.add(f"words beyond the {self.length:,} ids that the model takes", line, beyond)
            sides.append(CutSide(ids[:kept], words[:kept]))
        return sides[0], sides[1]

    def _kept(self, sizes: list[int]) -> list[int]:
        if not self.joint:
            room = self.length - len(self.before) - len(self.after)
            return [min(size, room) for size in sizes]
        room = self.length - len(self.before) - 2 * len(self.after)
        if sum(sizes) <= room:
            return sizes
        least = min(*sizes, room // 2)
        return [least, room - least] if sizes[0] <= sizes[1] else [room - least, least]

    def links(self, pairs: Iterable[PairIds], readings: Sequence[LinkReading]) -> Iterator[list[Scored]]:
        """Yield each reading's links for each sentence pair, with few pairs in memory at a time."""
        numbered, layers = enumerate(pairs, start=1), {reading.layer for reading in readings}
        size = max(1, WINDOW // len(layers))
        while window := list(islice(numbered, size)):
            cut = [self.cut(pair, line) for line, pair in window]
            states = self.side_states(cut, layers)
            linked: list[list[Scored]] = [[{} for _ in readings] for _ in cut]
            for batch in batches([(len(source.ids), len(target.ids)) for source, target in cut]):
                for number, reading in enumerate(readings):
                    for i, links in zip(batch, self._read(cut, batch, states, reading), strict=True):
                        linked[i][number] = links
            yield from linked

    def _read(
        self,
        cut: Sequence[tuple[CutSide, CutSide]],
        batch: Sequence[int],
        states: SideStates,
        reading: LinkReading,
    ) -> list[Scored]:
        source, target, *masks = _padded(states, cut, batch, reading)
        if not (source.isfinite().all() and target.isfinite().all()):
            raise BadInput(f"the states after layer {reading.layer} are not finite", self.encoder.folder)
        scores = reading.method.score(source, target, *masks)
        links = reading.method.extract(scores, *masks)
        words = [[side.places(reading.method.words).tolist() for side in cut[i]] for i in batch]
        if also := reading.method.also:
            more = self._read(cut, batch, states, replace(reading, method=also))
            pairs = enumerate(more)
            added = [(pair, *map(list.index, words[pair], link)) for pair, of in pairs for link in of]
            links = torch.cat([links, links.new_tensor(added).view(-1, 3)])
        values = scores[links.unbind(1)].tolist()
        linked: list[Scored] = [{} for _ in batch]
        for (pair, i, j), value in zip(links.tolist(), values, strict=True):
            link = words[pair][0][i], words[pair][1][j]
            linked[pair][link] = max(value, linked[pair].get(link, value))
        return [dict(sorted(links_of_pair.items())) for links_of_pair in linked]

    def side_states(self, cut: Sequence[tuple[CutSide, CutSide]], layers: Collection[int]) -> SideStates:
        """Encode all pairs without an empty side, and return the states of both sides."""
        rows, types = list[list[int]](), list[list[int]]()
        inside = list[list[tuple[int, int, slice]]]()  # the sides in each row: pair, side and positions
        for pair, sides in enumerate(cut):
            for side, kind in enumerate(self.types if all(each.ids for each in sides) else ()):
                if side == 0 or not self.joint:
                    rows.append([*self.before])
                    types.append([kind] * len(self.before))
                    inside.append([])
                start, ids = len(rows[-1]), sides[side].ids
                inside[-1].append((pair, side, slice(start, start + len(ids))))
                rows[-1] += [*ids, *self.after]
                types[-1] += [kind] * (len(ids) + len(self.after))
        states: SideStates = {}
        for batch in row_batches(np.array([len(row) for row in rows], np.int64)):
            token_types = [types[i] for i in batch] if any(self.types) else None
            layered = self.encoder([rows[i] for i in batch], token_types)
            for layer in layers:
                for i, hidden in zip(batch, layered[layer].float(), strict=True):
                    states |= {(layer, pair, side): hidden[places] for pair, side, places in inside[i]}
        return states


def _padded(
    states: SideStates, cut: Sequence[tuple[CutSide, CutSide]], pairs: Sequence[int], reading: LinkReading
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    padded, masks = [], []
    for side in (0, 1):
        own = [states[reading.layer, pair, side] for pair in pairs]
        if reading.method.words:
            own = [cut[pair][side].means(each) for pair, each in zip(pairs, own, strict=True)]
        padded.append(nn.utils.rnn.pad_sequence(own, batch_first=True))
        lengths = torch.tensor([len(each) for each in own])
        masks.append((torch.arange(padded[-1].shape[1]) < lengths[:, None]).to(padded[-1].device))
    return padded[0], padded[1], masks[0], masks[1]


class EncoderAligner(Aligner):
    """Extracts links from an encoder's hidden states."""

    def __init__(self, encoder: PairEncoder, pieces: SubWords, reading: LinkReading) -> None:
        self.encoder, self.pieces, self.reading = encoder, pieces, reading

    @classmethod
    def open(
        cls,
        folder: Path,
        method: Method | None = None,
        layer: int | None = None,
        device: str = "cpu",
        precision: Precision = "float32",
    ) -> EncoderAligner:
        """Open a model and its tokenizer. By default, the method is DEFAULT at two thirds of the model's
        depth or, for a trained aligner, TRAINED at the trained layer."""
        config = read_config(folder)
        trained = getattr(config, ALIGNER_LAYER, None)
        if trained is not None and type(trained) is not int:
            raise BadInput(f"{ALIGNER_LAYER} is {str(trained)[:50]!r}, not a layer's number", folder / CONFIG)
        if layer is None:
            layer = trained or main_layer(getattr(config.get_text_config(), "num_hidden_layers", 0))
        encoder, pieces = Encoder(folder, layer, device, precision), SubWords(folder)
        if pieces.size > encoder.types:
            raise BadInput(
                f"the tokenizer has {pieces.size:,} types, but the model has only {encoder.types:,}", folder
            )
        reading = LinkReading(method or (TRAINED if trained else DEFAULT), layer)
        return cls(PairEncoder.of(encoder, pieces), pieces, reading)

    @property
    def name(self) -> str:
        return f"{self.reading.method.name}, layer {self.reading.layer}"

    @property
    def left_out(self) -> LeftOut:
        return self.encoder.left_out

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        return map(list, self.align_scored(pairs))

    def align_scored(self, pairs: Iterable[Pair]) -> Iterator[Scored]:
        return (links for (links,) in self.encoder.links(self.pieces.of_pairs(pairs), [self.reading]))
