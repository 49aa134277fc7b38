"""Files as bytes, decompressed where they are compressed: their first bytes say how."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, BinaryIO

from derive.errors import BadInput, NoFile

LIMIT = 1 << 26
"""The longest line, document or segment in bytes: what a reader may have to hold in memory."""
COMPRESSIONS: dict[str, tuple[str, re.Pattern[bytes], Callable[[BinaryIO], Any]]] = {
    ".bz2": ("bzip2", re.compile(rb"BZh[1-9](?:1AY&|\x17rE8)"), bz2.BZ2File),
    ".gz": ("gzip", re.compile(rb"\x1f\x8b"), lambda file: gzip.GzipFile(fileobj=file)),
    ".xz": ("xz", re.compile(rb"\xfd7zXZ\0"), lzma.LZMAFile),
}
"""By the ending of a file's name: its compression, how its contents begin, and what decompresses them."""
_OTHERS = {b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstandard"}
"""By how files begin: compressions that are not read, so that errors can name them."""


def check_file(path: Path) -> None:
    """Refuse a path that is not a regular file, or is empty."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise NoFile("no such file", path) from None
    except (OSError, ValueError) as error:  # a loop of links, a name too long or with a NUL
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"cannot be read: {reason}; expected a text file", path) from None
    if S_ISDIR(status.st_mode):
        raise BadInput("is a directory; expected a text file", path)
    if not S_ISREG(status.st_mode):
        raise BadInput("is a pipe or a device; expected a text file, which can be read more than once", path)
    if status.st_size == 0:
        raise BadInput("is empty; expected text", path)


def compression_of(data: bytes) -> str:
    """The compression, or the archive's format, of a file that begins with these bytes; empty if it has none."""
    names = (name for name, begins, _ in COMPRESSIONS.values() if begins.match(data))
    return next(names, next((name for begins, name in _OTHERS.items() if data.startswith(begins)), ""))


def open_bytes(path: Path) -> io.BufferedReader:
    """Open a file to read its bytes, decompressed."""
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
                raise BadInput(f"named {suffix}, but it does not begin as {name} does", path)
    except BaseException:
        file.close()
        raise
    return file


def raw_lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Stream the lines of a file as bytes, each with its end."""
    for number, line in enumerate(iter(lambda: file.readline(LIMIT), b""), start=1):
        if len(line) == LIMIT and not line.endswith(b"\n"):
            raise BadInput(f"no line end within {LIMIT >> 20} MiB", path, number)
        yield line


def bytes_read(file: io.BufferedReader) -> int:
    """How many bytes of the file on the disk have been read, for progress."""
    return file.raw.file.tell() if isinstance(file.raw, _Decompressed) else file.tell()


def bare_name(path: Path) -> str:
    """The file's name without the ending of a compression."""
    return path.stem if path.suffix in COMPRESSIONS else path.name


class _Decompressed(io.RawIOBase):
    """Decompressed bytes, whose errors name the file."""

    def __init__(self, path: Path, name: str, file: BinaryIO, data: Any) -> None:
        self._path, self._name, self.file, self._data = path, name, file, data

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return int(self._data.readinto(buffer))
        except EOFError:
            raise BadInput(f"{self._name} that is cut short: the end of the data is missing", self._path) from None
        except Exception as error:  # each library has an error of its own
            raise BadInput(f"damaged {self._name}: {error}", self._path) from None

    def close(self) -> None:
        if not self.closed:
            self._data.close()
            self.file.close()
        super().close()
