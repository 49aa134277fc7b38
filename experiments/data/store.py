"""The data folder: which files of a recipe are there, and the digests of what was put there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from derive.artefact import read_sealed, write_sealed
from derive.errors import BadInput
from derive.files import sha256
from experiments.data.recipe import LOCK, Download, Output

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
        self.folder, self.work, self._lock = folder, folder / WORK, folder / LOCK
        self._downloads: dict[str, str] = {}
        self._places: dict[str, Placed] = {}
        if self._lock.exists():
            known = read_sealed(self._lock, "the digests of what was fetched")
            try:
                self._downloads = dict(known["downloads"])
                self._places = {place: Placed(**placed) for place, placed in known["places"].items()}
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise BadInput(f"not the digests of what was fetched: {error}; remove it", self._lock) from None

    def state(self, output: Output) -> State:
        """Whether the file is there. A size and a time of change that the lock file knows stand for its digest."""
        path, known = self.folder / output.place, self._places.get(output.place)
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
        if known == Placed(digest, status.st_size, status.st_mtime_ns) or sha256(path) == digest:
            return State.THERE
        return State.ALTERED

    def seen(self, download: Download) -> str:
        """The digest that the download had when it was last fetched; empty where it never was."""
        return self._downloads.get(download.url, "")

    def remember(self, download: Download, digest: str, placed: dict[str, Placed]) -> None:
        """Write into the lock file what a download was and what came out of it, before that is put in place."""
        self._downloads[download.url] = digest
        self._places |= placed
        places = {place: asdict(known) for place, known in sorted(self._places.items())}
        write_sealed(self._lock, {"downloads": dict(sorted(self._downloads.items())), "places": places})
