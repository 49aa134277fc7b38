"""Threads that download and unpack side by side, and how what they made reaches the thread that waits for them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from types import TracebackType

from derive.errors import BadInput
from derive.files import sha256
from experiments.data.download import Fetching, Patience, Stopped, part_name
from experiments.data.recipe import Download
from experiments.data.store import Store
from experiments.data.unpack import unpack
from experiments.progress import Report, Throttled


@dataclass(frozen=True)
class Made:
    """A download that is complete, unpacked and checked: its digest, and by place the files to be put there."""

    download: Download
    sha256: str
    files: dict[str, Path]
    part: Path
    unpacked: Path

    def remove(self) -> None:
        """Remove what is left once the files are in place."""
        self.part.unlink(missing_ok=True)
        self.part.with_suffix(".version").unlink(missing_ok=True)
        shutil.rmtree(self.unpacked, ignore_errors=True)


@dataclass(frozen=True)
class _End:
    """How a download ended: made, failed for a reason in words, or with an error that stops everything."""

    made: Made | None = None
    failed: str = ""
    error: Exception | None = None


class Crew:
    """Downloads into the work folder of `store`; leaving the block stops it.

    Its threads are daemons, so that a command that is stopped need not wait for a server: what has come by then stays
    in the parts.
    """

    def __init__(self, store: Store, report: Report, patience: Patience) -> None:
        self._store, self._report, self._patience = store, report, patience
        self._stop, self._one_reports = Event(), Lock()
        self._waiting: SimpleQueue[Download] = SimpleQueue()
        self._ends: SimpleQueue[_End] = SimpleQueue()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()

    def complete(self, downloads: Sequence[Download], at_once: int, failed: list[str]) -> Iterator[Made]:
        """The downloads, in the order in which they are ready; `failed` gets the reasons of those that fail.

        Raises:
            OSError: the disk is full or cannot be written to.
        """
        for download in downloads:
            self._waiting.put(download)
        for _ in range(min(at_once, len(downloads))):
            Thread(target=self._work, daemon=True).start()
        for _ in downloads:
            end = self._ends.get()
            if end.error is not None:
                raise end.error
            if end.made is None:
                failed.append(end.failed)
                continue
            size = end.made.part.stat().st_size
            yield end.made
            with self._one_reports:
                self._report(_title(end.made.download), size, size)

    def _work(self) -> None:
        """Work until nothing waits."""
        while not self._stop.is_set():
            try:
                self._ends.put(_End(self._made(self._waiting.get_nowait())))
            except BadInput as error:
                self._ends.put(_End(failed=str(error)))
            except (Empty, Stopped):
                return
            except Exception as error:  # told in the thread that waits, with its traceback
                self._ends.put(_End(error=error))

    def _made(self, download: Download) -> Made:
        """Download, check, unpack and check again."""
        part, known = self._store.work / part_name(download), self._store.seen(download)
        fetching = Fetching(download, part, self._patience, self._stop, self._heard(download), known)
        digest, folder = fetching.run(), part.with_suffix("")
        shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed
        try:
            files = {output.place: part for output in download.outputs}
            if any(output.inside or output.decompress for output in download.outputs):
                files = unpack(part, download.name, download.outputs, folder)
            _check(download, files)
        except BadInput:
            fetching.discard()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return Made(download, digest, files, part, folder)

    def _heard(self, download: Download) -> Callable[[int, int], None]:
        """Passes on how far a download is; it is not done before its files are in place."""
        report = Throttled(self._report)

        def heard(done: int, of: int) -> None:
            with self._one_reports:
                report(_title(download), done, max(of, done + 1))

        return heard


def _title(download: Download) -> str:
    """What people hear of it; names of archives repeat, places do not."""
    place = download.outputs[0].place
    return f"fetching {place}" if place.endswith(download.name) else f"fetching {download.name} for {place}"


def _check(download: Download, files: dict[str, Path]) -> None:
    """Refuse what came out of a download if it is not what the recipe says."""
    for output in download.outputs:
        size = files[output.place].stat().st_size
        if output.bytes and size != output.bytes:
            raise BadInput(f"{output.place}: {size:,} bytes; the recipe says {output.bytes:,}", download.url)
        if output.sha256 and (found := sha256(files[output.place])) != output.sha256:
            wanted = f"the recipe says {output.sha256}"
            raise BadInput(f"{output.place}: another file than expected: SHA-256 {found}; {wanted}", download.url)
