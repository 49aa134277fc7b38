"""A bitext's word links as an artefact, computed once and then read during training.

links.npy (L, 2) uint16   the positions of linked words in the two sentences, sorted within each pair
ends.npy  (N + 1,) int64  the index at which each sentence pair's links begin
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
from calque.derive.ragged import ends_of

KIND, FORMAT = "links", 1
LINKS, ENDS = "links.npy", "ends.npy"


@dataclass(frozen=True)
class StoredLinks:
    """The links of N sentence pairs; `facts` are the manifest's entries."""

    links: np.ndarray
    ends: np.ndarray
    facts: dict[str, Any]

    @classmethod
    def open(cls, folder: Path) -> Self:
        artefact = Artefact.open(folder, KIND)
        links, ends = (np.load(artefact.path(name), allow_pickle=False) for name in (LINKS, ENDS))
        return cls(links, ends, artefact.facts)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, pair: int) -> np.ndarray:
        return self.links[self.ends[pair] : self.ends[pair + 1]].astype(np.int64)

    def check(self, pairs: int, languages: dict[str, str], folder: Path) -> None:
        """Raise BadInput if the links belong to a different number of pairs or to different languages."""
        if len(self) != pairs or self.facts.get("languages") != languages:
            fault = f"these are links of {len(self):,} sentence pairs, not of these languages' {pairs:,}"
            raise BadInput(fault, folder)


def store(pairs: Iterable[Links], folder: Path, facts: dict[str, Any]) -> Path:
    """Write sentence pairs' links atomically; `facts` may be extended until the last pair has been read."""
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
    """Convert word links (k, 2) to sorted sub-word links (m, 2), given the sub-words per word in `first` and
    `second`. Linked words with equally many sub-words are linked one-to-one, in order; otherwise, every
    sub-word of one is linked to every sub-word of the other (WEAM)."""
    first_ends, second_ends = ends_of(first).tolist(), ends_of(second).tolist()
    linked: list[tuple[int, int]] = []
    for i, j in links.tolist():
        ids, others = range(*first_ends[i : i + 2]), range(*second_ends[j : j + 2])
        linked += zip(ids, others, strict=True) if len(ids) == len(others) else product(ids, others)
    return np.array(sorted(set(linked)), np.int64).reshape(-1, 2)
