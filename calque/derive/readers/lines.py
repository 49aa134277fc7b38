"""Decompress files, decode their lines, and divide them into chunks of whole records."""

import bz2
import gzip
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from calque.derive.errors import BadInput
from calque.derive.files import check_file, parse_json

EDITION = 2  # incremented when the same files would yield different sentences or examples
SIZE = 1 << 22  # approximate size of a chunk in bytes
COMPRESSIONS: dict[str, tuple[bytes, Callable[..., Any]]] = {
    ".bz2": (b"BZh", bz2.open),
    ".gz": (b"\x1f\x8b", gzip.open),
    ".xz": (b"\xfd7zXZ\0", lzma.open),
}
"""The first bytes of compressed files by suffix, and the function that opens them."""

FORMAT = (
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0001\U000e0020-\U000e007f"
)
"""Invisible format characters: soft hyphens, joiners, direction marks, tags."""
_FORMAT_ALONE = re.compile(rf"(?<![^ \n])[{FORMAT}]+(?: |(?=\n)|$)")
_UNWRITABLE = re.compile(r"[\0\ud800-\udfff]")  # NUL and unpaired surrogates


class Place(NamedTuple):
    """A location in a file."""

    path: Path
    line: int | None = None

    def fault(self, message: str) -> BadInput:
        return BadInput(message, self.path, self.line)

    def text(self, value: Any, what: str) -> str:
        """Return a value, called `what` in messages, if it is text that can be written."""
        if not isinstance(value, str) or _UNWRITABLE.search(value):
            raise self.fault(f"{what} is {'missing' if value is None else repr(value)}; expected text")
        return value

    def json(self, text: str) -> dict[str, Any]:
        try:
            value = parse_json(text)
        except ValueError as error:
            raise self.fault(f"not JSON: {error}") from None
        if not isinstance(value, dict):
            raise self.fault(f"a JSON {type(value).__name__}; expected an object")
        return value


Numbered = tuple[Place, str]  # the location of a line or word, and its text (without the line ending)


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file, and decompress it if its first bytes identify a compressed format."""
    check_file(path)
    with path.open("rb") as file:
        head = file.read(8)
    openers = (opener for start, opener in COMPRESSIONS.values() if head.startswith(start))
    try:
        with next(openers, Path.open)(path, "rb") as file:
            if not file.peek(1):
                raise BadInput("the file is empty after decompression", path)
            yield file
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise BadInput(f"this file is truncated or damaged: {error}", path) from None


def decode(data: bytes, path: Path, line: int) -> str:
    """Decode UTF-8 data that starts at line `line`; CRLF becomes LF, and byte order marks are removed."""

    def fault(message: str, place: int) -> BadInput:
        return BadInput(message, path, line + data.count(b"\n", 0, place))

    data = data.replace(b"\r\n", b"\n").removesuffix(b"\r")
    if b"\0" in data:
        expected = "the file is binary or UTF-16, not UTF-8"
        raise fault(f"this line contains a NUL byte: {expected}", data.index(b"\0"))
    if b"\r" in data:
        raise fault("a carriage return inside a line; lines must end in LF or CRLF", data.index(b"\r"))
    try:
        return data.decode("utf-8").replace("\ufeff", "")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x}"
        raise fault(f"{byte} is not UTF-8 ({error.reason})", error.start) from None


def without_marks(text: str) -> str:
    """Remove format characters between spaces, such as direction marks."""
    return text if text.isascii() else _FORMAT_ALONE.sub("", text)


def read_lines(path: Path, must_end: bool = False) -> Iterator[Numbered]:
    """Stream a file's numbered lines; if `must_end`, the last line must have a line ending."""
    with open_bytes(path) as file:
        for number, raw in enumerate(file, start=1):
            place = Place(path, number)
            if must_end and not raw.endswith(b"\n"):
                raise place.fault("no line ending: add one, unless the file is truncated")
            yield place, decode(raw.removesuffix(b"\n"), path, number)


def paragraphs(lines: Iterable[Numbered]) -> Iterator[list[Numbered]]:
    """Group lines into paragraphs, each with the blank line that ends it, if any."""
    paragraph = list[Numbered]()
    for numbered in lines:
        paragraph.append(numbered)
        if not numbered[1].strip():
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole records of a file: the bytes `data` from `offset` on, whose first line is number `line`."""

    path: Path
    kind: str
    offset: int
    line: int
    data: bytes

    def numbered(self) -> list[Numbered]:
        texts = decode(self.data, self.path, self.line).removesuffix("\n").split("\n")
        return [(Place(self.path, number), text) for number, text in enumerate(texts, start=self.line)]


def cut_file(
    path: Path, kind: str, size: int = SIZE, ends: Callable[[bytes], bool] = lambda line: line.endswith(b"\n")
) -> Iterator[Chunk]:
    """Divide a file into chunks of about `size` bytes, each ending with a line that `ends` accepts."""
    with open_bytes(path) as file:
        offset, line = 0, 1
        while data := file.read(size):
            parts, start = [data], data[data.rfind(b"\n") + 1 :]
            for tail in file:
                parts.append(tail)
                if ends(start + tail):
                    break
                start = b""
            data = b"".join(parts)
            yield Chunk(path, kind, offset, line, data)
            offset, line = offset + len(data), line + data.count(b"\n")


def tokens(line: str) -> list[str]:
    """Split a line at spaces and tabs only, because words may contain U+3000 or U+00A0."""
    return [token for token in line.replace("\t", " ").split(" ") if token]


def one_word(form: str, counts: Counter[str]) -> str:
    """Remove and count white space inside a word, which would split it later."""
    parts = form.split()
    if parts != [form]:
        counts["words that lost white space"] += 1
    return "".join(parts)
