"""Encode sentences and sentence pairs, and extract links from any layer (SimAlign; XLM-Align, section 4.2).
Shapes: B rows or pairs, L ids in the longest row, n and m sub-words in the longest source and target side, H
hidden."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from calque.analysis.aligners.methods import DEFAULT, TRAINED, Method
from calque.analysis.records.record import MeasuredModel
from calque.derive.errors import BadInput
from calque.derive.readers.parallel import Link, Links, Pair
from calque.derive.vocabulary import TOKENIZER, open_tokenizer
from calque.derive.word_links import LeftOut
from calque.pretrain.batch import Rows
from calque.pretrain.lazy import Tensor, inference_mode, nn, torch
from calque.pretrain.model import encode_each, has_languages, main_layer, row_length
from calque.pretrain.saved_model import (
    ALIGNER_LAYER,
    CONFIG,
    WEIGHTS,
    check_tokenizer,
    has_head,
    load_model,
    read_config,
)

_ROOM = 1 << 18  # maximum number of cached words
MEASURED_ROWS = 128  # rows of similar length per batch; affects only rounding
Ids = Sequence[int] | np.ndarray


def open_encoder(folder: Path, device: str = "cpu") -> Any:
    """Load an encoder in evaluation mode."""
    encoder: Any = load_model(folder)[0]
    return encoder.eval().to(device)


@inference_mode
def layer_states(
    model: Any, rows: Sequence[Ids], token_types: Sequence[Ids], top: int | None = None
) -> tuple[Tensor, ...]:
    """Return the states (B, L, H) of rows of ids after the embeddings and after each layer up to `top`
    (default: all). Values at padding are arbitrary."""
    ids, types = (
        nn.utils.rnn.pad_sequence([torch.tensor(row) for row in side], True, filler).to(model.device)
        for side, filler in ((rows, model.config.pad_token_id), (token_types, 0))
    )
    lengths = torch.tensor([[len(row)] for row in rows], device=ids.device)
    places = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
    # Padding is known by its place, because some published models give `pad_token_id` another meaning.
    places = places.masked_fill(places >= lengths, -1)
    padded = bool((places < 0).any())
    states = encode_each(model, Rows(ids, ids, types, padded, places, types))
    return tuple(islice(states, None if top is None else top + 1))


def states(
    model: Any, rows: Sequence[np.ndarray], language: int
) -> Iterator[tuple[list[int], tuple[Tensor, ...]]]:
    """Yield batches of row indices, and their rows' states (B, L, H) at each layer, with arbitrary values at
    padding. `language` is the token type in models with language embeddings."""
    ordered = sorted(range(len(rows)), key=lambda place: len(rows[place]))
    number = language if has_languages(model.config.type_vocab_size) else 0
    for first in range(0, len(ordered), MEASURED_ROWS):
        places = ordered[first : first + MEASURED_ROWS]
        chosen = [rows[place] for place in places]
        yield places, layer_states(model, chosen, [np.full_like(row, number) for row in chosen])


def states_by_row(model: Any, rows: Sequence[np.ndarray], language: int) -> Iterator[tuple[int, Tensor]]:
    """Yield each row's index and its states (layers, ids, H), in order of length."""
    for places, hidden in states(model, rows, language):
        for number, place in enumerate(places):
            yield place, torch.stack([layer[number, : len(rows[place])] for layer in hidden])


def sentence_means(model: Any, rows: Sequence[np.ndarray], language: int) -> Tensor:
    """Average each row's states at every layer, (layers, rows, H), without the special ids at both ends."""
    return in_order(
        (places, mean_states(hidden, 1, [len(rows[place]) - 2 for place in places]))
        for places, hidden in states(model, rows, language)
    )


def mean_states(hidden: Sequence[Tensor], first: int, sizes: Sequence[int]) -> Tensor:
    """Average the states of `sizes` (B,) ids in each row, from position `first`: (layers, B, H)."""
    place = torch.arange(hidden[0].shape[1], device=hidden[0].device) - first
    inside = (place >= 0) & (place < torch.tensor(sizes, device=place.device)[:, None])  # (B, L)
    counts = inside.sum(1, keepdim=True)
    return torch.stack([layer.masked_fill(~inside[:, :, None], 0.0).sum(1) / counts for layer in hidden])


def in_order(batches: Iterable[tuple[Sequence[int], Tensor]]) -> Tensor:
    """Join batches of row indices and means (layers, B, H) into one tensor, in the rows' order."""
    order, means = list[int](), list[Tensor]()
    for places, tensor in batches:
        order += places
        means.append(tensor)
    return torch.cat(means, dim=1)[:, torch.tensor(order).argsort().to(means[0].device)]


def model_with_head(model: MeasuredModel) -> Any:
    """Load a masked language model. Raises BadInput if its prediction head is missing."""
    if not has_head(model.checkpoint):
        what = "the model has no prediction head, so its predictions cannot be measured"
        raise BadInput(what, model.checkpoint / WEIGHTS)
    network: Any = load_model(model.checkpoint, with_head=True)[0]
    return network.to(model.device).eval()


WordIds = Sequence[Sequence[int]]  # each word's ids in a sentence (none if the tokenizer drops the word)
PairIds = tuple[WordIds, WordIds]  # both sides of a sentence pair


class SubWords:
    """A tokenizer that encodes each word separately, preceded by a space. `before` and `after` are the
    special ids around a sentence, and `second_type` is the token type of the second text in a pair."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer, self._folder = open_tokenizer(folder / TOKENIZER), folder
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True
        self._known: dict[str, list[int]] = {}
        self.size: int = self._tokenizer.get_vocab_size(with_added_tokens=True)
        (around,), (bare,) = self._encode(["a"], special=True), self._encode(["a"])
        first = next((i for i in range(len(around)) if bare and around[i : i + len(bare)] == bare), None)
        if first is None:
            raise BadInput("the tokenizer drops a letter or encodes it differently in a sentence", folder)
        self.before, self.after = around[:first], around[first + len(bare) :]
        check_tokenizer(folder)
        self.second_type: int = self._tokenizer.encode("a", "a").type_ids[-1]

    def __call__(self, words: Sequence[str]) -> list[list[int]]:
        if len(self._known) > _ROOM:
            self._known = {}
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        self._known.update(zip(new, self._encode([f" {word}" for word in new]), strict=True))
        return [self._known[word] for word in words]

    def of_pairs(self, pairs: Iterable[Pair]) -> Iterator[PairIds]:
        return ((self(source), self(target)) for source, target in pairs)

    def _encode(self, texts: list[str], special: bool = False) -> list[list[int]]:
        try:
            encoded = self._tokenizer.encode_batch_fast(texts, add_special_tokens=special)
        except Exception as error:  # the tokenizers library raises plain exceptions
            raise BadInput(f"the tokenizer cannot encode some words: {error}", self._folder) from None
        return [encoding.ids for encoding in encoded]


CELLS = 6144  # maximum number of ids per batch of pairs or sentences, including padding
ROWS = 32  # rows of similar length per batch
WINDOW = 1024  # number of pairs sorted by length at a time
Side = tuple[list[int], np.ndarray]  # the ids of a sentence that fit into a row, and each id's word


def batches(sizes: Sequence[tuple[int, ...]]) -> Iterator[list[int]]:
    """Group items of similar size into batches of at most CELLS ids, and yield each batch's indices. Items
    with an empty side are omitted."""
    batch, widest = list[int](), tuple[int, ...]()
    complete = [i for i, size in enumerate(sizes) if all(size)]
    for i in sorted(complete, key=lambda i: (sum(sizes[i]), sizes[i])):
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
    """A method, and the layer whose states it uses."""

    method: Method
    layer: int


@dataclass(frozen=True)
class PairEncoder:
    """Encodes each sentence pair once, and extracts links by any number of `LinkReading`s. With `joint`, a
    pair is a single row, `<s> S </s> T </s>`. `before` and `after` are the special ids around a sentence, and
    `types` are the token types of both sides."""

    encoder: Any
    before: Sequence[int]
    after: Sequence[int]
    types: tuple[int, int] = (0, 0)
    joint: bool = False
    left_out: LeftOut = field(default_factory=LeftOut)

    def links(self, pairs: Iterable[PairIds], readings: Sequence[LinkReading]) -> Iterator[list[Links]]:
        """Yield each reading's links for each sentence pair."""
        numbered, top = enumerate(pairs, start=1), max(reading.layer for reading in readings)
        while window := list(islice(numbered, WINDOW)):
            cut = [self._cut(pair, line) for line, pair in window]
            linked: list[list[Links]] = [[[] for _ in readings] for _ in cut]
            for batch in batches([tuple(len(ids) for ids, _ in pair) for pair in cut]):
                encoded = _Batch(self, [cut[i] for i in batch], top)
                for number, reading in enumerate(readings):
                    for i, links in zip(batch, encoded.links(reading), strict=True):
                        linked[i][number] = links
            yield from linked

    def _cut(self, pair: PairIds, line: int) -> list[Side]:
        """Truncate both sides to the ids that fit into a row, and count what is left out."""
        flat = [[i for word in side for i in word] for side in pair]
        if not all(pair):
            self.left_out.add("sentence pairs with an empty side", line)
        sides = []
        for side, ids, size in zip(pair, flat, self._sizes([len(ids) for ids in flat]), strict=True):
            words = np.repeat(np.arange(len(side)), [len(word) for word in side])
            if dropped := sum(not word for word in side):
                self.left_out.add("words that the tokenizer drops", line, dropped)
            if size < len(ids):
                beyond = len(np.setdiff1d(words[size:], words[:size]))
                reason = f"words beyond the {row_length(self.encoder.config):,} ids that the model takes"
                self.left_out.add(reason, line, beyond)
            sides.append((ids[:size], words[:size]))
        return sides

    def _sizes(self, sizes: list[int]) -> list[int]:
        """Return how many ids of each side fit into a row; in a joint row, the longer side is truncated
        first."""
        room = row_length(self.encoder.config) - len(self.before) - len(self.after) * (1 + self.joint)
        if not self.joint:
            return [min(size, room) for size in sizes]
        if sum(sizes) <= room:
            return sizes
        least = min(*sizes, room // 2)
        return [least, room - least] if sizes[0] <= sizes[1] else [room - least, least]


class _Batch:
    """The states of a batch of pairs at every layer up to `top`."""

    def __init__(self, encoder: PairEncoder, cut: Sequence[Sequence[Side]], top: int) -> None:
        self.cut, self.folder = cut, encoder.encoder.name_or_path
        self.spans: tuple[list[tuple[int, slice]], ...] = [], []  # each pair's row and positions, by side
        rows, types = list[list[int]](), list[list[int]]()
        for sides in cut:
            for side, ((ids, _), kind) in enumerate(zip(sides, encoder.types, strict=True)):
                if side == 0 or not encoder.joint:
                    rows.append([*encoder.before])
                    types.append([kind] * len(encoder.before))
                start = len(rows[-1])
                self.spans[side].append((len(rows) - 1, slice(start, start + len(ids))))
                rows[-1] += [*ids, *encoder.after]
                types[-1] += [kind] * (len(ids) + len(encoder.after))
        self.states: list[list[Tensor]] = [[] for _ in rows]  # by row and layer
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        for first in range(0, len(order), ROWS):
            chosen = order[first : first + ROWS]
            columns = [rows[row] for row in chosen], [types[row] for row in chosen]
            layers = layer_states(encoder.encoder, *columns, top)
            for i, row in enumerate(chosen):
                self.states[row] = [hidden[i] for hidden in layers]

    def links(self, reading: LinkReading) -> list[Links]:
        """Return each pair's links between words."""
        method, states, masks, words = reading.method, list[Tensor](), list[Tensor](), list[list[list[int]]]()
        for side in (0, 1):
            vectors, words_of_side = self._vectors(side, reading)
            words.append(words_of_side)
            padded = nn.utils.rnn.pad_sequence(vectors, batch_first=True)
            if not padded.isfinite().all():
                raise BadInput(f"the states after layer {reading.layer} are not finite", self.folder)
            states.append(padded)
            lengths = torch.tensor(list(map(len, vectors)), device=padded.device)
            masks.append(torch.arange(padded.shape[1], device=padded.device) < lengths[:, None])
        linked: list[set[Link]] = [set() for _ in self.cut]
        if method.also:
            linked = list(map(set, self.links(replace(reading, method=method.also))))
        for pair, i, j in method.extract(method.score(*states, *masks), *masks).tolist():
            linked[pair].add((words[0][pair][i], words[1][pair][j]))
        return list(map(sorted, linked))

    def _vectors(self, side: int, reading: LinkReading) -> tuple[list[Tensor], list[list[int]]]:
        """Return each pair's states on a side, averaged by word if the method compares words, and the word of
        each state."""
        states = [self.states[row][reading.layer][places] for row, places in self.spans[side]]
        words = [pair[side][1] for pair in self.cut]
        if reading.method.words:
            for i, sub_words in enumerate(states):
                words[i], sizes = np.unique(words[i], return_counts=True)
                states[i] = torch.stack([part.mean(0) for part in sub_words.split(sizes.tolist())])
        return states, [numbers.tolist() for numbers in words]


@dataclass(frozen=True)
class EncoderAligner:
    """Extracts links from an encoder's hidden states."""

    encoder: PairEncoder
    pieces: SubWords
    reading: LinkReading

    @classmethod
    def open(
        cls,
        folder: Path,
        method: Method | None = None,
        layer: int | None = None,
        device: str = "cpu",
    ) -> EncoderAligner:
        """Open a model and its tokenizer. By default, an encoder uses the method DEFAULT at two thirds of its
        depth, and a trained aligner uses TRAINED at the layer stored in its configuration."""
        config = read_config(folder)
        trained = getattr(config, ALIGNER_LAYER, None)
        if trained is not None and type(trained) is not int:
            raise BadInput(f"{ALIGNER_LAYER} is {str(trained)[:50]!r}, not a layer's number", folder / CONFIG)
        last: int = config.num_hidden_layers
        if layer is None:
            layer = trained or main_layer(last)
        if not 0 <= layer <= last:
            what = f"there is no layer {layer}: layers are numbered from 0 (the embeddings) to {last}"
            raise BadInput(what, folder)
        encoder, pieces = open_encoder(folder, device), SubWords(folder)
        if pieces.size > config.vocab_size:
            what = f"the tokenizer has {pieces.size:,} types, but the model has only {config.vocab_size:,}"
            raise BadInput(what, folder)
        reading = LinkReading(method or (TRAINED if trained else DEFAULT), layer)
        return cls(PairEncoder(encoder, pieces.before, pieces.after), pieces, reading)

    @property
    def left_out(self) -> LeftOut:
        return self.encoder.left_out

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        """Yield the sorted links of each pair, in order, with only a few pairs in memory at a time."""
        return (links for (links,) in self.encoder.links(self.pieces.of_pairs(pairs), [self.reading]))
