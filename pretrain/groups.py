"""Sentence pairs in groups that fill a row each."""

from __future__ import annotations

import numpy as np

from derive.language import Bitext


class Groups:
    """Pairs of several bitexts, as many neighbours as fit into a row together; groups are numbered over all bitexts.

    Eight bytes a pair and eight a group, however many there are.
    """

    def __init__(self) -> None:
        self._pairs: list[np.ndarray] = []
        self._bounds: list[np.ndarray] = []
        self._ends = np.zeros(1, np.int64)

    def add(self, pairs: np.ndarray, lengths: np.ndarray, room: int) -> int:
        """Group pairs of the next bitext, whose ids are `lengths` (see `fill`); returns how many groups they are."""
        self._pairs.append(pairs)
        self._bounds.append(fill(lengths, room))
        count = len(self._bounds[-1]) - 1
        self._ends = np.append(self._ends, self._ends[-1] + count)
        return count

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getitem__(self, group: int) -> tuple[int, np.ndarray]:
        """The number of a group's bitext, and its pairs."""
        of = int(np.searchsorted(self._ends, group, side="right")) - 1
        bounds, number = self._bounds[of], group - int(self._ends[of])
        return of, self._pairs[of][bounds[number] : bounds[number + 1]]


def fill(lengths: np.ndarray, room: int) -> np.ndarray:
    """Neighbouring items, as many as fit into `room` on each side: where each group begins, and where the last ends.

    `lengths` are (N,), or (N, 2) where an item has two sides with a room each; each item fits by itself.
    """
    count = len(lengths)
    following = np.full(count, count)  # the item with which a new group begins, were there a group from each item on
    for side in (lengths if lengths.ndim == 2 else lengths[:, None]).T:
        before = np.zeros(count + 1, np.int64)
        np.cumsum(side, out=before[1:])
        np.minimum(following, np.searchsorted(before, before[:-1] + room, side="right") - 1, out=following)
    bounds = [0]
    while bounds[-1] < count:
        bounds.append(following.item(bounds[-1]))
    return np.array(bounds)


def line_lengths(bitext: Bitext, pairs: np.ndarray) -> np.ndarray:
    """How many ids each side of some sentence pairs has, (N, 2)."""
    made = np.empty((len(pairs), 2), np.int64)
    for side, language in enumerate((bitext.first, bitext.second)):
        starts, lines = np.asarray(language.corpus.lines), bitext.lines.of(pairs, side)
        made[:, side] = starts[lines + 1] - starts[lines]
    return made
