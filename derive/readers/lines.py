"""Lines of a text file, decoded strictly, one by one or in blocks: the basis of every reader."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from derive.errors import BadInput
from derive.readers.compressed import LIMIT, bytes_read, compression_of, open_bytes, raw_lines
from derive.strict_json import is_text

AnyPiece = TypeVar("AnyPiece", bound="Piece")
Numbered = tuple[int, str]
"""A line's number, from 1, and the line without its end."""
SIZE = 1 << 22
"""Approximate bytes of a block."""
MARKS = "byte order marks where files were joined, removed"
CUT = "the last line has no line end: the file is truncated, or add one if it is whole"
_MARK = b"\xef\xbb\xbf"
_LEADING_MARKS = re.compile(rb"^(?:\xef\xbb\xbf)+", re.MULTILINE)
_ENDS = re.compile(r"\r\n|\n|\r")
_INTEGER = re.compile(r"[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Place(NamedTuple):
    """A file, and the line in it where there is one."""

    path: Path
    line: int | None = None

    def fault(self, message: str) -> BadInput:
        """The error to raise about what stands here."""
        return BadInput(message, self.path, self.line)

    def text(self, value: Any, what: str) -> str:
        """A value of JSON as text that a file can hold."""
        if not isinstance(value, str):
            raise self.fault(f"{what} is {'missing' if value is None else repr(value)}; expected text")
        if not is_text(value):
            raise self.fault(f"{what} holds a NUL or half of a surrogate pair; expected text")
        return value


def decode(data: bytes, path: Path, line: int, counts: Counter[str] | None = None) -> str:
    """Decode UTF-8 that begins at line `line` of the file; CRLF becomes a line feed.

    A byte order mark at the start of a line is removed: joined files often have them. All except the
    file's own first one are counted in `counts`.
    """
    if line == 1:
        _check_start(data, path)
    if b"\0" in data:
        number = line + data.count(b"\n", 0, data.index(b"\0"))
        raise BadInput("a NUL byte; expected text, found a binary file", path, number)
    if _MARK in data:
        removed = sum(len(marks) for marks in _LEADING_MARKS.findall(data)) // len(_MARK)
        if counts is not None and (joined := removed - (line == 1 and data.startswith(_MARK))):
            counts[MARKS] += joined
        data = _LEADING_MARKS.sub(b"", data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = line + data.count(b"\n", 0, error.start)
        raise BadInput(f"byte 0x{data[error.start]:02x} is not UTF-8 ({error.reason})", path, number) from None
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
        if "\r" in text:
            number = line + text.count("\n", 0, text.index("\r"))
            raise BadInput("a carriage return inside a line; lines end in LF or CRLF", path, number)
    return text


def _check_start(data: bytes, path: Path) -> None:
    """Refuse the start of a file that is recognisably not UTF-8 text."""
    head = data[:8]
    wide = any(head) and not (any(head[::2]) and any(head[1::2])) and len(head) > 1  # every other byte is NUL
    if wide or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInput("UTF-16; expected UTF-8: convert it, as with iconv -f UTF-16 -t UTF-8", path, 1)
    if name := compression_of(data):
        raise BadInput(f"compressed with {name}; expected text: decompress it first", path)


def without_marks(text: str, counts: Counter[str]) -> str:
    """Running text without byte order marks anywhere, counted: a file before may have had no line end when joined."""
    if "\ufeff" in text:
        counts[MARKS] += text.count("\ufeff")
        text = text.replace("\ufeff", "")
    return text


def stripped(texts: Iterable[str], counts: Counter[str]) -> list[str]:
    """The lines of texts without white space at their ends, and without blank ones, which are counted."""
    lines = [without_marks(line, counts).strip() for text in texts for line in _ENDS.split(text)]
    kept = [line for line in lines if line]
    counts["blank lines"] += len(lines) - len(kept)
    return kept


class Lines:
    """The lines of a file, compressed or not, without their ends and numbered from 1; `counts` has what was removed.

    `ended` says whether the last line that was read has its line end. With `must_end` a last line without one is
    refused: in some formats a cut line may look like a whole one.
    """

    def __init__(self, path: Path, counts: Counter[str] | None = None, must_end: bool = False) -> None:
        self.path, self._counts, self._must_end = path, counts, must_end
        self.number, self.ended = 0, True

    def __iter__(self) -> Iterator[Numbered]:
        """Read the file."""
        with open_bytes(self.path) as file:
            for number, raw in enumerate(raw_lines(file, self.path), start=1):
                self.number, self.ended = number, raw.endswith(b"\n")
                line = decode(raw.removesuffix(b"\n"), self.path, number, self._counts)
                if self._must_end:
                    self.check_end()
                yield number, line

    def check_end(self) -> None:
        """Refuse a last line without its line end."""
        if not self.ended:
            raise BadInput(CUT, self.path, self.number)


def read_lines(path: Path, counts: Counter[str] | None = None, *, ended: bool = False) -> Iterator[Numbered]:
    """Stream the numbered lines of a file: see `Lines`, whose `must_end` is `ended`."""
    return iter(Lines(path, counts, ended))


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole records of a file: `data` begins at line `line`, from 1, and at byte `offset` of the decompressed
    file. `size` is how many bytes of the file on the disk were read for it."""

    path: Path
    line: int
    offset: int
    data: bytes
    size: int

    def lines(self, counts: Counter[str]) -> list[str]:
        """Its lines without their ends."""
        return decode(self.data, self.path, self.line, counts).removesuffix("\n").split("\n")


def ends_line(line: bytes) -> bool:
    """Whether a line has its end, which ends a record of one line."""
    return line.endswith(b"\n")


def blocks(
    path: Path, ends: Callable[[bytes], bool], what: str, size: int = SIZE, limit: int = LIMIT
) -> Iterator[Block]:
    """Cut a file, compressed or not, into pieces of about `size` bytes that end with a record.

    The cuts depend on the file and the size alone. `ends` says whether a line ends a record; `what` is the name of
    such an end, for errors.
    """
    with open_bytes(path) as file:
        offset, line, before = 0, 1, 0
        while data := file.read(size):
            parts, length = [data], len(data)
            while rest := file.readline(limit):
                parts.append(rest)
                length += len(rest)
                if length > size + limit:
                    raise BadInput(f"no {what} within {limit >> 20} MiB", path, line)
                if ends(rest):
                    break
            data = b"".join(parts)
            yield Block(path, line, offset, data, bytes_read(file) - before)
            offset, line, before = offset + length, line + data.count(b"\n"), bytes_read(file)


class Piece(Protocol):
    """Some of a file, `offset` bytes from its beginning."""

    @property
    def offset(self) -> int: ...


def up_to(megabytes: int, pieces: Iterable[AnyPiece]) -> Iterator[AnyPiece]:
    """The pieces of a file to the end of the one that reaches so many megabytes; all of them if that is 0."""
    return takewhile(lambda piece: not megabytes or piece.offset < megabytes * 1_000_000, pieces)


def tokens(line: str) -> list[str]:
    """The words of a line of tokenised text, which spaces and tabs part.

    Other white space belongs to its word: U+3000 alone is a word of Japanese sets, and `1 000` with a no-break space is
    one word. The makers of such sets counted them so, and links of words depend on it.
    """
    return [token for token in line.replace("\t", " ").split(" ") if token]


def one_word(form: str, counts: Counter[str]) -> str:
    """The form without the white space inside it, counted: everywhere else white space parts words."""
    parts = form.split()
    if parts != [form]:
        counts["words that lost white space"] += 1
    return "".join(parts)


@dataclass
class WithheldWords:
    """Counts words of underscores: treebanks without a licence for their text have `_` in place of every word."""

    words: int = 0
    withheld: int = 0
    line: int = 0  # of the first such word

    def add(self, words: Iterable[str], line: int) -> None:
        """Count the words of a line, or of a sentence that starts there."""
        for word in words:
            self.words += 1
            if word and not word.strip("_"):
                self.withheld += 1
                self.line = self.line or line

    def check(self, path: Path) -> None:
        """Refuse a file in which most words are withheld."""
        if 2 * self.withheld > self.words:
            raise BadInput(
                f"{self.withheld:,} of {self.words:,} words are _: the text is withheld, as its licence demands; "
                "expected the words (the README of such data says how to get them)",
                path,
                self.line,
            )


def parse_integer(text: str) -> int:
    """A whole number from 0 on, written in ASCII digits.

    Raises:
        ValueError: `text` is anything else, such as 1_000 or digits of another script, which Python's `int` accepts.
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def parse_number(text: str) -> float:
    """A finite number in ASCII digits, such as -0.5 or 1e-3.

    Raises:
        ValueError: `text` is anything else, such as 0_1, nan or inf, which Python's `float` accepts.
    """
    if not _NUMBER.fullmatch(text) or not isfinite(value := float(text)):
        raise ValueError(f"{text!r} is not a number")
    return value
