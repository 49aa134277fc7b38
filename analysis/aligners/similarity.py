"""Alignment by an encoder's hidden states, no parallel text needed (SimAlign; XLM-Align, section 4.2).

Shapes: B sentence pairs, n and m sub-words of their longest sides, L links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from analysis.aligners.encoder import Encoder
from analysis.aligners.extract import Method
from analysis.aligners.subwords import Pieces, SubWords
from derive.errors import BadInput
from derive.links.aligner import Aligner, LeftOut, Links, Pair

WINDOW = 2048
"""Pairs that are held at a time, and sorted by length."""
CELLS = 6144
"""Ids in a batch, with padding."""
Scored = dict[tuple[int, int], float]


@dataclass(frozen=True)
class Side:
    """One side of sentence pairs: how its words become ids, and which token type they have where the model has any."""

    pieces: Callable[[Sequence[str]], Pieces]
    token_type: int = 0


@dataclass(frozen=True)
class _Cut:
    """A side as far as it is shown: the ids, and the word that each belongs to."""

    ids: list[int]
    word: np.ndarray


class EncoderAligner(Aligner):
    """Links by how alike the hidden states of sub-words are; words are linked if any of their sub-words are.

    `joint` encodes a pair as one row, `<s> S </s> T </s>` as in XLM-Align's pretraining; else each side is a row.
    A word that the tokenizer maps to nothing has no link, nor has what does not fit into the model; `left_out` counts
    them. The same pairs in the same order have the same links to the last bit. Among other pairs a pair's sums are
    rounded otherwise, so that scores differ in their last digits, and links only where two scores do not.
    """

    def __init__(
        self,
        encoder: Encoder,
        method: Method,
        source: Side,
        target: Side,
        around: tuple[Sequence[int], Sequence[int]],
        joint: bool = False,
    ) -> None:
        """`around` are the special ids before and after a sentence, as `SubWords` knows them."""
        self.encoder, self.method, self.sides, self.joint = encoder, method, (source, target), joint
        self.before, self.after = map(list, around)
        marks = len(self.before) + len(self.after) * (2 if joint else 1)
        self._room = encoder.length - marks
        self.left_out = LeftOut()

    @classmethod
    def open(
        cls, folder: Path, method: Method, layer: int, *, joint: bool = False, device: str = "cpu"
    ) -> EncoderAligner:
        """A model with the tokenizer that lies beside it; in a joint row the target has the second token type, if any.

        Raises:
            BadInput: either is missing or damaged, they do not fit each other, or the model has no such layer.
        """
        encoder, pieces = Encoder(folder, layer, device), SubWords(folder)
        if pieces.size > encoder.types:
            raise BadInput(f"a tokenizer of {pieces.size:,} types for a model of {encoder.types:,}", folder)
        second = int(joint and encoder.token_types > 1)
        return cls(encoder, method, Side(pieces), Side(pieces, second), (pieces.before, pieces.after), joint)

    @property
    def name(self) -> str:
        return f"{self.method.name}, layer {self.encoder.layer}{', joint' * self.joint}"

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        return map(list, self.align_scored(pairs))

    def align_scored(self, pairs: Iterable[Pair]) -> Iterator[Scored]:
        """Links as in `align`, each with the largest score of the sub-word links that it comes from."""
        source, target = self.sides
        return self.align_pieces((source.pieces(s), target.pieces(t)) for s, t in pairs)

    def align_pieces(self, pairs: Iterable[tuple[Pieces, Pieces]]) -> Iterator[Scored]:
        """As `align_scored`, of sentence pairs that are ids already."""
        numbered = enumerate(pairs, start=1)
        while window := list(islice(numbered, WINDOW)):
            cut = [self._cut(pair, line, self.left_out) for line, pair in window]
            found: list[Scored] = [{} for _ in cut]
            for batch in _batches(cut):
                for i, links in zip(batch, self._links([cut[i] for i in batch]), strict=True):
                    found[i] = links
            yield from found

    def matrix(self, pair: Pair) -> np.ndarray:
        """The scores between the words of one pair, the largest of their sub-words', NaN where there are none."""
        pieces = tuple(side.pieces(words) for side, words in zip(self.sides, pair, strict=True))
        cut = self._cut(pieces, 1, LeftOut())
        table = np.full((len(pair[0]), len(pair[1])), np.nan)
        if all(len(side.ids) for side in cut):
            scores, _, _ = self._scores([cut])
            np.fmax.at(table, (cut[0].word[:, None], cut[1].word[None]), scores[0].cpu().numpy())
        return table

    def _cut(self, pair: tuple[Pieces, ...], line: int, left_out: LeftOut) -> tuple[_Cut, _Cut]:
        """Both sides as far as they fit; of a joint pair, the longer side gives up its end first."""
        flat = [[i for word in side for i in word] for side in pair]
        sizes = [len(side) for side in flat]
        if not self.joint:
            keep = [min(size, self._room) for size in sizes]
        elif sum(sizes) > self._room:
            least = min(min(sizes), self._room // 2)
            keep = [least, self._room - least] if sizes[0] <= sizes[1] else [self._room - least, least]
        else:
            keep = sizes
        if not all(pair):
            left_out.add("sentence pairs with an empty side", line)
        made = []
        for side, ids, kept in zip(pair, flat, keep, strict=True):
            words = np.repeat(np.arange(len(side)), [len(word) for word in side])
            empty = sum(not word for word in side)
            if empty:
                left_out.add("words that the tokenizer maps to nothing", line, empty)
            if kept < len(ids):
                beyond = len(np.setdiff1d(words[kept:], words[:kept]))
                left_out.add(f"words beyond the {self.encoder.length:,} ids that the model takes", line, beyond)
            made.append(_Cut(ids[:kept], words[:kept]))
        return made[0], made[1]

    def _links(self, pairs: list[tuple[_Cut, _Cut]]) -> list[Scored]:
        scores, row_mask, col_mask = self._scores(pairs)
        links = self.method.extract(scores, row_mask, col_mask)
        values = scores[links.unbind(1)].tolist()
        found: list[Scored] = [{} for _ in pairs]
        words = [[side.word.tolist() for side in pair] for pair in pairs]
        for (pair, i, j), value in zip(links.tolist(), values, strict=True):
            link = words[pair][0][i], words[pair][1][j]
            found[pair][link] = max(value, found[pair].get(link, value))
        return [dict(sorted(one.items())) for one in found]

    def _scores(self, pairs: list[tuple[_Cut, _Cut]]) -> tuple[Tensor, Tensor, Tensor]:
        """Scores of sub-words (B, n, m), and where there are any, (B, n) and (B, m)."""
        columns = [[side.ids for side in column] for column in zip(*pairs, strict=True)]
        lengths = [torch.tensor([len(ids) for ids in column]) for column in columns]
        masks = [torch.arange(int(sizes.max())) < sizes[:, None] for sizes in lengths]
        head, tail, device = len(self.before), len(self.after), self.encoder.device
        if self.joint:
            hidden = self._encode(
                [
                    [(0, self.before), (0, s), (0, self.after), (1, t), (1, self.after)]
                    for s, t in zip(*columns, strict=True)
                ]
            )
            begins = (torch.full_like(lengths[0], head), head + lengths[0] + tail)
            places = [
                (begin[:, None] + torch.arange(mask.shape[1])).clamp_(max=hidden.shape[1] - 1).to(device)
                for begin, mask in zip(begins, masks, strict=True)
            ]
            states = [hidden.gather(1, at[:, :, None].expand(-1, -1, hidden.shape[2])) for at in places]
        else:
            states = [
                self._encode([[(side, self.before), (side, ids), (side, self.after)] for ids in column])
                for side, column in enumerate(columns)
            ]
            states = [hidden[:, head : head + mask.shape[1]] for hidden, mask in zip(states, masks, strict=True)]
        row_mask, col_mask = (mask.to(device) for mask in masks)
        return self.method.score(states[0], states[1], row_mask, col_mask), row_mask, col_mask

    def _encode(self, rows: list[list[tuple[int, list[int]]]]) -> Tensor:
        """Hidden states of rows that are made of stretches of ids, each of one of the two sides."""
        kinds = [side.token_type for side in self.sides]
        ids = [list(chain.from_iterable(stretch for _, stretch in row)) for row in rows]
        if not any(kinds):
            return self.encoder(ids)
        return self.encoder(ids, [[kinds[side] for side, stretch in row for _ in stretch] for row in rows])


def _batches(pairs: list[tuple[_Cut, _Cut]]) -> Iterator[list[int]]:
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
