"""Text without sentences that a model is tested on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from unicodedata import normalize

from derive.artefact import digest
from derive.errors import BadInput
from derive.natural.piece import ChangedPiece, Files, Piece, columns_of
from derive.natural.text import TextFiles

HEAD = 24
"""Letters from which on a sentence inside a line is no chance: shorter ones are withheld where they are a line."""
WHY = "lines with a sentence that models are tested on"
_OTHER = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Without:
    """Files without the lines, or pairs of lines, that hold a sentence of the files `tests`; they are counted.

    Two sentences are the same if they have the same letters and digits in the same order, whatever stands between
    them and however Unicode writes them: text and its tokenised form are.
    """

    files: Files
    tests: TextFiles

    def pieces(self) -> Iterator[Piece]:
        """The pieces in order.

        Raises:
            BadInput: a file cannot be read, or there is no sentence to be withheld.
        """
        sentences(self.tests)
        return (WithoutPiece(piece, self.tests) for piece in self.files.pieces())

    @property
    def distinct(self) -> bool:
        """Whether lines that came before are left out."""
        return self.files.distinct

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return self.files.size

    def identity(self) -> list[Any]:
        """What decides the text, for a fingerprint."""
        return [self.files.identity(), self.tests.identity()]


@dataclass(frozen=True)
class WithoutPiece(ChangedPiece):
    """A piece without the lines that hold a sentence of `tests`."""

    tests: TextFiles

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        columns, known = self.piece.columns(left_out), sentences(self.tests)
        kept = [row for row in zip(*columns, strict=True) if not any(map(known.within, row))]
        left_out[WHY] += len(columns[0]) - len(kept)
        return columns_of(kept, len(columns))


class Sentences:
    """Sentences to be found again in text."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._whole = {bare for line in lines if (bare := letters(line))}
        self._by_head: dict[str, list[str]] = {}
        for bare in self._whole:
            if len(bare) >= HEAD:
                self._by_head.setdefault(bare[:HEAD], []).append(bare)

    def __len__(self) -> int:
        return len(self._whole)

    def within(self, line: str) -> bool:
        """Whether a line is one of them, or has a long one in it."""
        bare = letters(line)
        if bare in self._whole:
            return True
        heads = self._by_head
        return any(
            bare.startswith(sentence, i)
            for i in range(len(bare) - HEAD + 1)
            if (head := bare[i : i + HEAD]) in heads
            for sentence in heads[head]
        )


def letters(text: str) -> str:
    """Letters and digits alone, in lower case and Unicode's compatible form: accents and width may be written apart."""
    return _OTHER.sub("", normalize("NFKC", text).lower())


def sentences(tests: TextFiles) -> Sentences:
    """The sentences of files, read once a process for the same contents.

    Raises:
        BadInput: there is none.
    """
    return _read(tests, tuple(map(digest, tests.paths)))


@lru_cache(maxsize=4)
def _read(tests: TextFiles, digests: tuple[str, ...]) -> Sentences:
    left_out: Counter[str] = Counter()
    made = Sentences(line for piece in tests.pieces() for line in piece.columns(left_out)[0])
    if not len(made):
        raise BadInput("no sentence in it to withhold", Path(tests.paths[0]))
    return made
