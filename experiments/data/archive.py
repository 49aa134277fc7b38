"""Unpacking downloads: members of zip and tar archives, which may be nested, and selected rows of tables.

Only members named by a recipe are unpacked, to paths that the recipe gives. Links, encrypted members,
duplicate names and oversized content are rejected.
"""

import bz2
import gzip
import io
import lzma
import shutil
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from calque.derive.errors import BadInput, nearest
from calque.derive.files import writing
from calque.experiments.data.recipe import Output

TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
ZIPS = (".zip",)
RATIO, LEEWAY = 20, 1 << 20
"""The maximum ratio of content size to archive size (usually 3 to 8 for text), and an extra allowance in
bytes."""
LONGEST = 1 << 24  # maximum bytes per table row
OPEN: dict[str, Callable[[Path, str], Any]] = {
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}


class Bounded(io.BufferedIOBase):
    """A binary stream that raises BadInput, naming `name`, if its content exceeds `bound` bytes."""

    def __init__(self, stream: IO[bytes], bound: int, name: str) -> None:
        self._stream, self._bound, self._left, self._name = stream, bound, bound, name

    def read(self, size: int | None = None) -> bytes:
        most = self._left + 1
        block = self._stream.read(most if size is None or size < 0 else min(size, most))
        self._left -= len(block)
        if self._left < 0:
            raise BadInput(f"unpacks to more than {self._bound:,} bytes", self._name)
        return block


def unpack(archive: Path, name: str, outputs: Sequence[Output], folder: Path) -> dict[str, Path]:
    """Unpack the download `name` into the new folder `folder`, and return the files by output path."""
    folder.mkdir(parents=True)
    members = {output.inside for output in outputs if output.inside}
    files = _members(archive, name, members, folder / "members")
    files[()] = archive
    if any(output.decompress for output in outputs):
        files[()] = folder / "decompressed"
        with _undamaged(name), _decompressed(archive, name) as stream:
            _copy(stream, files[()])
    places = {}
    for number, output in enumerate(outputs):
        places[output.place] = files[output.inside]
        if output.where:
            places[output.place] = folder / f"rows-{number}"
            _write_rows(files[output.inside], output, places[output.place], name)
    return places


def _members(
    archive: Path, name: str, names: set[tuple[str, ...]], folder: Path
) -> dict[tuple[str, ...], Path]:
    if not names:
        return {}
    folder.mkdir()
    outer, there, files = {inside[0] for inside in names}, list[str](), dict[str, Path]()
    with _undamaged(name):
        for member, opened in _entries(archive, name):
            there.append(member)
            if member not in outer:
                continue
            if opened is None:
                raise BadInput(f"{member[:80]!r} is not a regular, unencrypted file", name)
            if member in files:
                raise BadInput(f"two members are called {member[:80]!r}; expected one", name)
            files[member] = folder / str(len(files))
            with opened() as content:
                _copy(Bounded(content, _bound(archive), name), files[member])
    for member in sorted(outer - files.keys()):
        near = nearest(member, there)
        raise BadInput(f"contains no member {member[:80]!r}{f'; {near}' if near else ''}", name)
    found: dict[tuple[str, ...], Path] = {(member,): path for member, path in files.items()}
    for member, path in files.items():
        inner = {inside[1:] for inside in names if inside[0] == member and inside[1:]}
        deeper = _members(path, f"{name}/{member}", inner, path.with_name(f"{path.name}-members"))
        found |= {(member, *inside): file for inside, file in deeper.items()}
    return found


def _entries(archive: Path, name: str) -> Iterator[tuple[str, Callable[[], Any] | None]]:
    """Yield each member's name and a function that opens it, or None if it is not a regular file."""
    if name.endswith(ZIPS):
        with ZipFile(archive) as zipped:
            for info in zipped.infolist():
                kind = stat.S_IFMT(info.external_attr >> 16)
                plain = not info.is_dir() and kind in (0, stat.S_IFREG) and not info.flag_bits & 1
                yield info.filename, partial(zipped.open, info) if plain else None
    elif name.endswith(TARS):
        with _decompressed(archive, name) as stream, tarfile.open(fileobj=stream, mode="r|") as tarred:
            for entry in tarred:
                opened = partial(tarred.extractfile, entry) if entry.isreg() else None
                yield entry.name.removeprefix("./"), opened
    else:
        raise BadInput(f"not an archive: its name must end in one of {', '.join(ZIPS + TARS)}", name)


def _write_rows(table: Path, output: Output, to: Path, name: str) -> None:
    where = {column.encode(): value.encode() for column, value in output.where.items()}
    with writing(to), table.open("rb") as file, to.open("wb") as chosen:
        lines = iter(partial(file.readline, LONGEST), b"")
        header = next(lines, b"")
        columns = header.rstrip(b"\r\n").split(b"\t")
        if missing := where.keys() - set(columns):
            raise BadInput(f"has no column {min(missing).decode()!r}", name, 1)
        values = {columns.index(column): value for column, value in where.items()}
        start = chosen.write(header)
        for number, line in enumerate(lines, start=2):
            row = line.rstrip(b"\r\n").split(b"\t")
            if len(row) <= max(values):
                raise BadInput(f"{len(row)} columns; expected {max(values) + 1} or more", name, number)
            if all(row[place] == value for place, value in values.items()):
                chosen.write(line)
        if chosen.tell() == start:
            raise BadInput(f"no row contains the values {output.where}", name)


def _bound(archive: Path) -> int:
    return RATIO * archive.stat().st_size + LEEWAY


@contextmanager
def _decompressed(path: Path, name: str) -> Iterator[Bounded]:
    with OPEN.get(Path(name).suffix, open)(path, "rb") as stream:
        yield Bounded(stream, _bound(path), name)


def _copy(stream: Any, to: Path) -> None:
    with writing(to), to.open("wb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)


@contextmanager
def _undamaged(name: str) -> Iterator[None]:
    try:
        yield
    except (
        BadZipFile,
        tarfile.TarError,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        NotImplementedError,
        OSError,
    ) as error:
        if getattr(error, "errno", None) is not None:  # an error from the disk instead of the archive
            raise
        raise BadInput(f"damaged, or not in the format that its name suggests: {error}", name) from None
