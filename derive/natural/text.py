"""Files of one language's text, and text without the sentences that a model is tested on."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from unicodedata import normalize

from derive.artefact import digest
from derive.errors import BadInput
from derive.natural.formats import format_of, pieces
from derive.natural.piece import Columns, Files, Piece, count_escaped, only, unescape
from derive.readers.lines import up_to

HEAD = 24
"""Letters from which on a sentence inside a line is not there by chance: shorter ones are withheld where they are a
line."""
WHY = "lines with a sentence that models are tested on"
_OTHER = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class TextFiles:
    """Files of one language's text, one text per line; a file's name and its first lines tell its format. `column` is
    that of the text in JSON lines and Parquet. `megabytes` takes only the head of each file, to the end of the piece
    that reaches it (0: all of it), in bytes before compression. `escaped` says that characters are escaped, as Moses's
    tokenizer does (`&quot;`), and are to be unescaped."""

    paths: tuple[Path, ...]
    column: str = "text"
    megabytes: int = 0
    escaped: bool = False

    def __post_init__(self) -> None:
        if not self.paths:
            raise BadInput("a language without text: no file is named")
        if self.megabytes < 0:
            raise BadInput(f"megabytes is 0 (all of each file) or more, not {self.megabytes}")

    def pieces(self) -> Iterator[Piece]:
        for path in self.paths:
            for piece in up_to(self.megabytes, pieces(path, self.column)):
                yield piece.then(unescape if self.escaped else count_escaped)

    @property
    def size(self) -> int:
        return sum(path.stat().st_size for path in self.paths)

    def identity(self) -> list[Any]:
        files = [[format_of(path), digest(path)] for path in self.paths]
        return [files, self.column, self.megabytes, self.escaped]


@dataclass(frozen=True)
class Without:
    """Files without the lines, or pairs of lines, that hold a sentence of the files `tests`; they are counted. Two
    sentences are the same if they have the same letters and digits in the same order, whatever stands between them and
    however Unicode writes them: text and its tokenised form are."""

    files: Files
    tests: TextFiles

    def pieces(self) -> Iterator[Piece]:
        """The pieces in order; that there are sentences to withhold is checked before the first."""
        sentences(self.tests)
        return (piece.then(partial(_withhold, self.tests)) for piece in self.files.pieces())

    @property
    def size(self) -> int:
        return self.files.size

    def identity(self) -> list[Any]:
        return [self.files.identity(), self.tests.identity()]


def _withhold(tests: TextFiles, columns: Columns, left_out: Counter[str]) -> Columns:
    tested = sentences(tests)
    kept = only(columns, lambda row: not any(map(tested.within, row)))
    left_out[WHY] += len(columns[0]) - len(kept[0])
    return kept


class Sentences:
    def __init__(self, lines: Iterable[str]) -> None:
        self.whole = {bare for line in lines if (bare := letters(line))}
        self._by_head: dict[str, list[str]] = {}
        for bare in self.whole:
            if len(bare) >= HEAD:
                self._by_head.setdefault(bare[:HEAD], []).append(bare)

    def within(self, line: str) -> bool:
        """Whether a line is one of them, or has a long one in it."""
        bare = letters(line)
        return bare in self.whole or any(
            bare.startswith(sentence, i)
            for i in range(len(bare) - HEAD + 1)
            for sentence in self._by_head.get(bare[i : i + HEAD], ())
        )


def letters(text: str) -> str:
    """Letters and digits alone, in lower case and Unicode's compatible form: accents and width may be written apart."""
    return _OTHER.sub("", normalize("NFKC", text).lower())


def sentences(tests: TextFiles) -> Sentences:
    """The sentences of files, read once per process for the same contents; there must be one."""
    return _read(tests, tuple(map(digest, tests.paths)))


@lru_cache(maxsize=4)
def _read(tests: TextFiles, digests: tuple[str, ...]) -> Sentences:
    left_out: Counter[str] = Counter()
    read = Sentences(line for piece in tests.pieces() for line in piece.columns(left_out)[0])
    if not read.whole:
        raise BadInput("no sentence in it to withhold", tests.paths[0])
    return read
