"""The data folder: which files of a recipe are there, and the digests of what was put there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from derive.artefact import read_sealed, write_sealed
from derive.errors import BadInput
from derive.files import sha256
from experiments.data.recipe import Download, Output

LOCK = "fetched.json"
"""The file of the data folder with the digests of what was fetched: of downloads by address, of files by place."""
WORK = ".fetching"
"""The folder below the data folder where downloads grow and are unpacked."""


class State(StrEnum):
    """Whether a file is what the recipe, or the lock file, says; `UNKNOWN` where neither says anything of it."""

    THERE = "there"
    MISSING = "missing"
    ALTERED = "altered"
    UNKNOWN = "unchecked"


@dataclass(frozen=True)
class Placed:
    """What the lock file knows of a file: digest and size, and the time in ns of its last change."""

    sha256: str
    bytes: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> Placed:
        status = path.stat()
        return cls(sha256(path), status.st_size, status.st_mtime_ns)


class Store:
    """A data folder, which need not exist yet.

    Raises:
        BadInput: there is a file in its place, or its lock file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise BadInput("is a file; expected the data folder, or a place for it", folder)
        self.folder = folder
        self._lock = _Lock.read(folder / LOCK)

    @property
    def work(self) -> Path:
        return self.folder / WORK

    @property
    def claim(self) -> Path:
        """What a process claims while it fetches."""
        return self.folder / "fetching"

    def path(self, output: Output) -> Path:
        return self.folder / output.place

    def state(self, output: Output) -> State:
        """Whether the file is there. A size and a time of change that the lock file knows stand for its digest."""
        path, known = self.path(output), self._lock.places.get(output.place)
        digest = output.sha256 or (known.sha256 if known else "")
        size = output.bytes or (known.bytes if known else 0)
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return State.MISSING
        if not path.is_file() or (size and size != status.st_size):
            return State.ALTERED
        if not digest:
            return State.UNKNOWN
        if known == Placed(digest, status.st_size, status.st_mtime_ns):
            return State.THERE
        return State.THERE if sha256(path) == digest else State.ALTERED

    def seen(self, download: Download) -> str:
        """The digest that the download had when it was last fetched; empty where it never was."""
        return self._lock.downloads.get(download.url, "")

    def remember(self, download: Download, digest: str, placed: dict[str, Placed]) -> None:
        """Write into the lock file what a download was and what came out of it, before that is put in place."""
        self._lock.downloads[download.url] = digest
        self._lock.places |= placed
        self._lock.write(self.folder / LOCK)


@dataclass
class _Lock:
    downloads: dict[str, str]
    places: dict[str, Placed]

    @classmethod
    def read(cls, path: Path) -> _Lock:
        if not path.exists():
            return cls({}, {})
        made: dict[str, Any] = read_sealed(path, "the digests of what was fetched")
        try:
            return cls(dict(made["downloads"]), {place: Placed(**known) for place, known in made["places"].items()})
        except (KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"not the digests of what was fetched: {error}; remove it", path) from None

    def write(self, path: Path) -> None:
        places = {place: vars(known) for place, known in sorted(self.places.items())}
        write_sealed(path, {"downloads": dict(sorted(self.downloads.items())), "places": places})
