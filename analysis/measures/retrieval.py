"""Sentence retrieval: whether the sentence of another language that is nearest to a sentence is its translation.

Shapes: N sentences and as many translations, L layers with the embeddings, H hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from analysis.aligners.encoder import Encoder
from analysis.aligners.subwords import SubWords
from derive.errors import BadInput
from derive.links.aligner import LeftOut

NEIGHBOURS = 10
"""Of a sentence, by which CSLS judges how crowded its place is."""
IDS = 6144
"""Ids in a batch, with padding."""


@dataclass(frozen=True)
class Retrieval:
    """Which sentences found their translations, (N,) bool each: of the first language the second's, and back."""

    first: str
    second: str
    metric: str
    layer: int
    forward: np.ndarray
    back: np.ndarray


def cosine(source: Tensor, target: Tensor) -> Tensor:
    """Cosines of all pairs of rows of (N, H) and (N, H), (N, N)."""
    return F.normalize(source, dim=1) @ F.normalize(target, dim=1).T


def csls(source: Tensor, target: Tensor) -> Tensor:
    """2 cos(x, y) - r(x) - r(y), (N, N): r is the mean cosine with the nearest neighbours in the other language.

    It takes from sentences that are near to all others what makes them everybody's nearest (Conneau et al. 2018,
    section 2.3, with their ten neighbours).
    """
    cosines = cosine(source, target)
    near = min(NEIGHBOURS, len(cosines))
    rows, columns = (cosines.topk(near, dim=dim).values.mean(dim) for dim in (1, 0))
    return 2 * cosines - rows[:, None] - columns[None]


MEASURES: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {"cosine": cosine, "csls": csls}


def found(scores: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """For each i whether cell (i, i) is larger than all others of its row, and of its column, (N,) bool each.

    A tie is no find: where all sentences look alike, none is found.
    """
    own, others = scores.diagonal(), scores.clone().fill_diagonal_(-torch.inf)
    return (own > others.amax(1)).cpu().numpy(), (own > others.amax(0)).cpu().numpy()


def retrievals(vectors: Mapping[str, Tensor], layers: Sequence[int] | None = None) -> Iterator[Retrieval]:
    """Every pair of languages at every layer by every measure; `vectors` has (L, N, H) for each language.

    `layers` are those that are asked for; without them, all.

    Raises:
        ValueError: languages of different numbers of sentences.
    """
    if len({rows.shape[1] for rows in vectors.values()}) > 1:
        raise ValueError(f"sentences that are no translations: { ({k: v.shape[1] for k, v in vectors.items()}) }")
    for first, second in combinations(vectors, 2):
        for layer in range(len(vectors[first])) if layers is None else layers:
            for name, measure in MEASURES.items():
                forward, back = found(measure(vectors[first][layer], vectors[second][layer]))
                yield Retrieval(first, second, name, layer, forward, back)


def sentence_vectors(
    encoder: Encoder, pieces: SubWords, sentences: Sequence[Sequence[str]], left_out: LeftOut
) -> Tensor:
    """What each layer says of each sentence, (L, N, H): the mean of its sub-words' states, special ids left out.

    Sentences are words. What of a sentence does not fit into the model is left out and counted.

    Raises:
        BadInput: a sentence of which the tokenizer leaves nothing.
    """
    room = min(encoder.length, pieces.longest or encoder.length) - len(pieces.before) - len(pieces.after)
    rows = [[i for word in pieces(sentence) for i in word] for sentence in sentences]
    for line, ids in enumerate(rows, start=1):
        if not ids:
            raise BadInput(f"sentence {line:,} has no sub-words: there is nothing to compare", encoder.folder)
        if len(ids) > room:
            left_out.add(f"sub-words beyond the {encoder.length:,} ids that the model takes", line, len(ids) - room)
    rows = [ids[:room] for ids in rows]
    made: Tensor | None = None
    for batch in _batches([len(ids) for ids in rows]):
        states = encoder([[*pieces.before, *rows[i], *pieces.after] for i in batch])
        lengths = torch.tensor([len(rows[i]) for i in batch], device=states[0].device)
        first = len(pieces.before)
        real = torch.arange(states[0].shape[1] - first, device=lengths.device) < lengths[:, None]
        means = torch.stack([_mean(hidden[:, first:], real) for hidden in states])
        if made is None:
            made = means.new_empty(len(states), len(rows), means.shape[2])
        made[:, torch.tensor(batch)] = means
    assert made is not None  # there is a sentence, for languages without one are refused where they are read
    return made


def _mean(hidden: Tensor, real: Tensor) -> Tensor:
    """The mean of the states (B, n, H) that are `real` (B, n), (B, H); padding may hold anything."""
    return hidden.masked_fill(~real[:, :, None], 0.0).sum(1) / real.sum(1, keepdim=True)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of rows of like lengths; IDS bounds the padded ids of a batch."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and (len(batch) + 1) * lengths[i] > IDS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
