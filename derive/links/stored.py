"""The word links of a bitext as an artefact, computed once and read by training.

links.npy (L, 2) uint16   positions of linked words in the first and second sentence, sorted within a pair
ends.npy  (N + 1,) int64  where the links of each sentence pair begin
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np

from calque.derive.artefact import Artefact, making
from calque.derive.errors import BadInput
from calque.derive.links.aligner import Links

KIND, FORMAT = "links", 1
LINKS, ENDS = "links.npy", "ends.npy"


@dataclass(frozen=True)
class StoredLinks:
    """The links of N sentence pairs; `facts` is their manifest's content."""

    links: np.ndarray
    ends: np.ndarray
    facts: dict[str, Any]

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the links in a folder written by `store`."""
        artefact = Artefact.open(folder, KIND)
        links, ends = (np.load(artefact.path(name), allow_pickle=False) for name in (LINKS, ENDS))
        return cls(links, ends, artefact.facts)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, pair: int) -> np.ndarray:
        return self.links[self.ends[pair] : self.ends[pair + 1]].astype(np.int64)

    def check(self, pairs: int, languages: dict[str, str], folder: Path) -> None:
        """Raise BadInput for links of another number of pairs, or of other languages."""
        if len(self) != pairs or self.facts.get("languages") != languages:
            message = f"links of {len(self):,} sentence pairs of other languages; expected {pairs:,} of these"
            raise BadInput(message, folder)


def store(pairs: Iterable[Links], folder: Path, facts: dict[str, Any]) -> Path:
    """Write sentence pairs' links atomically; `facts` may be extended until the last pair is read."""
    with making(folder, KIND, facts) as part:
        parts, ends = [np.empty((0, 2), np.uint16)], [0]
        for links in pairs:
            parts.append(np.array(links, np.uint16).reshape(-1, 2))
            ends.append(ends[-1] + len(links))
        np.save(part / LINKS, np.concatenate(parts))
        np.save(part / ENDS, np.array(ends, np.int64))
        facts |= {"format": FORMAT, "pairs": len(ends) - 1, "links": ends[-1]}
    return folder


def of_pieces(links: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Convert word links (k, 2) to sub-word links (m, 2), sorted; `first` and `second` are sub-words per
    word. Words with equally many sub-words have them linked one-to-one, in order; otherwise each is linked to
    all of the other word's (WEAM)."""
    starts = [np.cumsum(pieces, dtype=np.int64) - pieces for pieces in (first, second)]
    linked: list[tuple[int, int]] = []
    for i, j in links.tolist():
        a, b, n, m = int(starts[0][i]), int(starts[1][j]), int(first[i]), int(second[j])
        first_ids, second_ids = range(a, a + n), range(b, b + m)
        if n == m:
            linked += zip(first_ids, second_ids, strict=True)
        else:
            linked += product(first_ids, second_ids)
    return np.array(sorted(set(linked)), np.int64).reshape(-1, 2)
