"""The data folder: the state of a recipe's files, and fetching of missing ones."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

from calque.derive.artefact import read_sealed, write_sealed
from calque.derive.errors import BadInput
from calque.derive.files import claimed, make_folder, whole_file
from calque.derive.fingerprint import sha256
from calque.derive.workers import Progress as Report
from calque.experiments.data.archive import unpack
from calque.experiments.data.download import fetch_file
from calque.experiments.data.recipe import LOCK, Download, Output, Recipe
from calque.experiments.run.progress import Throttled

WORK = ".fetching"  # the subfolder for downloads and unpacked files


class State(StrEnum):
    """Whether a file matches the recipe or the lock file; `UNKNOWN` if neither contains its digest."""

    THERE = "there"
    MISSING = "missing"
    ALTERED = "altered"
    UNKNOWN = "unchecked"


@dataclass(frozen=True)
class Placed:
    """A file's entry in the lock file: its digest, size and modification time in ns."""

    sha256: str
    bytes: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> Placed:
        status = path.stat()
        return cls(sha256(path), status.st_size, status.st_mtime_ns)


@dataclass
class Fetched:
    """The result of a fetch: paths of new files, errors from failed downloads, and downloads skipped because
    no digest is known."""

    placed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    without_digest: list[Download] = field(default_factory=list)


class Store:
    """A data folder, which need not exist yet."""

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise BadInput("is a file; expected the data folder, which need not exist yet", folder)
        self.folder, self._lock = folder, folder / LOCK
        self._downloads: dict[str, str] = {}
        self._places: dict[str, Placed] = {}
        if self._lock.exists():
            content = read_sealed(self._lock, "the digests of fetched files")
            try:
                self._downloads = dict(content["downloads"])
                self._places = {place: Placed(**placed) for place, placed in content["places"].items()}
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise BadInput(f"damaged: {error}; remove this file", self._lock) from None

    def state(self, output: Output) -> State:
        """Return a file's state, without computing its digest if size and modification time match the lock
        file."""
        path, entry = self.folder / output.place, self._places.get(output.place)
        digest = output.sha256 or (entry.sha256 if entry else "")
        size = output.bytes or (entry.bytes if entry else 0)
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return State.MISSING
        if not path.is_file() or (size and size != status.st_size):
            return State.ALTERED
        if not digest:
            return State.UNKNOWN
        same = entry == Placed(digest, status.st_size, status.st_mtime_ns) or sha256(path) == digest
        return State.THERE if same else State.ALTERED

    def seen(self, download: Download) -> str:
        """Return the download's digest when it was last fetched, or ""."""
        return self._downloads.get(download.url, "")

    def fetch(self, recipe: Recipe, report: Report, *, trust: bool = False) -> Fetched:
        """Fetch each download with a missing file, even if others fail. A download without a published digest
        is fetched only with `trust`, or if the lock file contains its digest."""
        states = {output.place: self.state(output) for output in recipe.outputs}
        for place, state in states.items():
            if state is State.ALTERED:
                raise BadInput(f"{place}: differs from the recipe; remove it to fetch it again", self.folder)
        result, missing = Fetched(), list[Download]()
        for download in recipe.downloads:
            if any(states[output.place] is State.MISSING for output in download.outputs):
                allowed = trust or download.pinned or self.seen(download)
                (missing if allowed else result.without_digest).append(download)
        if not missing:
            return result
        work = self.folder / WORK
        make_folder(work)
        with claimed(self.folder / "fetching"):
            for download in missing:
                try:
                    result.placed += self._fetch(download, report)
                except BadInput as error:
                    result.failed.append(str(error))
        if not any(work.iterdir()):
            work.rmdir()
        return result

    def _fetch(self, download: Download, report: Report) -> list[str]:
        folder = self.folder / WORK / hashlib.sha256(download.url.encode()).hexdigest()[:16]
        title, throttled = f"fetching {download.outputs[0].place}", Throttled(report)

        def progress(received: int, total: int) -> None:
            throttled(title, received, max(total, received + 1))  # complete only once files are installed

        make_folder(folder)
        whole, digest = fetch_file(download, folder, self.seen(download), progress)
        size = whole.stat().st_size
        shutil.rmtree(folder / "unpacked", ignore_errors=True)  # left by a killed process
        try:
            files = unpack(whole, download.name, download.outputs, folder / "unpacked")
            _check(download, files)
        except BadInput:
            shutil.rmtree(folder)
            raise
        places = self._put(download, digest, files)
        shutil.rmtree(folder)
        report(title, size, size)
        return places

    def _put(self, download: Download, digest: str, files: Mapping[str, Path]) -> list[str]:
        """Record files in the lock file, install them, and return the paths of new ones."""
        empty = [place for place in files if not (self.folder / place).exists()]
        self._downloads[download.url] = digest
        self._places |= {place: Placed.of(files[place]) for place in empty}
        places = {place: asdict(entry) for place, entry in sorted(self._places.items())}
        write_sealed(self._lock, {"downloads": dict(sorted(self._downloads.items())), "places": places})
        for place in empty:
            with whole_file(self.folder / place) as part:
                shutil.move(files[place], part)  # the folder may be a link to another disk
        return empty


def _check(download: Download, files: Mapping[str, Path]) -> None:
    for output in download.outputs:
        size = files[output.place].stat().st_size
        if output.bytes and size != output.bytes:
            raise BadInput(f"{output.place}: {size:,} bytes instead of {output.bytes:,}", download.url)
        if output.sha256 and (found := sha256(files[output.place])) != output.sha256:
            raise BadInput(
                f"{output.place}: not the expected file: SHA-256 {found}; the recipe states {output.sha256}",
                download.url,
            )
