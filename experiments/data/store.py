"""The data folder: which files of a recipe are there, and fetching the others into their places."""

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
from calque.experiments.data.archive import unpack
from calque.experiments.data.download import PATIENCE, Downloader, Patience
from calque.experiments.data.recipe import LOCK, Download, Output, Recipe
from calque.experiments.progress import Report, Throttled

WORK = ".fetching"  # the folder below the data folder where downloads grow and are unpacked


class State(StrEnum):
    """Whether a file is what the recipe, or the lock file, says; `UNKNOWN` where neither says anything of it."""

    THERE = "there"
    MISSING = "missing"
    ALTERED = "altered"
    UNKNOWN = "unchecked"


@dataclass(frozen=True)
class Placed:
    """What the lock file has of a file: digest and size, and the time in ns of its last change."""

    sha256: str
    bytes: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> Placed:
        status = path.stat()
        return cls(sha256(path), status.st_size, status.st_mtime_ns)


@dataclass
class Fetched:
    """The places that a fetch filled, why downloads failed, and those that nobody states a digest of."""

    placed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    without_digest: list[Download] = field(default_factory=list)


class Store:
    """A data folder, which need not exist yet."""

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise BadInput("is a file; expected the data folder, or a place for it", folder)
        self.folder, self.work, self._lock = folder, folder / WORK, folder / LOCK
        self._downloads: dict[str, str] = {}
        self._places: dict[str, Placed] = {}
        if self._lock.exists():
            content = read_sealed(self._lock, "the digests of what was fetched")
            try:
                self._downloads = dict(content["downloads"])
                self._places = {place: Placed(**placed) for place, placed in content["places"].items()}
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise BadInput(f"not the digests of what was fetched: {error}; remove it", self._lock) from None

    def state(self, output: Output) -> State:
        """Whether the file is there. A size and a time of change that the lock file has stand for its digest."""
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
        """The digest that the download had when it was last fetched; empty where it never was."""
        return self._downloads.get(download.url, "")

    def remember(self, download: Download, digest: str, placed: Mapping[str, Placed]) -> None:
        """Write into the lock file what a download was and what came out of it, before that is put in place."""
        self._downloads[download.url] = digest
        self._places |= placed
        places = {place: asdict(one) for place, one in sorted(self._places.items())}
        write_sealed(self._lock, {"downloads": dict(sorted(self._downloads.items())), "places": places})

    def fetch(self, recipe: Recipe, report: Report, *, trust: bool = False, patience: Patience = PATIENCE) -> Fetched:
        """Fetch the downloads of which a file is missing, each whether others fail or not, and put files in place. One
        whose digest nobody states is fetched only with `trust`, or where the lock file has it from before."""
        states = {output.place: self.state(output) for output in recipe.outputs}
        if altered := [place for place, state in states.items() if state is State.ALTERED]:
            more = f" and {len(altered) - 1:,} more" if altered[1:] else ""
            raise BadInput(
                f"{altered[0]}{more}: not as the recipe says; remove what is to be fetched again", self.folder
            )
        result, missing = Fetched(), list[Download]()
        for download in recipe.downloads:
            if any(states[output.place] is State.MISSING for output in download.outputs):
                allowed = trust or download.pinned or self.seen(download)
                (missing if allowed else result.without_digest).append(download)
        if not missing:
            return result
        make_folder(self.work)
        with claimed(self.folder / "fetching"):
            for download in missing:
                try:
                    result.placed += self._fetch(download, report, patience)
                except BadInput as error:
                    result.failed.append(str(error))
        if not any(self.work.iterdir()):
            self.work.rmdir()
        return result

    def work_folder(self, download: Download) -> Path:
        """Where a download grows and is unpacked: another folder for every address."""
        return self.work / hashlib.sha256(download.url.encode()).hexdigest()[:16]

    def _fetch(self, download: Download, report: Report, patience: Patience) -> list[str]:
        """Download, check, unpack, check again and put in place; returns the places that were empty."""
        folder, throttled = self.work_folder(download), Throttled(report)
        title = f"fetching {download.outputs[0].place}"

        def progress(received: int, total: int) -> None:
            throttled(title, received, max(total, received + 1))  # it ends when the files are in place

        make_folder(folder)
        downloader = Downloader(download, folder, self.seen(download), patience, progress)
        digest = downloader.run()
        size = downloader.whole.stat().st_size
        shutil.rmtree(folder / "unpacked", ignore_errors=True)  # of a process that was killed
        try:
            files = unpack(downloader.whole, download.name, download.outputs, folder / "unpacked")
            _check(download, files)
        except BadInput:
            shutil.rmtree(folder)
            raise
        places = self._put(download, digest, files)
        shutil.rmtree(folder)
        report(title, size, size)
        return places

    def _put(self, download: Download, digest: str, files: Mapping[str, Path]) -> list[str]:
        """Put files in place and return the places that were empty; the lock file has them before they are there."""
        entries, empty = dict[str, Placed](), []
        for place, path in files.items():
            new, there = Placed.of(path), self.folder / place
            if not there.exists():
                entries[place] = new
                empty.append(place)
            elif (own := Placed.of(there)).sha256 == new.sha256:
                entries[place] = own
        self.remember(download, digest, entries)
        for place in empty:
            with whole_file(self.folder / place) as part:
                shutil.move(files[place], part)  # the folder may be a link to another disk
        return empty


def _check(download: Download, files: Mapping[str, Path]) -> None:
    """Refuse what came out of a download if it is not what the recipe says."""
    for output in download.outputs:
        size = files[output.place].stat().st_size
        if output.bytes and size != output.bytes:
            raise BadInput(f"{output.place}: {size:,} bytes; the recipe says {output.bytes:,}", download.url)
        if output.sha256 and (found := sha256(files[output.place])) != output.sha256:
            what = f"SHA-256 {found}; the recipe says {output.sha256}"
            raise BadInput(f"{output.place}: another file than expected: {what}", download.url)
