"""Large files as blocks of whole records, so that workers can read them and memory does not grow with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from derive.errors import BadInput
from derive.readers.compressed import LIMIT, opened, place
from derive.readers.lines import decode

SIZE = 1 << 22
"""Bytes of a block, about."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole records of a file: `data` begins at line `line`, from 1, and at byte `offset` of the decompressed
    file. For them `size` bytes of the file on the disk were read."""

    path: Path
    line: int
    offset: int
    data: bytes
    size: int

    def lines(self, counts: Counter[str]) -> list[str]:
        """Its lines without their ends.

        Raises:
            BadInput: as `decode`.
        """
        return decode(self.data, self.path, self.line, counts).removesuffix("\n").split("\n")


def ends_line(line: bytes) -> bool:
    """Whether a line has its end: what ends a record of one line."""
    return line.endswith(b"\n")


def blocks(
    path: Path, ends: Callable[[bytes], bool], what: str, size: int = SIZE, limit: int = LIMIT
) -> Iterator[Block]:
    """Cut a file, compressed or not, into pieces of about `size` bytes that end with a record.

    Where it is cut depends on the file and the size alone. `ends` says whether a line ends a record, `what` is missing
    where none does.

    Raises:
        BadInput: no place to cut within `limit` bytes, or the file cannot be read.
    """
    with opened(path) as file:
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
            yield Block(path, line, offset, data, place(file) - before)
            offset, line, before = offset + length, line + data.count(b"\n"), place(file)
