"""Sentence pairs, one a row, and links between their sides. Shapes: B pairs, L ids a row, W ids a side at most."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional as F

from pretrain.batch import UNLABELLED, Rows, moved

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
        segments = None if self.rows.segments is None else self.rows.segments[pairs, :width]
        rows = Rows(ids, labels, languages, padded=True, segments=segments)
        return PairRows(rows, clean, sides, self.gold[pairs, :side], dice)

    def to(self, device: torch.device) -> PairRows:
        """The same pairs on a device."""
        return PairRows(
            self.rows.to(device), *(moved(x, device) for x in (self.clean, self.sides, self.gold, self.dice))
        )

    def side_rows(self, side: int, pad: int) -> Rows:
        """A side (0 or 1) of each pair alone, unmasked: `<s>` its ids `</s>`, and padding of the side's language."""
        return self._side_rows(side, pad, self.clean, torch.full_like(self.clean, UNLABELLED))

    def apart(self, pad: int) -> Rows:
        """Both sides of each pair as rows of their own, masked as `rows` are: the first ones, then the second."""
        first, second = (self._side_rows(side, pad, self.rows.ids, self.rows.labels) for side in (0, 1))
        width = max(rows.ids.shape[1] for rows in (first, second))

        def together(name: str, fill: int) -> Tensor:
            sides = (getattr(rows, name) for rows in (first, second))
            return torch.cat([F.pad(side, (0, width - side.shape[1]), value=fill) for side in sides])

        languages = [rows.languages[:, :1].expand(-1, width) for rows in (first, second)]
        return Rows(together("ids", pad), together("labels", UNLABELLED), torch.cat(languages), padded=True)

    def _side_rows(self, side: int, pad: int, ids: Tensor, labels: Tensor) -> Rows:
        at, real = self.places(side)
        width = int(self.sides[:, side].max())
        own = ids.gather(1, at).masked_fill(~real, pad)[:, :width]
        asked = labels.gather(1, at).masked_fill(~real, UNLABELLED)[:, :width]
        start = self.clean[:, :1]
        own = F.pad(torch.cat([start, own], 1), (0, 1), value=pad)
        end = self.clean.gather(1, self.sides[:, :1] + 1)  # the first side's `</s>`
        own = own.scatter(1, self.sides[:, side, None] + 1, end)
        languages = self.rows.languages.gather(1, at[:, :1]).expand_as(own)
        return Rows(own, F.pad(asked, (1, 1), value=UNLABELLED), languages, padded=True)

    def places(self, side: int) -> tuple[Tensor, Tensor]:
        """Where the ids of a side (0 or 1) stand in their rows, (B, W), and which of them are real; the rest are 0."""
        offsets = torch.arange(self.gold.shape[1], device=self.sides.device)
        real = offsets < self.sides[:, side, None]
        first = self.sides[:, :1] * side + 1 + side  # after `<s>`, or after `<s>`, the first side and its `</s>`
        return (first + offsets).masked_fill(~real, 0), real


@dataclass(frozen=True)
class Links:
    """Which places are linked: in `row`, `first` of one side and `second` of the other. All (K,) int64."""

    row: Tensor
    first: Tensor
    second: Tensor

    def __len__(self) -> int:
        return len(self.row)

    def of_rows(self, a: int, b: int) -> Links:
        """Those of rows from `a` to below `b`, which are then counted from 0."""
        here = (self.row >= a) & (self.row < b)
        return Links(self.row[here] - a, self.first[here], self.second[here])

    def to(self, device: torch.device) -> Links:
        """The same links on a device."""
        return Links(*(moved(x, device) for x in (self.row, self.first, self.second)))


@dataclass(frozen=True)
class LinkedPairs:
    """Sentence pairs, one a row, with the links of their sub-words: places in the rows."""

    pairs: PairRows
    links: Links

    def __len__(self) -> int:
        return len(self.pairs)

    def part(self, i: int, n: int) -> LinkedPairs:
        """Piece `i` of `n` nearly equal ones, in order."""
        return LinkedPairs(self.pairs.part(i, n), self.links.of_rows(len(self) * i // n, len(self) * (i + 1) // n))

    def to(self, device: torch.device) -> LinkedPairs:
        """The same pairs on a device."""
        return LinkedPairs(self.pairs.to(device), self.links.to(device))


@dataclass(frozen=True)
class WordPairs:
    """Unmasked sentence pairs with the links of their words, each known by its last sub-word.

    Places are those of `PairRows.side_rows`. `words` are all words of the first sides, linked with themselves.
    """

    pairs: PairRows
    links: Links
    words: Links

    def __len__(self) -> int:
        return len(self.pairs)

    def part(self, i: int, n: int) -> WordPairs:
        """Piece `i` of `n` nearly equal ones, in order."""
        a, b = (len(self) * j // n for j in (i, i + 1))
        return WordPairs(self.pairs.part(i, n), self.links.of_rows(a, b), self.words.of_rows(a, b))

    def to(self, device: torch.device) -> WordPairs:
        """The same pairs on a device."""
        return WordPairs(self.pairs.to(device), self.links.to(device), self.words.to(device))
