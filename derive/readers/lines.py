"""The basis of every reader: decompressed files as bytes, and strictly decoded lines, one by one or in blocks."""

import bz2
import gzip
import io
import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from math import isfinite
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, BinaryIO, NamedTuple, Self

from calque.derive.errors import BadInput, NoFile
from calque.derive.strict_json import is_text

EDITION = 2  # increases when readers give other sentences or examples for the same files
LIMIT = 1 << 26  # maximum bytes of a line, document or segment, which a reader holds in memory
COMPRESSIONS: dict[str, tuple[str, re.Pattern[bytes], Callable[[BinaryIO], Any]]] = {
    ".bz2": ("bzip2", re.compile(rb"BZh[1-9](?:1AY&|\x17rE8)"), bz2.BZ2File),
    ".gz": ("gzip", re.compile(rb"\x1f\x8b"), lambda file: gzip.GzipFile(fileobj=file)),
    ".xz": ("xz", re.compile(rb"\xfd7zXZ\0"), lzma.LZMAFile),
}
"""By a file name's suffix: the compression, the start of the contents, and the decompressor."""
_OTHERS = {b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstandard"}
"""Unsupported compressions by the start of the contents, for error messages."""


def check_file(path: Path) -> None:
    """Refuse a path that is empty or not a regular file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise NoFile("no such file", path) from None
    except (OSError, ValueError) as error:  # for example a loop of links, or a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"cannot be read: {reason}; expected a text file", path) from None
    if S_ISDIR(status.st_mode):
        raise BadInput("is a directory; expected a text file", path)
    if not S_ISREG(status.st_mode):
        raise BadInput("is a pipe or a device; expected a text file, which can be read more than once", path)
    if status.st_size == 0:
        raise BadInput("is empty; expected text", path)


def compression_of(data: bytes) -> str:
    """The compression or archive format of a file that starts with these bytes; empty if there is none."""
    names = (name for name, begins, _ in COMPRESSIONS.values() if begins.match(data))
    return next(names, next((name for begins, name in _OTHERS.items() if data.startswith(begins)), ""))


def open_bytes(path: Path) -> io.BufferedReader:
    """Open a file, decompressed if its first bytes show a compression."""
    check_file(path)
    file = path.open("rb")
    try:
        head = file.read(8)
        file.seek(0)
        for suffix, (name, begins, decompress) in COMPRESSIONS.items():
            if begins.match(head):
                data: io.BufferedReader = io.BufferedReader(_Decompressed(path, name, file, decompress(file)), 1 << 20)
                if not data.peek(1):
                    raise BadInput(f"{name} of an empty file; expected text", path)
                return data
            if path.suffix == suffix:
                raise BadInput(f"has the suffix {suffix} but does not start like {name}", path)
    except BaseException:
        file.close()
        raise
    return file


def read_at(path: Path, offset: int, length: int) -> bytes:
    """`length` bytes of a file's contents from `offset`. A compressed file stays open, to read on from there later."""
    with open_bytes(path) as file:
        if not isinstance(file.raw, _Decompressed):
            file.seek(offset)
            return file.read(length)
    status = path.stat()
    kept = _kept_open(path, status.st_ino, status.st_size, status.st_mtime_ns)
    kept.seek(offset)
    return kept.read(length)


_kept_open = lru_cache(maxsize=1)(lambda path, *state: open_bytes(path))


def raw_lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """The lines of an open file with their line ends; a line longer than LIMIT bytes is refused."""
    for number, line in enumerate(iter(lambda: file.readline(LIMIT), b""), start=1):
        if len(line) == LIMIT and not line.endswith(b"\n"):
            raise BadInput(f"no line end within {LIMIT >> 20} MiB", path, number)
        yield line


def bytes_read(file: io.BufferedReader) -> int:
    """The number of bytes read from the file on disk, for progress."""
    return file.raw.file.tell() if isinstance(file.raw, _Decompressed) else file.tell()


def bare_name(path: Path) -> str:
    """The file's name without the suffix of a compression."""
    return path.stem if path.suffix in COMPRESSIONS else path.name


class _Decompressed(io.RawIOBase):
    def __init__(self, path: Path, name: str, file: BinaryIO, data: Any) -> None:
        self._path, self._name, self.file, self._data = path, name, file, data

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._checked(self._data.readinto, buffer)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._checked(self._data.seek, offset, whence)

    def _checked(self, method: Callable[..., int], *arguments: Any) -> int:
        try:
            return int(method(*arguments))
        except EOFError:
            raise BadInput(f"truncated {self._name}: the end of the data is missing", self._path) from None
        except Exception as error:  # each library has its own errors
            raise BadInput(f"damaged {self._name}: {error}", self._path) from None

    def close(self) -> None:
        if not self.closed:
            self._data.close()
            self.file.close()
        super().close()


Numbered = tuple[int, str]  # a line's number, from 1, and the line without its end
SIZE = 1 << 22  # approximate bytes of a block
MARKS = "byte order marks where files were joined, removed"
FORMAT_ALONE = "runs of format characters alone (direction marks), removed"
WITHHELD = "sentences whose words are withheld"
CUT = "the last line has no line end: the file is truncated, or add one if it is whole"
_MARK = b"\xef\xbb\xbf"
_LEADING_MARKS = re.compile(rb"^(?:\xef\xbb\xbf)+", re.MULTILINE)
FORMAT = "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f"
"""Invisible format characters: soft hyphens, joiners, direction marks, tags."""
FORMAT_RUN = re.compile(rf"[{FORMAT}]+")
_FORMAT_ALONE = re.compile(rf"(?<![^ \n])[{FORMAT}]+(?: |(?=\n)|$)")
_WITHHELD_WORD = re.compile(r"_+|\[WORD\]")
_WITHHELD_TEXT = re.compile(rf"(?:{_WITHHELD_WORD.pattern})(?:\s+(?:{_WITHHELD_WORD.pattern}))+")
_ENDS = re.compile(r"\r\n|\n|\r")
_INTEGER = re.compile(r"[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Place(NamedTuple):
    """A file, and optionally a line in it."""

    path: Path
    line: int | None = None

    def fault(self, message: str) -> BadInput:
        return BadInput(message, self.path, self.line)

    def text(self, value: Any, what: str) -> str:
        """A JSON value as text that can be written to a file."""
        if not isinstance(value, str):
            raise self.fault(f"{what} is {'missing' if value is None else repr(value)}; expected text")
        if not is_text(value):
            raise self.fault(f"{what} contains a NUL or half a surrogate pair; expected text")
        return value


def decode(data: bytes, path: Path, line: int, counts: Counter[str] | None = None) -> str:
    """Decode UTF-8 that starts at line `line` of the file; CRLF becomes a line feed. Byte order marks at the start of
    lines are removed, and counted except at the start of the file."""
    if line == 1:
        head = data[:8]
        wide = any(head) and not (any(head[::2]) and any(head[1::2])) and len(head) > 1  # every other byte is NUL
        if wide or data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise BadInput("UTF-16; expected UTF-8: convert it, for example with iconv -f UTF-16 -t UTF-8", path, 1)
        if name := compression_of(data):
            raise BadInput(f"compressed with {name}; expected text: decompress it first", path)
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


def without_marks(text: str, counts: Counter[str]) -> str:
    """Running text without byte order marks, which joining files leaves inside, and without format characters alone
    between spaces, such as direction marks; both are counted."""
    if "\ufeff" in text:
        counts[MARKS] += text.count("\ufeff")
        text = text.replace("\ufeff", "")
    if not text.isascii():
        text, alone = _FORMAT_ALONE.subn("", text)
        counts[FORMAT_ALONE] += alone
    return text


def stripped(texts: Iterable[str], counts: Counter[str]) -> list[str]:
    """The lines of texts, stripped of white space; blank and withheld lines are left out and counted."""
    lines = [without_marks(line, counts).strip() for text in texts for line in _ENDS.split(text)]
    kept = [line for line in lines if line]
    shown = [line for line in kept if not is_withheld(line)]
    counts["blank lines"] += len(lines) - len(kept)
    counts[WITHHELD] += len(kept) - len(shown)
    return shown


class Lines:
    """The lines of a file, compressed or not, without line ends and numbered from 1; removals are added to `counts`.
    `ended`: the last line read has a line end. `must_end` refuses a last line without: it may be truncated."""

    def __init__(self, path: Path, counts: Counter[str] | None = None, must_end: bool = False) -> None:
        self.path, self.counts, self._must_end = path, counts, must_end
        self.number, self.ended = 0, True

    def __iter__(self) -> Iterator[Numbered]:
        with open_bytes(self.path) as file:
            for number, raw in enumerate(raw_lines(file, self.path), start=1):
                self.number, self.ended = number, raw.endswith(b"\n")
                line = decode(raw.removesuffix(b"\n"), self.path, number, self.counts)
                if self._must_end:
                    self.check_end()
                yield number, line

    def check_end(self) -> None:
        if not self.ended:
            raise BadInput(CUT, self.path, self.number)


def read_lines(path: Path, counts: Counter[str] | None = None, *, ended: bool = False) -> Iterator[Numbered]:
    """Stream the numbered lines of a file: see `Lines`, whose `must_end` is `ended`."""
    return iter(Lines(path, counts, ended))


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole records of a file, from line `line` and decompressed byte `offset`; `size` bytes read from disk."""

    path: Path
    line: int
    offset: int
    data: bytes
    size: int

    def lines(self, counts: Counter[str]) -> list[str]:
        return decode(self.data, self.path, self.line, counts).removesuffix("\n").split("\n")


Columns = tuple[list[str], ...]  # lines of one language, or parallel lines of two, none blank
Change = Callable[[Columns, Counter[str]], Columns]


@dataclass(frozen=True)
class Piece:
    """Some whole records of files, the same for every reader. `read` finds the lines in the `content`, then `changes`
    apply in order; all can be pickled. `offset` is its start in uncompressed bytes, `size` the bytes read from disk."""

    content: Any
    read: Callable[[Any, Counter[str]], Columns]
    offset: int
    size: int
    changes: tuple[Change, ...] = ()

    def then(self, change: Change) -> Self:
        return replace(self, changes=(*self.changes, change))

    def columns(self, left_out: Counter[str]) -> Columns:
        """Read the piece; `left_out` counts its exclusions."""
        columns = self.read(self.content, left_out)
        for change in self.changes:
            columns = change(columns, left_out)
        return columns


def ends_line(line: bytes) -> bool:
    """Whether a block may end after these bytes: at the end of any line."""
    return line.endswith(b"\n")


def blocks(
    path: Path, ends: Callable[[bytes], bool], what: str, size: int = SIZE, limit: int = LIMIT
) -> Iterator[Block]:
    """Cut a file into blocks of about `size` bytes, up to a line that `ends` a record, which errors call `what`."""
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


def up_to(megabytes: int, pieces: Iterable[Any]) -> Iterator[Any]:
    """The pieces of a file up to the one that reaches `megabytes`; all of them for 0."""
    return takewhile(lambda piece: not megabytes or piece.offset < megabytes * 1_000_000, pieces)


def tokens(line: str) -> list[str]:
    """The words of a line of tokenised text, separated by spaces and tabs. Other white space belongs to words, because
    word links depend on it: U+3000 is a word in Japanese sets, as is `1 000` with a no-break space."""
    return [token for token in line.replace("\t", " ").split(" ") if token]


def one_word(form: str, counts: Counter[str]) -> str:
    """The form without the white space inside it, which is counted; elsewhere white space separates words."""
    parts = form.split()
    if parts != [form]:
        counts["words that lost white space"] += 1
    return "".join(parts)


def is_withheld(text: str) -> bool:
    """Whether a text has two or more words and all are marks for words whose text is not licensed: `_`, `[WORD]`."""
    return _WITHHELD_TEXT.fullmatch(text.strip()) is not None


@dataclass
class WithheldWords:
    """Counts marks that replace every word in treebanks whose text is not licensed."""

    words: int = 0
    withheld: int = 0
    first: str = ""  # the first such word
    line: int = 0  # its line

    def add(self, words: Iterable[str], line: int) -> None:
        for word in words:
            self.words += 1
            if _WITHHELD_WORD.fullmatch(word):
                self.withheld += 1
                self.first, self.line = self.first or word, self.line or line

    def check(self, path: Path) -> None:
        if 2 * self.withheld > self.words:
            fault = f"{self.withheld:,} of {self.words:,} words are {self.first}: the text is withheld for its licence"
            hint = "expected the words (see the data's README for how to get them)"
            raise BadInput(f"{fault}; {hint}", path, self.line)


def parse_integer(text: str) -> int:
    """A whole number from 0 in ASCII digits; ValueError otherwise, also for 1_000, which Python's `int` accepts."""
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def parse_number(text: str) -> float:
    """A finite number in ASCII digits, such as -0.5 or 1e-3; ValueError otherwise, also for 0_1, nan and inf."""
    if not _NUMBER.fullmatch(text) or not isfinite(value := float(text)):
        raise ValueError(f"{text!r} is not a number")
    return value
