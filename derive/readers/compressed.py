"""Files as bytes, whether compressed or not: gzip, xz and zstandard are told by how a file begins."""

from __future__ import annotations

import gzip
import io
import lzma
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from derive.errors import BadInput
from derive.readers.lines import check_file


def _zstandard(file: BinaryIO) -> Any:
    for module in ("compression.zstd", "backports.zstd"):  # the standard library's, from Python 3.14 on
        try:
            library = import_module(module)
        except ImportError:
            continue
        return library.ZstdFile(file)
    raise BadInput("zstandard, which this Python cannot read: pip install backports.zstd", Path(file.name))


COMPRESSIONS: dict[str, tuple[str, bytes, Callable[[BinaryIO], Any]]] = {
    ".gz": ("gzip", b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    ".xz": ("xz", b"\xfd7zXZ\0", lzma.LZMAFile),
    ".zst": ("zstandard", b"\x28\xb5\x2f\xfd", _zstandard),
}
"""What a compressed file's name ends with, its compression's name, how it begins, and what reads it."""


def opened(path: Path) -> BinaryIO:
    """Open a file to read its bytes, decompressed where it is compressed; `raw` is the file as it lies on the disk.

    Raises:
        BadInput: it is missing, empty, no file, or not compressed though its name says so; and while it is read, the
            compressed data are cut short or damaged.
    """
    check_file(path)
    file = path.open("rb")
    try:
        head = file.read(8)
        file.seek(0)
        for suffix, (name, magic, decompress) in COMPRESSIONS.items():
            if head.startswith(magic):
                return _Decompressed(path, name, file, decompress(file))
            if path.suffix == suffix:
                raise BadInput(f"named {suffix}, but it does not begin as {name} does", path)
    except BaseException:
        file.close()
        raise
    return file


def place(file: BinaryIO) -> int:
    """How many bytes of the file on the disk have been read, for progress."""
    return file.place() if isinstance(file, _Decompressed) else file.tell()


def bare_name(path: Path) -> str:
    """The file's name without the ending of a compression."""
    return path.stem if path.suffix in COMPRESSIONS else path.name


class _Reader(io.RawIOBase):
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


class _Decompressed(io.BufferedReader):
    """A buffer of decompressed bytes."""

    def __init__(self, path: Path, name: str, file: BinaryIO, data: Any) -> None:
        self._reader = _Reader(path, name, file, data)
        super().__init__(self._reader, 1 << 20)

    def place(self) -> int:
        return self._reader.file.tell()
