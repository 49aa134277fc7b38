"""Hidden states of sentences and sentence pairs, and word aligners that extract links from them (SimAlign;
XLM-Align, sections 3.1 and 4.2). Shapes: B rows or pairs, L ids in the longest row, n and m sub-words in the
longest source and target side, H hidden. Methods score pairs of sub-words, (B, n, m) with arbitrary values at
padding, given states (B, n, H) and (B, m, H) and masks (B, n) and (B, m), and select links, which are rows
(pair, source position, target position)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.readers.parallel import Link, Links, Pair
from calque.derive.vocabulary import Specials, Vocabulary, open_vocabulary
from calque.pretrain.batch import Rows
from calque.pretrain.lazy import F, Tensor, inference_mode, nn, torch
from calque.pretrain.model import encode_each, has_languages, main_layer, row_length
from calque.pretrain.objectives.linked_words import centred_words, probabilities
from calque.pretrain.saved_model import ALIGNER_LAYER, WEIGHTS, has_head, load_model, read_config
from calque.pretrain.transport import EPSILON, ITERATIONS, argmax, itermax, sinkhorn, untied

ROWS, IDS = 128, 1 << 14  # maximum number of rows, and of ids with padding, per batch; affects only rounding
Ids = Sequence[int] | np.ndarray
SAFE = 40.0  # largest range of log K for which all scalings of K can be represented in float32
LEAST = 0.4  # minimum link probability; the best threshold is half the highest F1 (Lipton et al. 2014)
Score = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""Scores pairs of sub-words, given both sides' states and masks."""


def cosines(source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Cosines of states, mapped to the range from 0 to 1 by (1 + cosine) / 2 (SimAlign, section 2.1)."""
    source_units, target_units = (F.normalize(side, dim=2, eps=1e-12) for side in (source, target))
    table = torch.bmm(source_units, target_units.mT)
    return table.add_(1).div_(2).clamp_(min=0)  # rounding may give small negative values


def centred(source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """`cosines` after subtracting the mean state over both sentences' sub-words."""
    sides = (source, row_mask), (target, col_mask)
    source_sum, target_sum = (side.masked_fill(~mask[:, :, None], 0).sum(1) for side, mask in sides)
    mean = (source_sum + target_sum)[:, None] / (row_mask.sum(1) + col_mask.sum(1))[:, None, None]
    return cosines(source - mean, target - mean, row_mask, col_mask)


@dataclass(frozen=True)
class Transport:
    """Optimal transport with K = max(eps, dot product) by Sinkhorn's algorithm (XLM-Align, section 3.1)."""

    iterations: float = ITERATIONS

    def __call__(self, source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        table = torch.bmm(source, target.mT)
        return untied(self.plan(table, row_mask, col_mask), table, row_mask, col_mask)

    def plan(self, table: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        padding = ~(row_mask[:, :, None] & col_mask[:, None])
        kernel = table.clamp(min=EPSILON).masked_fill_(padding, 0.0)
        if float((kernel.amax() / EPSILON).log()) > SAFE:
            return sinkhorn(table, row_mask, col_mask, self.iterations)
        no_row, no_column = (~row_mask)[:, None].to(kernel.dtype), (~col_mask)[:, None].to(kernel.dtype)
        row, column = torch.ones_like(no_row), torch.ones_like(no_column)
        for turn in range(round(2 * self.iterations)):
            if turn % 2 == 0:
                column = torch.bmm(row, kernel).add_(no_column).reciprocal_()
            else:
                row = torch.bmm(column, kernel.mT).add_(no_row).reciprocal_()
        return kernel.mul_(row.mT).mul_(column)


def link_probabilities(source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """A trained aligner's link probabilities."""
    cosines = torch.bmm(centred_words(source, row_mask), centred_words(target, col_mask).mT)
    return probabilities(cosines, row_mask, col_mask)


def likely(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Return the links whose score is at least LEAST, (n, 3): pair, row, column."""
    return ((scores >= LEAST) & row_mask[:, :, None] & col_mask[:, None]).nonzero()


@dataclass(frozen=True)
class Method:
    """Scores pairs of sub-words, or of `words` by mean states, and extracts links; adds `also`'s links."""

    name: str
    score: Score
    extract: Callable[[Tensor, Tensor, Tensor], Tensor]
    words: bool = False
    also: Method | None = None


OT = Method("ot", Transport(), itermax)
"""Optimal transport filtered by Itermax, as in XLM-Align's self-labelling (sections 3.1 and 3.2)."""
RELEASED = Method("xlm-align", Transport(iterations=1.5), argmax)
"""The aligner in XLM-Align's released code: the mutual argmax before the last row scaling, which does not
change a row's argmax."""
DEFAULT = Method("argmax-centred", centred, argmax)
"""The method with the lowest AER on en-fr among 19 that we tried with version 0.6."""
METHODS = OT, RELEASED, Method("argmax", cosines, argmax), Method("itermax", cosines, itermax), DEFAULT
"""The methods that studies compare (XLM-Align, section 4.3; SimAlign)."""
SOFTMAX = Method("softmax", link_probabilities, likely, words=True)
"""Selects the links that a trained aligner considers likely. In text unlike its training text, such links are
few."""
TRAINED = replace(SOFTMAX, name="softmax-argmax", also=DEFAULT)
"""The default for trained aligners. DEFAULT finds links even if all similarities are low, and adding
SOFTMAX's links raises F1 if more than F1/2 of them are correct (Lipton et al. 2014)."""
BY_NAME = {choice.name: choice for choice in (*METHODS, SOFTMAX, TRAINED)}


def open_encoder(folder: Path, device: str = "cpu", with_head: bool = False) -> Any:
    """Load an encoder in evaluation mode. Raises BadInput if a prediction head is needed but missing."""
    if with_head and not has_head(folder):
        raise BadInput("the model has no prediction head", folder / WEIGHTS)
    encoder: Any = load_model(folder, with_head)[0]
    return encoder.eval().to(device)


def batches(sizes: Sequence[tuple[int, ...]], most: int, ids: int) -> Iterator[list[int]]:
    """Yield the indices of batches of up to `most` items of similar sizes and, with padding, `ids` ids."""
    batch, widest = list[int](), tuple[int, ...]()
    for i in sorted(range(len(sizes)), key=lambda i: (sum(sizes[i]), sizes[i])):
        wider = tuple(map(max, sizes[i], widest or sizes[i]))
        if batch and (len(batch) == most or (len(batch) + 1) * sum(wider) > ids):
            yield batch
            batch, wider = [], sizes[i]
        batch.append(i)
        widest = wider
    if batch:
        yield batch


@inference_mode
def states(
    model: Any, rows: Sequence[Ids], types: int | Sequence[Ids] = 0, top: int | None = None, most: int = 0
) -> Iterator[tuple[list[int], list[Tensor]]]:
    """Yield batches of row indices with their rows' states (B, L, H) after the embeddings and after each
    layer up to `top` (default: all). Values at padding are arbitrary. `types` are the rows' token types, or
    the number of their language, which only models with language embeddings use. `most` limits B."""
    if isinstance(types, int):
        types = [[types * has_languages(model.config.type_vocab_size)] * len(row) for row in rows]
    for batch in batches([(len(row),) for row in rows], most or ROWS, IDS):
        ids, kinds = (
            nn.utils.rnn.pad_sequence([torch.tensor(side[i]) for i in batch], True, filler).to(model.device)
            for side, filler in ((rows, model.config.pad_token_id), (types, 0))
        )
        lengths = torch.tensor([[len(rows[i])] for i in batch], device=ids.device)
        places = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
        # Padding is known by its place, because some published models give `pad_token_id` another meaning.
        places = places.masked_fill(places >= lengths, -1)
        layers = encode_each(model, Rows(ids, ids, kinds, bool((places < 0).any()), places, kinds))
        yield batch, list(islice(layers, None if top is None else top + 1))


def states_by_row(model: Any, rows: Sequence[Ids], language: int) -> Iterator[tuple[int, Tensor]]:
    """Yield each row's index and its states (layers, ids, H), in order of length; otherwise as `states`."""
    for batch, hidden in states(model, rows, language):
        for number, i in enumerate(batch):
            yield i, torch.stack([layer[number, : len(rows[i])] for layer in hidden])


def sentence_means(model: Any, rows: Sequence[Ids], language: int = 0) -> Tensor:
    """Average each row's states at every layer, (layers, rows, H), without the special ids at both ends."""
    order, means = list[int](), list[Tensor]()
    for batch, hidden in states(model, rows, language):
        sizes = torch.tensor([[len(rows[i]) - 2] for i in batch], device=model.device)
        place = torch.arange(hidden[0].shape[1], device=model.device) - 1
        inside = ((place >= 0) & (place < sizes))[:, :, None]
        means.append(torch.stack([layer.masked_fill(~inside, 0.0).sum(1) / sizes for layer in hidden]))
        order += batch
    return torch.cat(means, dim=1)[:, torch.tensor(order).argsort().to(model.device)]


SideIds = tuple[np.ndarray, np.ndarray]  # a sentence's ids (T,), and each word's number of ids (W,)
PairIds = tuple[SideIds, SideIds]
WINDOW = 1024  # number of pairs that are sorted by length at a time
PAIR_ROWS, PAIR_IDS = 32, 6144  # as ROWS and IDS: rows encoded at a time, and ids in a batch of pairs


def encoded_pairs(vocabulary: Vocabulary, pairs: Iterable[Pair]) -> Iterator[PairIds]:
    """Encode each word of sentence pairs; words that the tokenizer drops become the unknown type."""
    return ((vocabulary.encode_words(source), vocabulary.encode_words(target)) for source, target in pairs)


class LinkReading(NamedTuple):
    method: Method
    layer: int


class Truncated(NamedTuple):
    """The ids of a sentence that fit into a row, and the index of each id's word, (T,) each."""

    ids: np.ndarray
    words: np.ndarray


@dataclass(frozen=True)
class PairEncoder:
    """Encodes each sentence pair once, and extracts links by any number of `LinkReading`s. With `joint`, a
    pair is a single row, `<s> S </s> T </s>`. `types` are the token types of both sides."""

    encoder: Any
    specials: Specials
    types: tuple[int, int] = (0, 0)
    joint: bool = False
    left_out: Counter[str] = field(default_factory=Counter)

    def links(self, pairs: Iterable[PairIds], readings: Sequence[LinkReading]) -> Iterator[list[Links]]:
        """Yield each pair's sorted links by each reading."""
        remaining, top = iter(pairs), max(reading.layer for reading in readings)
        while window := [self._truncated(pair) for pair in islice(remaining, WINDOW)]:
            linked: list[list[Links]] = [[[] for _ in readings] for _ in window]
            complete = [i for i, sides in enumerate(window) if all(len(side.ids) for side in sides)]
            sizes = [tuple(len(side.ids) for side in window[i]) for i in complete]
            for places in batches(sizes, WINDOW, PAIR_IDS):
                batch = [complete[place] for place in places]
                sides = [side for i in batch for side in window[i]]
                states = self._states(sides, top)
                for number, (method, layer) in enumerate(readings):
                    vectors = [layers[layer] for layers in states]
                    if not all(side.isfinite().all() for side in vectors):
                        fault = f"the states after layer {layer} are not finite"
                        raise BadInput(fault, self.encoder.name_or_path)
                    links = links_of([side.words for side in sides], vectors, method)
                    for i, found in zip(batch, links, strict=True):
                        linked[i][number] = sorted(found)
            yield from linked

    def _truncated(self, pair: PairIds) -> list[Truncated]:
        """Truncate both sides to the ids that fit into a row, in a joint row the longer side first."""
        length, (n, m) = row_length(self.encoder.config), (len(ids) for ids, _ in pair)
        if not (n and m):
            self.left_out["sentence pairs with an empty side"] += 1
        sizes = length - 2, length - 2
        if self.joint and n + m > (room := length - 3):
            least = min(n, m, room // 2)
            sizes = (least, room - least) if n <= m else (room - least, least)
        sides = list[Truncated]()
        for (ids, pieces), size in zip(pair, sizes, strict=True):
            words = np.repeat(np.arange(len(pieces)), pieces)
            if beyond := len(np.setdiff1d(words[size:], words[:size])):
                self.left_out[f"words beyond the {length:,} ids that the model takes"] += beyond
            sides.append(Truncated(ids[:size], words[:size]))
        return sides

    def _states(self, sides: Sequence[Truncated], top: int) -> list[list[Tensor]]:
        """Return the states (ids, H) of each side at each layer; the sides of a pair are neighbours."""
        rows, types, spans = list[list[int]](), list[list[int]](), list[tuple[int, slice]]()
        for number, side in enumerate(sides):
            kind, second = self.types[number % 2], self.joint and number % 2
            if not second:
                rows.append([self.specials.start])
                types.append([kind])
            first = len(rows[-1])
            spans.append((len(rows) - 1, slice(first, first + len(side.ids))))
            rows[-1] += [*side.ids.tolist(), self.specials.end]
            types[-1] += [kind] * (len(side.ids) + 1)
        by_row = dict[int, list[Tensor]]()  # views, because copies of all layers would take much memory
        for batch, layers in states(self.encoder, rows, types, top, PAIR_ROWS):
            by_row |= {row: [layer[n] for layer in layers] for n, row in enumerate(batch)}
        return [[layer[span] for layer in by_row[row]] for row, span in spans]


def links_of(words: Sequence[np.ndarray], vectors: Sequence[Tensor], method: Method) -> list[set[Link]]:
    """Return each pair's links, given each sub-word's word and state (ids, H), of alternating sides."""
    linked: list[set[Link]] = [set() for _ in words[::2]]
    if method.also:
        linked = links_of(words, vectors, method.also)
    if method.words:
        sizes = [np.bincount(side) for side in words]
        parts = zip(vectors, sizes, strict=True)
        vectors = [torch.stack([p.mean(0) for p in side.split(counts.tolist())]) for side, counts in parts]
        words = [np.arange(len(counts)) for counts in sizes]
    padded = [nn.utils.rnn.pad_sequence(list(vectors[side::2]), True) for side in (0, 1)]
    masks = []
    for side, tensor in enumerate(padded):
        lengths = torch.tensor([[len(vector)] for vector in vectors[side::2]], device=tensor.device)
        masks.append(torch.arange(tensor.shape[1], device=tensor.device) < lengths)
    for pair, i, j in method.extract(method.score(*padded, *masks), *masks).tolist():
        linked[pair].add((int(words[2 * pair][i]), int(words[2 * pair + 1][j])))
    return linked


@dataclass(frozen=True)
class EncoderAligner:
    """An encoder with its vocabulary, and the method and layer with which it aligns words."""

    encoder: PairEncoder
    vocabulary: Vocabulary
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
        encoder, vocabulary = open_encoder(folder), open_vocabulary(folder)
        if vocabulary.size > config.vocab_size:
            types = f"{vocabulary.size:,} types, but the model has only {config.vocab_size:,}"
            raise BadInput(f"the tokenizer has {types}", folder)
        reading = LinkReading(method or (TRAINED if trained else DEFAULT), layer)
        return cls(PairEncoder(encoder, vocabulary.specials), vocabulary, reading)

    @property
    def left_out(self) -> Counter[str]:
        return self.encoder.left_out

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        """Yield the sorted links of each pair, in order, with only a few pairs in memory at a time."""
        readings = [self.reading]
        return (links for (links,) in self.encoder.links(encoded_pairs(self.vocabulary, pairs), readings))
