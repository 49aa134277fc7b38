"""A language's corpus, with one sentence per line, in memory or in these files, which are memory-mapped.

tokens.bin       (T,) uint16, or uint32 if ids may exceed 16 bits; special types are not stored
lines.bin        (N + 1,) int64, the index in tokens.bin at which each line begins
words.bin        (N + 1,) int64, the index in pieces.bin and origin.bin at which each line begins
pieces.bin       (W,) uint16, the number of sub-words in each word
origin.bin       (W,) uint16, the position of each word in its line before the transform, or NOWHERE
sources.bin      (L,) uint16, if words were changed: all source positions each word renders, `origin` first
source_ends.bin  (W + 1,) int64, with sources.bin: the index in it at which each word's positions begin
source_line.bin  (N,) int64, the line of the source corpus that each line derives from
corpus.json      N, W, T, the data type of the tokens and, with sources.bin, L

`Ragged` holds arrays of variable-length items, such as the words of sentences or the sub-words of words.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np

from calque.derive.errors import BadInput

LONGEST = 2**16 - 1  # maximum number of words in a line, and of sub-words in a word
LINES = 1 << 16  # number of lines processed at a time
NOWHERE = LONGEST  # the origin of words that are not derived from source words


@dataclass(frozen=True, eq=False)
class Ragged:
    """N items in one array: item i is `values[ends[i] : ends[i + 1]]`; `ends` is (N + 1,) int64."""

    values: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, sizes: np.ndarray | Sequence[int]) -> Self:
        """Divide `values` into consecutive items of the given sizes."""
        return cls(values, ends_of(sizes))

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, item: int) -> np.ndarray:
        return self.values[self.ends[item] : self.ends[item + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        for start, end in pairwise(self.ends.tolist()):
            yield self.values[start:end]

    @property
    def sizes(self) -> np.ndarray:
        return np.diff(self.ends)

    @property
    def item(self) -> np.ndarray:
        """The index of each value's item."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def sizes_of(self, items: np.ndarray) -> np.ndarray:
        return np.asarray(self.ends[items + 1] - self.ends[items])

    def places(self, items: np.ndarray) -> np.ndarray:
        """Return the indices of the given items' values, in the given order."""
        return ranges(self.ends[items], self.sizes_of(items))

    def take(self, items: np.ndarray) -> Self:
        """Return the items at the given indices, in the given order."""
        return self.of(self.values[self.places(items)], self.sizes_of(items))

    def between(self, first: int, last: int) -> Self:
        """Return items `first` to `last` (exclusive) without copying their values."""
        start, end = self.ends[[first, last]]
        ends = self.ends[first : last + 1]
        # Subtraction would copy memory-mapped `ends` into memory.
        return type(self)(self.values[start:end], ends - start if start else ends)


def ends_of(sizes: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return the start of each of N consecutive items, and the last one's end, (N + 1,) int64."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def ranges(starts: np.ndarray | int, sizes: np.ndarray) -> np.ndarray:
    """Return the concatenation of ranges of consecutive numbers with these starts and sizes."""
    ends = ends_of(sizes)
    return np.repeat(starts - ends[:-1], sizes) + np.arange(ends[-1])


COLUMNS = {
    "tokens": ("", "tokens", 0),
    "lines": ("int64", "sentences", 1),
    "words": ("int64", "sentences", 1),
    "pieces": ("uint16", "words", 0),
    "origin": ("uint16", "words", 0),
    "source_line": ("int64", "sentences", 0),
    "sources": ("uint16", "links", 0),
    "source_ends": ("int64", "words", 1),
}
"""Each file's data type (of tokens: see corpus.json), the unit it has one entry for, and further entries."""


@dataclass(frozen=True)
class Corpus:
    """One language's corpus of N lines, with the contents of the files above."""

    tokens: Ragged
    pieces: Ragged
    origin: Ragged
    source_line: np.ndarray
    sources: Ragged | None = None

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open a folder's corpus; raise BadInput if a file's size differs from `corpus.json`."""
        about = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
        arrays = dict[str, np.ndarray]()
        for name, (dtype, unit, extra) in COLUMNS.items():
            if name in ("sources", "source_ends") and "links" not in about:
                continue
            column_type = np.dtype(dtype or about["dtype"])
            path, expected = folder / f"{name}.bin", (about[unit] + extra) * column_type.itemsize
            size = path.stat().st_size if path.exists() else 0
            if size != expected:
                raise BadInput(f"this file is damaged: it has {size:,} bytes, not {expected:,}", path)
            arrays[name] = np.asarray(np.memmap(path, column_type, "r"))  # faster to slice than a memmap
        tokens = Ragged(arrays["tokens"], arrays["lines"])
        pieces, origin = (Ragged(arrays[name], arrays["words"]) for name in ("pieces", "origin"))
        sources = Ragged(arrays["sources"], arrays["source_ends"]) if "sources" in arrays else None
        return cls(tokens, pieces, origin, arrays["source_line"], sources)

    @classmethod
    def of(
        cls, ids: np.ndarray, pieces: np.ndarray, words: np.ndarray, origin: np.ndarray | None = None
    ) -> Self:
        """Create a corpus of ids (T,), given the numbers of ids per word (W,) and words per line (N,)."""
        ends, origin = ends_of(words), np.full(len(pieces), NOWHERE) if origin is None else origin
        tokens = Ragged(ids.astype(np.uint32), ends_of(pieces)[ends])
        words_of, origins = (Ragged(column.astype(np.uint32), ends) for column in (pieces, origin))
        return cls(tokens, words_of, origins, np.arange(len(words)))

    def __len__(self) -> int:
        return len(self.source_line)

    def __getitem__(self, line: int) -> np.ndarray:
        return self.tokens[line]

    def in_order(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the concatenated ids of the given words, and the number of ids per word."""
        ids = Ragged.of(self.tokens.values, self.pieces.values).take(words)
        return ids.values, ids.sizes

    def between(self, first: int, last: int) -> Self:
        """Return lines `first` to `last` (exclusive)."""
        columns = self.tokens, self.pieces, self.origin
        tokens, pieces, origin = (column.between(first, last) for column in columns)
        lines, words = self.source_line[first:last], self.pieces.ends[[first, last]]
        sources = None if self.sources is None else self.sources.between(*words)
        return type(self)(tokens, pieces, origin, lines, sources)

    def where(self, mask: np.ndarray) -> Self:
        """Copy the lines selected by `mask`, (N,) bool, into memory; source line numbers stay unchanged."""
        lines, columns = np.flatnonzero(mask), (self.tokens, self.pieces, self.origin)
        tokens, pieces, origin = (column.take(lines) for column in columns)
        sources = None if self.sources is None else self.sources.take(self.pieces.places(lines))
        return type(self)(tokens, pieces, origin, self.source_line[lines], sources)

    def links(self, line: int) -> np.ndarray:
        """Return a line's sorted gold links, (k, 2) int64: source position, derived position."""
        if self.sources is None:
            places = np.argsort(self.origin[line])
            return np.stack([np.arange(len(places)), places], axis=1)
        words = self.sources.between(*self.pieces.ends[[line, line + 1]])
        links = np.stack([words.values, words.item], axis=1).astype(np.int64)
        return links[np.lexsort(links.T[::-1])]


def count_shared(derived: Path, types: np.ndarray, image: np.ndarray) -> dict[str, tuple[float, int]]:
    """Return the shared fractions of types, sub-words and words, each with its denominator."""
    corpus, tokens, words = Corpus.open(derived), 0, 0
    for first in range(0, len(corpus), LINES):
        lines = corpus.between(first, min(first + LINES, len(corpus)))
        shared = lines.tokens.values < len(image)
        tokens += int(shared.sum())
        words += int(np.logical_and.reduceat(shared, ends_of(lines.pieces.values)[:-1]).sum())
    counts = {
        "types": (int((image[types] == types).sum()), len(types)),
        "tokens": (tokens, len(corpus.tokens.values)),
        "words": (words, len(corpus.pieces.values)),
    }
    return {name: (count / total, total) for name, (count, total) in counts.items() if total}


class CorpusWriter:
    """Appends lines to the files of a new corpus with ids below `id_limit`; `counts` are its sizes."""

    def __init__(self, folder: Path, id_limit: int) -> None:
        folder.mkdir(parents=True)
        self._folder, self._dtype = folder, "uint16" if id_limit <= 2**16 else "uint32"
        self.counts = {"sentences": 0, "words": 0, "tokens": 0}

    def append(self, lines: Corpus, first: int) -> None:
        """Append lines that derive from the source lines from `first`."""
        sizes = {
            "sentences": len(lines),
            "words": len(lines.pieces.values),
            "tokens": len(lines.tokens.values),
        }
        columns = {
            "tokens": lines.tokens.values,
            "lines": lines.tokens.ends + self.counts["tokens"],
            "words": lines.pieces.ends + self.counts["words"],
            "pieces": lines.pieces.values,
            "origin": lines.origin.values,
            "source_line": first + np.arange(len(lines)),
        }
        if lines.sources is not None:
            sizes["links"] = len(lines.sources.values)
            starts = lines.sources.ends + self.counts.get("links", 0)
            columns |= {"sources": lines.sources.values, "source_ends": starts}
        for name, array in columns.items():
            dtype, _, extra = COLUMNS[name]
            with (self._folder / f"{name}.bin").open("ab") as file:
                start = extra if file.tell() else 0  # the file already ends with the start of the next item
                file.write(array[start:].astype(dtype or self._dtype, copy=False).data)
        self.counts = {name: self.counts.get(name, 0) + size for name, size in sizes.items()}

    def finish(self) -> dict[str, int]:
        """Write corpus.json; return the numbers of sentences, words and tokens."""
        about = json.dumps(self.counts | {"dtype": self._dtype})
        (self._folder / "corpus.json").write_text(f"{about}\n", encoding="utf-8")
        return {name: count for name, count in self.counts.items() if name != "links"}
