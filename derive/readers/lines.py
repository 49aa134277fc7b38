"""Lines of a text file, decoded strictly: what every reader starts from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

from derive.errors import BadInput
from derive.readers.compressed import compression_of, opened, raw_lines

MARKS = "byte order marks where files were joined, removed"
_MARK = b"\xef\xbb\xbf"
_LEADING_MARKS = re.compile(rb"^(?:\xef\xbb\xbf)+", re.MULTILINE)
_INTEGER = re.compile(r"[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def decode(data: bytes, path: Path, line: int, counts: Counter[str] | None = None) -> str:
    """Decode UTF-8 that begins at line `line` of the file; CRLF becomes a line feed.

    A byte order mark at the start of a line is removed: joined files often have them. All except the
    file's own first one are counted in `counts`.

    Raises:
        BadInput: the file is compressed or in UTF-16, a NUL byte, bytes that are not UTF-8, or a carriage return that
            ends no line.
    """
    if line == 1:
        _check_start(data, path)
    if b"\0" in data:
        raise BadInput("a NUL byte; expected text, found a binary file", path, line + _lines_before(data, b"\0"))
    if _MARK in data:
        data = _without_marks(data, line, counts)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = line + data.count(b"\n", 0, error.start)
        raise BadInput(f"byte 0x{data[error.start]:02x} is not UTF-8 ({error.reason})", path, place) from None
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


def _without_marks(data: bytes, line: int, counts: Counter[str] | None) -> bytes:
    """The data without byte order marks at the starts of lines."""
    removed = sum(len(marks) for marks in _LEADING_MARKS.findall(data)) // len(_MARK)
    if counts is not None and (joined := removed - (line == 1 and data.startswith(_MARK))):
        counts[MARKS] += joined
    return _LEADING_MARKS.sub(b"", data)


def read_lines(path: Path, counts: Counter[str] | None = None, *, ended: bool = False) -> Iterator[tuple[int, str]]:
    """Stream the lines of a file, compressed or not, without their ends, numbered from 1.

    Lines are those of `decode`. With `ended` the last line must have its line end too, for formats where a cut line may
    look like a whole one.

    Raises:
        BadInput: the file is missing, empty, a directory, binary, not UTF-8, or cut; or a line has no end within
            `LIMIT` bytes.
    """
    with opened(path) as file:
        for number, raw in enumerate(raw_lines(file, path), start=1):
            if ended and not raw.endswith(b"\n"):
                decode(raw, path, number)
                raise BadInput(
                    "the last line has no line end: the file is truncated, or add one if it is whole", path, number
                )
            yield number, decode(raw.removesuffix(b"\n"), path, number, counts)


def tokens(line: str) -> list[str]:
    """The words of a line of tokenised text, which spaces and tabs part.

    Other white space belongs to its word: U+3000 alone is a word of Japanese sets, and `1 000` with a no-break space is
    one word. Whoever made the text counted them so, and links of words count on it.
    """
    return [token for token in line.replace("\t", " ").split(" ") if token]


def one_word(form: str, counts: Counter[str]) -> str:
    """The form without the white space inside it, counted: everywhere else white space parts words."""
    parts = form.split()
    if parts != [form]:
        counts["words that lost white space"] += 1
    return "".join(parts)


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


def _lines_before(data: bytes, mark: bytes) -> int:
    return data.count(b"\n", 0, data.index(mark))
