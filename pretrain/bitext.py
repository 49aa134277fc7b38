"""Sentence pairs, one a row. Shapes: B pairs, L ids a row, W ids a side at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from derive.errors import BadInput
from derive.types import END, PAD, START
from derive.vocabulary import gather
from pretrain.batch import Rows
from pretrain.data import DERIVED, PADDING, SOURCE, LanguagePair, fill
from pretrain.mask import mask

MARKS = 3
"""`<s>` and two `</s>` in the row of a pair."""


@dataclass(frozen=True)
class Bitext:
    """Sentence pairs, one a row: `<s>` first side `</s>` second side `</s>`, padding.

    `clean` (B, L) are the ids before `rows` were masked; `sides` (B, 2) says how many ids each side has. `gold` (B, W)
    is which id of the second side each of the first is aligned to, counted from 0, and -1 where there is none or, in a
    translation, where nobody knows. `dice` (B, L) are uniform numbers, for whoever draws positions.
    """

    rows: Rows
    clean: Tensor
    sides: Tensor
    gold: Tensor
    dice: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, i: int, n: int) -> Bitext:
        """Piece `i` of `n` nearly equal ones, in order."""
        here = slice(len(self) * i // n, len(self) * (i + 1) // n)
        return Bitext(self.rows.part(i, n), *(x[here] for x in (self.clean, self.sides, self.gold, self.dice)))

    def to(self, device: torch.device) -> Bitext:
        """The same pairs on a device."""
        return Bitext(self.rows.to(device), *(x.to(device) for x in (self.clean, self.sides, self.gold, self.dice)))

    def places(self, side: int) -> tuple[Tensor, Tensor]:
        """Where the ids of a side (0 or 1) stand in their rows, (B, W), and which of them are real; the rest are 0."""
        offsets = torch.arange(self.gold.shape[1], device=self.sides.device)
        real = offsets < self.sides[:, side, None]
        first = self.sides[:, :1] * side + 1 + side  # after `<s>`, or after `<s>`, the first side and its `</s>`
        return (first + offsets).masked_fill(~real, 0), real


class ParallelLines:
    """Parallel lines of a language pair as rows, either language first by the toss of a coin.

    An instance is as many neighbouring pairs as a full row has ids for, so that a step shows as many ids as it would of
    packed rows. `left_out` counts pairs that are longer than a row.

    Raises:
        BadInput: no pair of parallel lines fits.
    """

    def __init__(self, pair: LanguagePair, length: int, share: float, seed: int) -> None:
        self.pair = pair
        lines = pair.parallel(share, seed)
        ids = np.diff(pair.source.lines)[pair.derived.source_line[lines]] + np.diff(pair.derived.lines)[lines] + MARKS
        self.lines, ids = lines[ids <= length], ids[ids <= length]
        self.left_out = len(lines) - len(ids)
        if not len(ids):
            raise BadInput(f"none of {len(lines):,} parallel sentences fits into {length:,} ids with its image")
        self._groups = fill(ids, ids, length)

    def __len__(self) -> int:
        return len(self._groups)

    def draw(self, instances: Sequence[int], share: float, random: np.random.Generator) -> Bitext:
        """The pairs of some instances, `share` of their ids masked afresh."""
        lines = np.concatenate([self.lines[slice(*self._groups[i])] for i in instances])
        ids, languages, sides, gold = self.read(lines, random.random(len(lines)) < 0.5)
        rows = mask(ids, languages, self.pair.image, random, share, padded=True)
        dice = random.random(ids.shape, np.float32)
        return Bitext(rows, *(torch.from_numpy(array) for array in (ids, sides, gold, dice)))

    def read(self, lines: np.ndarray, turned: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Pairs of the derived corpus's `lines`, the derived side first where `turned`.

        Returns ids and language ids (B, L), how many ids each side has (B, 2), and the gold alignment (B, W): where in
        the second side each id of the first has its image, -1 where there is no id or none is known.
        """
        pairs = [self._pair(line, turn) for line, turn in zip(lines.tolist(), turned.tolist(), strict=True)]
        sides = np.array([(len(first), len(second)) for first, second, _ in pairs])
        ids = np.full((len(pairs), int(sides.sum(1).max()) + MARKS), PAD)
        languages, gold = np.full(ids.shape, PADDING), np.full((len(pairs), int(sides.max())), -1)
        for row, (first, second, offsets) in enumerate(pairs):
            whole = np.concatenate([[START], first, [END], second, [END]])
            ids[row, : len(whole)] = whole
            before, after = (DERIVED, SOURCE) if turned[row] else (SOURCE, DERIVED)
            languages[row, : len(whole)] = after
            languages[row, : len(first) + 2] = before
            gold[row, : len(offsets)] = offsets
        return ids, languages, sides, gold

    def _pair(self, line: int, turned: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ids of the first side and of the second, and the gold offset of each id of the first in the second."""
        source, derived = self.pair.source, self.pair.derived
        of = int(derived.source_line[line])
        if self.pair.translated:
            first, second = (derived[line], source[of]) if turned else (source[of], derived[line])
            return first, second, np.full(len(first), -1)
        pieces = source.pieces[source.words[of] : source.words[of + 1]]
        # A word's image has the images of its pieces in their order, so pieces are aligned as their words are.
        origin = gather(np.arange(pieces.sum()), pieces, derived.order(line))
        if turned:
            return derived[line], source[of], origin
        return source[of], derived[line], np.argsort(origin)
