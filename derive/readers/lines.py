"""Functions shared by readers: decompress files, decode lines, and divide files into chunks of whole
records."""

import bz2
import gzip
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, BinaryIO, NamedTuple

from calque.derive import strict_json
from calque.derive.errors import BadInput, NoFile
from calque.derive.sentence import Sentence

EDITION = 2  # incremented when the same files would yield different sentences or examples
LIMIT = 1 << 26  # maximum size in bytes of a line or record, which must fit in memory
SIZE = 1 << 22  # approximate size of a chunk in bytes
COMPRESSIONS: dict[str, tuple[str, re.Pattern[bytes], Callable[[Path], Any]]] = {
    ".bz2": ("bzip2", re.compile(rb"BZh[1-9](?:1AY&|\x17rE8)"), bz2.open),
    ".gz": ("gzip", re.compile(rb"\x1f\x8b"), gzip.open),
    ".xz": ("xz", re.compile(rb"\xfd7zXZ\0"), lzma.open),
}
"""Maps a suffix to the compression's name, a pattern for a file's first bytes, and the function that opens
it."""
_OTHERS = {b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstandard"}
_UTF_16 = "UTF-16; expected UTF-8: convert it, for example with iconv -f UTF-16 -t UTF-8"

MARKS = "byte order marks where files were joined, removed"
FORMAT_ALONE = "format characters between spaces (direction marks), removed"
WITHHELD = "sentences whose words are withheld"
CUT = "the last line has no line ending: either the file is truncated, or you must add one"
_MARK = b"\xef\xbb\xbf"
_LEADING_MARKS = re.compile(rb"^(?:\xef\xbb\xbf)+", re.MULTILINE)
FORMAT = (
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0001\U000e0020-\U000e007f"
)
"""Invisible format characters: soft hyphens, joiners, direction marks, tags."""
FORMAT_RUN = re.compile(rf"[{FORMAT}]+")
_FORMAT_ALONE = re.compile(rf"(?<![^ \n])[{FORMAT}]+(?: |(?=\n)|$)")
_WITHHELD_WORD = re.compile(r"_+|\[WORD\]")
_WITHHELD_TEXT = re.compile(rf"(?:{_WITHHELD_WORD.pattern})(?:\s+(?:{_WITHHELD_WORD.pattern}))+")


class Place(NamedTuple):
    """A location in a file."""

    path: Path
    line: int | None = None

    def fault(self, message: str) -> BadInput:
        """Return a BadInput with this location."""
        return BadInput(message, self.path, self.line)

    def text(self, value: Any, what: str) -> str:
        """Return the value if it is text that can be written to a file; otherwise, raise a BadInput that
        names `what`."""
        if not isinstance(value, str):
            raise self.fault(f"{what} is {'missing' if value is None else repr(value)}; expected text")
        if not strict_json.is_text(value):
            raise self.fault(f"{what} contains a NUL or half a surrogate pair; expected text")
        return value

    def json(self, line: str) -> dict[str, Any]:
        """Parse a line that must contain a JSON object."""
        try:
            value = strict_json.loads(line)
        except ValueError as error:
            raise self.fault(f"not JSON: {error}") from None
        if not isinstance(value, dict):
            raise self.fault(f"a JSON {type(value).__name__}; expected an object")
        return value


Numbered = tuple[Place, str]  # the location of a line or word, and its text (without the line ending)


def check_file(path: Path) -> None:
    """Raise BadInput if a file is missing, empty or not regular."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise NoFile("no such file", path) from None
    except (OSError, ValueError) as error:  # such as a loop of symbolic links, or a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"cannot read this file: {reason}", path) from None
    if S_ISDIR(status.st_mode):
        raise BadInput("this is a folder, not a text file", path)
    if not S_ISREG(status.st_mode):
        raise BadInput(
            "this is a pipe or a device; use a regular file, because it is read more than once", path
        )
    if status.st_size == 0:
        raise BadInput("the file is empty", path)


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file, which is decompressed if its first bytes indicate a compressed format."""
    check_file(path)
    with path.open("rb") as file:
        name, decompress = _compression(path, file.read(8))
        file.seek(0)
        if not name:
            yield file
            return
        with _faults(path, name), decompress(path) as data:
            if not data.peek(1):
                raise BadInput(f"the file is empty after decompression ({name})", path)
            yield data


def _compression(path: Path, head: bytes) -> tuple[str, Callable[[Path], Any]]:
    """Given a file's first bytes, return its compression's name ("" for none) and the function that opens
    it."""
    for start, name in _OTHERS.items():
        if head.startswith(start):
            raise BadInput(f"{name} compression is not supported; decompress this file first", path)
    for suffix, (name, begins, decompress) in COMPRESSIONS.items():
        if begins.match(head):
            return name, decompress
        if path.suffix == suffix:
            raise BadInput(f"this file has the suffix {suffix} but is not a {name} file", path)
    return "", Path.open


@contextmanager
def _faults(path: Path, name: str) -> Iterator[None]:
    try:
        yield
    except EOFError:
        raise BadInput(f"this {name} file is truncated: the end of the data is missing", path) from None
    except (OSError, zlib.error, lzma.LZMAError) as error:
        raise BadInput(f"damaged {name}: {error}", path) from None


def decode(data: bytes, path: Path, line: int, counts: Counter[str] | None = None) -> str:
    """Decode UTF-8 data that starts at line `line`. CRLF is converted to LF, and byte order marks at line
    starts are removed."""
    if line == 1 and _is_wide(data):
        raise BadInput(_UTF_16, path, 1)
    if b"\0" in data:
        number = line + data.count(b"\n", 0, data.index(b"\0"))
        raise BadInput("this line contains a NUL byte, so the file is binary, not text", path, number)
    if _MARK in data:
        removed = sum(len(marks) for marks in _LEADING_MARKS.findall(data)) // len(_MARK)
        if counts is not None and (joined := removed - (line == 1 and data.startswith(_MARK))):
            counts[MARKS] += joined
        data = _LEADING_MARKS.sub(b"", data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = line + data.count(b"\n", 0, error.start)
        fault = f"byte 0x{data[error.start]:02x} is not UTF-8 ({error.reason})"
        raise BadInput(fault, path, number) from None
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
        if "\r" in text:
            number = line + text.count("\n", 0, text.index("\r"))
            raise BadInput("a carriage return inside a line; lines must end in LF or CRLF", path, number)
    return text


def _is_wide(data: bytes) -> bool:
    """Whether data starts with a UTF-16 byte order mark, or every other byte is NUL."""
    head = data[:8]
    every_other = len(head) > 1 and any(head) and not (any(head[::2]) and any(head[1::2]))
    return every_other or data.startswith((b"\xff\xfe", b"\xfe\xff"))


def without_marks(text: str, counts: Counter[str]) -> str:
    """Remove and count byte order marks, and format characters between spaces."""
    if "\ufeff" in text:
        counts[MARKS] += text.count("\ufeff")
        text = text.replace("\ufeff", "")
    if not text.isascii():
        text, alone = _FORMAT_ALONE.subn("", text)
        counts[FORMAT_ALONE] += alone
    return text


def stripped(lines: Iterable[str], counts: Counter[str]) -> list[str]:
    """Strip lines; leave out and count blank lines and lines that consist of withheld words."""
    bare = [without_marks(line, counts).strip() for line in lines]
    kept = [line for line in bare if line]
    shown = [line for line in kept if not is_withheld(line)]
    counts["blank lines"] += len(bare) - len(kept)
    counts[WITHHELD] += len(kept) - len(shown)
    return shown


class Lines:
    """Iterates over the numbered lines of a file, which may be compressed. If `must_end`, the last line must
    have a line ending."""

    def __init__(self, path: Path, counts: Counter[str] | None = None, must_end: bool = False) -> None:
        self.path, self._must_end = path, must_end
        self.counts = Counter[str]() if counts is None else counts
        self.number, self._ended = 0, True

    def __iter__(self) -> Iterator[Numbered]:
        with open_bytes(self.path) as file:
            for number, raw in enumerate(raw_lines(file, self.path), start=1):
                self.number, self._ended = number, raw.endswith(b"\n")
                line = decode(raw.removesuffix(b"\n"), self.path, number, self.counts)
                if self._must_end:
                    self.check_end()
                yield Place(self.path, number), line

    def check_end(self) -> None:
        """Raise BadInput if the last line has no line ending."""
        if not self._ended:
            raise BadInput(CUT, self.path, self.number)


def raw_lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield an open file's lines with their line endings; raise BadInput for lines that are too long."""
    for number, line in enumerate(iter(lambda: file.readline(LIMIT), b""), start=1):
        if len(line) == LIMIT and not line.endswith(b"\n"):
            raise BadInput(f"this line is longer than {LIMIT >> 20} MiB", path, number)
        yield line


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a file that consists of whole records: `length` bytes from `offset`, where line `line`
    starts."""

    path: Path
    kind: str
    offset: int
    length: int
    line: int

    def begins_within(self, megabytes: int) -> bool:
        """Whether the chunk begins within the first `megabytes` of its file (0: no limit)."""
        return not megabytes or self.offset < megabytes * 1_000_000

    def numbered(self, counts: Counter[str]) -> list[Numbered]:
        """Return the chunk's lines."""
        text = decode(self._data(), self.path, self.line, counts)
        lines = enumerate(text.removesuffix("\n").split("\n"), start=self.line)
        return [(Place(self.path, number), line) for number, line in lines]

    def _data(self) -> bytes:
        with self.path.open("rb") as file:
            name, _ = _compression(self.path, file.read(8))
            if not name:
                file.seek(self.offset)
                return file.read(self.length)
        status = self.path.stat()
        kept = _kept_open(self.path, status.st_ino, status.st_size, status.st_mtime_ns)
        with _faults(self.path, name):
            kept.seek(self.offset)
            return bytes(kept.read(self.length))


@lru_cache(maxsize=2)  # the two files of a bitext
def _kept_open(path: Path, *state: int) -> Any:
    """Open a compressed file and keep it open, so that the next chunk is not read from the beginning."""
    with path.open("rb") as file:
        _, decompress = _compression(path, file.read(8))
    return decompress(path)


def _is_whole(line: bytes) -> bool:
    return line.endswith(b"\n")


def cut_file(
    path: Path, kind: str, size: int = SIZE, ends: Callable[[bytes], bool] = _is_whole, what: str = "line end"
) -> Iterator[Chunk]:
    """Divide a file into chunks of about `size` bytes, each up to a line that `ends` accepts; `what`
    describes such a line in messages."""
    with open_bytes(path) as file:
        offset, line = 0, 1
        while data := file.read(size):
            length, lines = len(data), data.count(b"\n")
            while rest := file.readline(LIMIT):
                length, lines = length + len(rest), lines + rest.count(b"\n")
                if length > size + LIMIT:
                    raise BadInput(f"found no {what} within {LIMIT >> 20} MiB", path, line)
                if ends(rest):
                    break
            yield Chunk(path, kind, offset, length, line)
            offset, line = offset + length, line + lines


def tokens(line: str) -> list[str]:
    """Split a tokenised line at spaces and tabs only, because words may contain U+3000 or U+00A0."""
    return [token for token in line.replace("\t", " ").split(" ") if token]


def one_word(form: str, counts: Counter[str]) -> str:
    """Remove white space inside a word, because it would split the word later; repairs are counted in
    `counts`."""
    parts = form.split()
    if parts != [form]:
        counts["words that lost white space"] += 1
    return "".join(parts)


def is_withheld(text: str) -> bool:
    """Whether a text consists of at least two placeholders, `_` or `[WORD]`."""
    return _WITHHELD_TEXT.fullmatch(text.strip()) is not None


def readable(
    sentences: Iterable[tuple[Sentence, Sequence[Numbered]]],
    path: Path,
    counts: Counter[str],
    withheld: bool = False,
    whole: bool = True,
) -> Iterator[Sentence]:
    """Yield an annotated file's sentences, each given with its words and their places as in the file. Those
    without words or, unless `withheld`, with withheld words are left out and counted in `counts`. Raise
    BadInput if most words are withheld or if a `whole` file contains no sentences."""
    words, found = WithheldWords(), False
    for sentence, forms in sentences:
        found = found or bool(sentence.words)
        words.add(forms)
        if not forms:
            counts["sentences without words, left out"] += 1
        if not withheld and is_withheld(" ".join(form for _, form in forms)):
            counts[WITHHELD] += 1
        elif sentence.words:
            yield sentence
    if whole and not found:
        raise BadInput("this file contains no sentences", path)
    if not withheld:
        words.check()


@dataclass
class WithheldWords:
    """Counts the placeholders that replace words in treebanks whose text may not be distributed."""

    words: int = 0
    withheld: int = 0
    first: Numbered | None = None

    def add(self, words: Iterable[Numbered]) -> None:
        for place, word in words:
            self.words += 1
            if _WITHHELD_WORD.fullmatch(word):
                self.withheld += 1
                self.first = self.first or (place, word)

    def check(self) -> None:
        """Raise BadInput if most words are placeholders."""
        if self.first and 2 * self.withheld > self.words:
            place, word = self.first
            fault = f"{self.withheld:,} of {self.words:,} words are {word}"
            expected = "expected the words (see the data's README for how to get them)"
            raise place.fault(f"{fault}: the text is withheld for its licence; {expected}")
