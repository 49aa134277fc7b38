"""A pair of languages as rows of ids, and the order in which rows are shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from derive.corpus import NOWHERE, Corpus
from derive.dictionary import read_dictionary
from derive.errors import BadInput
from derive.types import END, START

SOURCE, DERIVED, PADDING = 0, 1, 2
"""Language ids; padding has one of its own."""
LANGUAGES = 3


@dataclass(frozen=True)
class LanguagePair:
    """A language and its derivation, as `derive_study` left them, or its translation, as `write_translation` did.

    `image` is (V,) int64, the derived id of each source id; `dictionary` is (n, 2) int64.
    """

    source: Corpus
    derived: Corpus
    image: np.ndarray
    dictionary: np.ndarray

    @classmethod
    def open(cls, folder: Path, language: str) -> LanguagePair:
        """Open the pair (source, `language`) of a derived study.

        Raises:
            BadInput: something is missing, damaged, or of another study.
        """
        derived = folder / language
        try:
            image = np.load(derived / "image.npy", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise BadInput(f"expected the table of ids that makes {language!r}: {error}", derived) from error
        pair = cls(
            Corpus.open(folder / "source"), Corpus.open(derived), image, read_dictionary(derived / "dictionary.tsv")
        )
        last = int(pair.derived.source_line.max(initial=0))
        if last >= len(pair.source):
            raise BadInput(f"line {last + 1:,} of {len(pair.source):,} of the source language has an image", derived)
        return pair

    @property
    def size(self) -> int:
        """V, the size of the source vocabulary."""
        return len(self.image)

    @property
    def translated(self) -> bool:
        """Whether the second language is a translation: of the same types, its word alignment unknown."""
        return NOWHERE in self.derived.origin[:1]

    @property
    def types(self) -> int:
        """Rows of a model's table: 2 V, or V where both languages are written in the same types."""
        return self.size * (1 if self.translated else 2)

    def parallel(self, share: float, seed: int) -> np.ndarray:
        """The lines of the derived corpus, ascending, whose pairing with a source line may be used: `share` of them."""
        return np.sort(self.parallel_order(seed)[: round(share * len(self.derived))])

    def parallel_order(self, seed: int) -> np.ndarray:
        """The lines of the derived corpus in the order in which `parallel` takes them."""
        return np.random.default_rng(seed).permutation(len(self.derived))


class PackedLines:
    """A corpus as full rows: `<s>`, then lines, each closed by `</s>`, cut wherever the row ends.

    Nothing is padded; the last, unfilled row is left out (`left_over` ids).

    Raises:
        BadInput: the corpus does not fill one row.
    """

    def __init__(self, corpus: Corpus, length: int) -> None:
        self.length = length
        self.tokens = np.asarray(corpus.tokens)  # the same map; slices of a plain array are cheaper to make
        # Where each line's `</s>` stands in the endless line of all lines.
        self.ends = np.asarray(corpus.lines[1:]) + np.arange(len(corpus))
        total = len(self.tokens) + len(corpus)
        self._rows, self.left_over = divmod(total, length - 1)
        if not self._rows:
            raise BadInput(f"a corpus of {total:,} ids does not fill one row of {length:,}")

    def __len__(self) -> int:
        return self._rows

    def row(self, number: int) -> np.ndarray:
        """The ids of one row, (length,) int64."""
        start, stop = number * (self.length - 1), (number + 1) * (self.length - 1)
        first, last = np.searchsorted(self.ends, (start, stop))
        ids = np.empty(self.length, np.int64)
        inside = np.ones(self.length, bool)
        marks = self.ends[first:last] - start + 1
        inside[0] = False
        inside[marks] = False
        ids[0] = START
        ids[marks] = END
        ids[inside] = self.tokens[start - first : stop - last]
        return ids


def fill(source: np.ndarray, derived: np.ndarray, room: int) -> list[tuple[int, int]]:
    """Neighbouring pairs, as many as fit into `room` ids a side: [first, last) of each instance."""
    groups, first, used_source, used_derived = [], 0, 0, 0
    for i, (s, d) in enumerate(zip(source.tolist(), derived.tolist(), strict=True)):
        if used_source + s > room or used_derived + d > room:
            groups.append((first, i))
            first, used_source, used_derived = i, 0, 0
        used_source, used_derived = used_source + s, used_derived + d
    return [*groups, (first, len(source))] if first < len(source) else groups


class Shuffled:
    """An endless shuffled order of `size` instances, a new one each epoch, readable from anywhere."""

    def __init__(self, size: int, *seed: int) -> None:
        self.size, self.seed = size, seed
        self._epoch, self._order = -1, np.empty(0, np.int64)

    def take(self, start: int, count: int) -> np.ndarray:
        """Instances `start` to `start + count` of the endless order."""
        taken = []
        while count:
            epoch, offset = divmod(start, self.size)
            if epoch != self._epoch:
                self._epoch = epoch
                self._order = np.random.default_rng([*self.seed, epoch]).permutation(self.size)
            piece = self._order[offset : offset + count]
            taken.append(piece)
            start, count = start + len(piece), count - len(piece)
        return np.concatenate(taken) if taken else np.empty(0, np.int64)
