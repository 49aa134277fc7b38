"""Streams that end: what is decompressed may be no longer than what was said, however small the file is."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tarfile import TarError
from typing import IO, Any, Protocol
from zipfile import BadZipFile

from derive.errors import BadInput
from derive.files import writing

RATIO = 20
"""How many times as large as an archive its content may be, all together: text is 3 to 8 times as large."""
LEEWAY = 1 << 20
_BLOCK = 1 << 20
_OPEN: dict[str, Callable[[Path, str], Any]] = {".gz": gzip.open, ".tgz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes: ...


class Bounded(io.BufferedIOBase):
    """A binary stream of which at most `bound` bytes are read. `name` says in errors what is read.

    Raises:
        BadInput: when more than that is asked for and there.
    """

    def __init__(self, stream: IO[bytes], bound: int, name: str) -> None:
        self._stream, self._bound, self._left, self._name = stream, bound, bound, name

    def read(self, size: int | None = -1) -> bytes:
        """At most `size` bytes, or all; never more than one beyond the bound, which is refused."""
        block = self._stream.read(min(self._left + 1, self._left + 1 if size is None or size < 0 else size))
        self._left -= len(block)
        if self._left < 0:
            raise BadInput(f"more than {self._bound:,} bytes come out of it; expected no more", self._name)
        return block


def bound_of(archive: Path) -> int:
    """How many bytes may come out of an archive."""
    return RATIO * archive.stat().st_size + LEEWAY


@contextmanager
def decompressed(path: Path, name: str) -> Iterator[Bounded]:
    """A file's content, decompressed if `name` ends in .gz, .tgz, .xz or .bz2, and bounded."""
    suffix = re.search(r"\.[a-z0-9]+$", name)
    opened = _OPEN.get(suffix[0] if suffix else "", open)
    with opened(path, "rb") as stream:
        yield Bounded(stream, bound_of(path), name)


def copy(stream: Readable, to: Path) -> None:
    """Write what is left of a stream into a file."""
    with writing(to), to.open("wb") as file:
        while block := stream.read(_BLOCK):
            file.write(block)


@contextmanager
def undamaged(name: str) -> Iterator[None]:
    """Say of what is damaged that it is.

    Raises:
        BadInput: naming the file, where the block finds that it is cut short or no archive of its kind.
    """
    try:
        yield
    except (BadZipFile, TarError, zlib.error, lzma.LZMAError, EOFError, NotImplementedError) as error:
        raise BadInput(f"damaged, or no file of its kind: {error}", name) from None
    except OSError as error:
        if error.errno is not None:  # the disk's, not the archive's
            raise
        raise BadInput(f"damaged, or no file of its kind: {error}", name) from None
