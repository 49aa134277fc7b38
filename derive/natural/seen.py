"""Which lines came before: hashes of all of them, so that duplicates can be left out of a text of any size."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


def hashes(columns: Sequence[Sequence[str]]) -> np.ndarray:
    """A hash of each line, or of each pair of lines, (N,) uint64. Of 30 million, two are alike by chance in 1 of 40,000
    texts."""
    digests = b"".join(blake2b("\n".join(row).encode(), digest_size=8).digest() for row in zip(*columns, strict=True))
    return np.frombuffer(digests, np.uint64)


class Seen:
    """Eight bytes for each hash that came before, in sorted runs that are merged as they grow."""

    def __init__(self) -> None:
        self._runs: list[np.ndarray] = []

    def new(self, lines: np.ndarray) -> np.ndarray:
        """Which of these hashes, (N,) uint64, are the first of their kind, (N,) bool; from now on they came before."""
        fresh = np.zeros(len(lines), bool)
        fresh[np.unique(lines, return_index=True)[1]] = True
        for run in self._runs:
            fresh &= run[np.minimum(np.searchsorted(run, lines), len(run) - 1)] != lines
        if fresh.any():
            self._runs.append(np.sort(lines[fresh]))
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            last = self._runs.pop()
            self._runs[-1] = np.sort(np.concatenate([self._runs[-1], last]), kind="stable")
        return fresh
