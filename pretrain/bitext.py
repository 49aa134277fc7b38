"""Sentence pairs, one a row. Shapes: B pairs, L ids a row, W ids a side at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from derive.errors import BadInput
from derive.languages import Languages
from pretrain.batch import Rows, moved
from pretrain.groups import Groups, line_lengths
from pretrain.mask import Masking
from pretrain.order import Part

MARKS = 3
"""`<s>` and two `</s>` in the row of a pair."""


@dataclass(frozen=True)
class PairRows:
    """Sentence pairs, one a row: `<s>` first side `</s>` second side `</s>`, padding.

    `clean` (B, L) are the ids before `rows` were masked; `sides` (B, 2) says how many ids each side has. `gold` (B, W)
    is which id of the second side each of the first is aligned to, counted from 0, by gold links or by estimated ones,
    and -1 where there is none or, in a translation without links, where nobody knows. `dice` (B, L) are uniform
    numbers, for whoever draws positions.
    """

    rows: Rows
    clean: Tensor
    sides: Tensor
    gold: Tensor
    dice: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, i: int, n: int) -> PairRows:
        """Piece `i` of `n` nearly equal ones, in order."""
        here = slice(len(self) * i // n, len(self) * (i + 1) // n)
        return PairRows(self.rows.part(i, n), *(x[here] for x in (self.clean, self.sides, self.gold, self.dice)))

    def by_length(self, pieces: int) -> list[PairRows]:
        """The same pairs, the shorter first, in up to so many pieces of about as many ids, each as wide as it needs."""
        lengths, order = self.sides.sum(1).sort(stable=True)
        ends = lengths.cumsum(0)
        piece = ((ends - lengths) * pieces // ends[-1]).tolist()
        starts = [place for place, number in enumerate(piece) if not place or number > piece[place - 1]]
        return [self._narrow(order[a:b]) for a, b in pairwise([*starts, len(piece)])]

    def _narrow(self, pairs: Tensor) -> PairRows:
        """Some of the pairs, without the columns in which they have nothing but padding."""
        sides = self.sides[pairs]
        width, side = int(sides.sum(1).max()) + MARKS, int(sides.max())
        ids, labels, languages, clean, dice = (
            x[pairs, :width] for x in (self.rows.ids, self.rows.labels, self.rows.languages, self.clean, self.dice)
        )
        rows = Rows(ids, labels, languages, padded=True)
        return PairRows(rows, clean, sides, self.gold[pairs, :side], dice)

    def to(self, device: torch.device) -> PairRows:
        """The same pairs on a device."""
        return PairRows(
            self.rows.to(device), *(moved(x, device) for x in (self.clean, self.sides, self.gold, self.dice))
        )

    def places(self, side: int) -> tuple[Tensor, Tensor]:
        """Where the ids of a side (0 or 1) stand in their rows, (B, W), and which of them are real; the rest are 0."""
        offsets = torch.arange(self.gold.shape[1], device=self.sides.device)
        real = offsets < self.sides[:, side, None]
        first = self.sides[:, :1] * side + 1 + side  # after `<s>`, or after `<s>`, the first side and its `</s>`
        return (first + offsets).masked_fill(~real, 0), real


class ParallelLines:
    """Parallel lines of pairs of languages as rows, either language first by the toss of a coin.

    An instance is as many neighbouring pairs of two languages as a full row has ids for, so that a step shows as many
    ids as it would of packed rows; `parts` says how many each bitext has. `left_out` counts pairs that are longer than
    a row. `known` says whether the gold alignment of all of them is, and `estimated` whether all have estimated links
    in its place.

    Raises:
        BadInput: no pair of parallel lines fits.
    """

    def __init__(self, languages: Languages, length: int, fraction: float, seed: int, mask_rate: float) -> None:
        self.languages, self.bitexts = languages, languages.bitexts
        self.masking = Masking.of(languages, mask_rate)
        self.estimated = all(bitext.estimated is not None for bitext in self.bitexts)
        self.known = all(bitext.known and bitext.estimated is None for bitext in self.bitexts)
        self.groups = Groups()
        self.parts: dict[Part, int] = {}
        drawn = fitting = 0
        for bitext in self.bitexts:
            pairs = bitext.sample(fraction, seed)
            ids = line_lengths(bitext, pairs).sum(1) + MARKS
            fits = ids <= length
            self.parts[bitext.names] = self.groups.add(pairs[fits], ids[fits], length)
            drawn, fitting = drawn + len(pairs), fitting + int(fits.sum())
        self.left_out = drawn - fitting
        if not fitting:
            raise BadInput(f"none of {drawn:,} parallel sentences fits into {length:,} ids with its image")

    def __len__(self) -> int:
        return len(self.groups)

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> PairRows:
        """The pairs of some instances, masked afresh."""
        chosen = [self.groups[i] for i in instances]
        pairs = np.concatenate([pairs for _, pairs in chosen])
        of = np.repeat([number for number, _ in chosen], [len(pairs) for _, pairs in chosen])
        ids, languages, sides, gold = self.read(of, pairs, random.random(len(pairs)) < 0.5)
        rows = self.masking(ids, languages, random, padded=True)
        dice = random.random(ids.shape, np.float32)
        return PairRows(rows, *(torch.from_numpy(array) for array in (ids, sides, gold, dice)))

    def read(
        self, of: np.ndarray, pairs: np.ndarray, turned: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Sentence pairs number `pairs` of the bitexts `of`, the second side first where `turned`.

        Returns ids and language ids (B, L), how many ids each side has (B, 2), and the gold alignment (B, W): where in
        the second side each id of the first has its image, -1 where there is no id or none is known.
        """
        specials, rows = self.languages.specials, np.arange(len(pairs))
        sides, written = np.zeros((len(pairs), 2), np.int64), []
        for number in np.unique(of).tolist():
            bitext, here = self.bitexts[number], np.flatnonzero(of == number)
            for side, language in enumerate((bitext.first, bitext.second)):
                tokens, lengths = language.corpus.of_lines(bitext.lines.of(pairs[here], side))
                place = np.where(turned[here], 1 - side, side)
                sides[here, place] = lengths
                written.append((here, place, language.ids(tokens), language.number))
        ids = np.full((len(pairs), int(sides.sum(1).max()) + MARKS), specials.pad)
        languages, gold = np.full(ids.shape, self.languages.padding), np.full((len(pairs), int(sides.max())), -1)
        for here, place, tokens, number in written:
            lengths = sides[here, place]
            first = 1 + place * (sides[here, 0] + 1)  # after `<s>`, or after `<s>`, the first side and its `</s>`
            ids[_spans(here, first, lengths)] = tokens
            languages[_spans(here, first * place, lengths + 2 - place)] = number
        ids[:, 0] = specials.start
        ids[rows, sides[:, 0] + 1] = ids[rows, sides.sum(1) + 2] = specials.end
        for row in np.flatnonzero([self.bitexts[number].linked for number in of.tolist()]).tolist():
            offsets = self.bitexts[of[row]].targets(int(pairs[row]), bool(turned[row]))
            gold[row, : len(offsets)] = offsets
        return ids, languages, sides, gold


def _spans(rows: np.ndarray, first: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the places from column `first` on, as many as `lengths` says, row by row."""
    columns = np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    return np.repeat(rows, lengths), columns
