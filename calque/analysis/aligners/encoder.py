"""Encode sentences and sentence pairs, and extract links from any layer (SimAlign; XLM-Align, section 4.2).
Shapes: B rows or pairs, L ids in the longest row, n and m sub-words in the longest source and target side, H
hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calque.analysis.aligners.methods import DEFAULT, TRAINED, Method
from calque.analysis.records.record import MeasuredModel
from calque.derive.errors import BadInput
from calque.derive.readers.parallel import Link, Links, Pair
from calque.derive.vocabulary import TOKENIZER, open_tokenizer
from calque.pretrain.batch import Rows
from calque.pretrain.lazy import Tensor, inference_mode, nn, torch
from calque.pretrain.model import encode_each, has_languages, main_layer, row_length
from calque.pretrain.saved_model import ALIGNER_LAYER, WEIGHTS, has_head, load_model, read_config

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
        self.second_type: int = self._tokenizer.encode("a", "a").type_ids[-1]

    def __call__(self, words: Sequence[str]) -> list[list[int]]:
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


class LinkReading(NamedTuple):
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
    left_out: Counter[str] = field(default_factory=Counter)

    def links(self, pairs: Iterable[PairIds], readings: Sequence[LinkReading]) -> Iterator[list[Links]]:
        remaining, top = iter(pairs), max(reading.layer for reading in readings)
        while cut := [self._cut(pair) for pair in islice(remaining, WINDOW)]:
            linked: list[list[Links]] = [[[] for _ in readings] for _ in cut]
            for batch in batches([tuple(len(ids) for ids, _ in pair) for pair in cut]):
                sides = [side for i in batch for side in cut[i]]
                states = self._states(sides, top)
                for number, reading in enumerate(readings):
                    for i, links in zip(batch, self._links(sides, states, *reading), strict=True):
                        linked[i][number] = links
            yield from linked

    def _cut(self, pair: PairIds) -> list[Side]:
        """Truncate both sides to the ids that fit into a row, and count what is left out."""
        sides, counts = list[Side](), Counter({"sentence pairs with an empty side": int(not all(pair))})
        beyond = f"words beyond the {row_length(self.encoder.config):,} ids that the model takes"
        flat = [[i for word in side for i in word] for side in pair]
        for side, ids, size in zip(pair, flat, self._sizes(list(map(len, flat))), strict=True):
            words = np.repeat(np.arange(len(side)), list(map(len, side)))
            counts["words that the tokenizer drops"] += sum(not word for word in side)
            counts[beyond] += len(np.setdiff1d(words[size:], words[:size]))
            sides.append((ids[:size], words[:size]))
        self.left_out.update(+counts)
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

    def _states(self, sides: Sequence[Side], top: int) -> list[list[Tensor]]:
        """Return each side's states, (ids, H), after every layer up to `top`; both sides of a pair are
        neighbours."""
        rows, types, spans = list[list[int]](), list[list[int]](), list[tuple[int, slice]]()
        for number, (ids, _) in enumerate(sides):
            kind = self.types[number % 2]
            if number % 2 == 0 or not self.joint:
                rows.append([*self.before])
                types.append([kind] * len(self.before))
            start = len(rows[-1])
            spans.append((len(rows) - 1, slice(start, start + len(ids))))
            rows[-1] += [*ids, *self.after]
            types[-1] += [kind] * (len(ids) + len(self.after))
        by_row: list[list[Tensor]] = [[] for _ in rows]
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        for first in range(0, len(order), ROWS):
            chosen = order[first : first + ROWS]
            columns = [rows[row] for row in chosen], [types[row] for row in chosen]
            layers = layer_states(self.encoder, *columns, top)
            for i, row in enumerate(chosen):
                by_row[row] = [hidden[i] for hidden in layers]
        return [[hidden[span] for hidden in by_row[row]] for row, span in spans]

    def _links(
        self, sides: Sequence[Side], states: Sequence[Sequence[Tensor]], method: Method, layer: int
    ) -> list[Links]:
        words, vectors = [words for _, words in sides], [layers[layer] for layers in states]
        if method.words:
            for i, sub_words in enumerate(vectors):
                words[i], sizes = np.unique(words[i], return_counts=True)
                vectors[i] = torch.stack([part.mean(0) for part in sub_words.split(sizes.tolist())])
        padded = [nn.utils.rnn.pad_sequence(vectors[side::2], batch_first=True) for side in (0, 1)]
        if not all(side.isfinite().all() for side in padded):
            fault = f"the states after layer {layer} are not finite"
            raise BadInput(fault, self.encoder.name_or_path)
        masks = []
        for side, tensor in enumerate(padded):
            lengths = torch.tensor(list(map(len, vectors[side::2])), device=tensor.device)
            masks.append(torch.arange(tensor.shape[1], device=tensor.device) < lengths[:, None])
        linked: list[set[Link]] = [set() for _ in range(len(sides) // 2)]
        if method.also:
            linked = list(map(set, self._links(sides, states, method.also, layer)))
        for pair, i, j in method.extract(method.score(*padded, *masks), *masks).tolist():
            linked[pair].add((int(words[2 * pair][i]), int(words[2 * pair + 1][j])))
        return list(map(sorted, linked))


@dataclass(frozen=True)
class EncoderAligner:
    encoder: PairEncoder
    pieces: SubWords
    reading: LinkReading

    @classmethod
    def open(cls, folder: Path, method: Method | None = None, layer: int | None = None) -> EncoderAligner:
        """Open a model and its tokenizer. By default, an encoder uses the method DEFAULT at two thirds of its
        depth, and a trained aligner uses TRAINED at the layer stored in its configuration."""
        config = read_config(folder)
        trained, last = getattr(config, ALIGNER_LAYER, None), config.num_hidden_layers
        if layer is None:
            layer = trained or main_layer(last)
        if layer not in range(last + 1):
            what = f"there is no layer {layer}: layers are numbered from 0 (the embeddings) to {last}"
            raise BadInput(what, folder)
        encoder, pieces = open_encoder(folder), SubWords(folder)
        if pieces.size > config.vocab_size:
            what = f"the tokenizer has {pieces.size:,} types, but the model has only {config.vocab_size:,}"
            raise BadInput(what, folder)
        reading = LinkReading(method or (TRAINED if trained else DEFAULT), layer)
        return cls(PairEncoder(encoder, pieces.before, pieces.after), pieces, reading)

    @property
    def left_out(self) -> Counter[str]:
        return self.encoder.left_out

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        """Yield the sorted links of each pair, in order, with only a few pairs in memory at a time."""
        return (links for (links,) in self.encoder.links(self.pieces.of_pairs(pairs), [self.reading]))
