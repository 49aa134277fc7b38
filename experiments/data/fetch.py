"""Fetch what is missing of a recipe: several downloads at once, each checked before anything goes into its place."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread

from derive.errors import BadInput
from derive.files import claimed, make_folder, sha256, whole_file
from experiments.data.archive import unpack
from experiments.data.download import PART, PATIENCE, Downloader, Patience
from experiments.data.recipe import Download, Recipe
from experiments.data.store import Placed, State, Store
from experiments.progress import Report, Throttled


@dataclass
class Fetched:
    """What a fetch did: the places that it filled, why downloads failed, and those that nobody states a digest of."""

    placed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    without_digest: list[Download] = field(default_factory=list)


@dataclass(frozen=True)
class Complete:
    """A download that is complete, unpacked and checked: its digest and size, and its files by their places."""

    download: Download
    sha256: str
    bytes: int
    files: dict[str, Path]


class Stopped(Exception):
    """The fetch has ended while a download was on its way; its part stays."""


def fetch(
    recipe: Recipe,
    store: Store,
    report: Report,
    *,
    trust: bool = False,
    at_once: int = 1,
    patience: Patience = PATIENCE,
) -> Fetched:
    """Fetch the downloads of which a file is missing, check them, unpack them and put the files in place.

    One whose digest nobody states is fetched only with `trust`, or where the lock file knows it from before. A download
    that fails stops no other.

    Raises:
        BadInput: a file is there and is not the recipe's, which nothing is written over; the disk has too little room
            or the folder cannot be made; another process fetches into it.
    """
    states = {output.place: store.state(output) for output in recipe.outputs}
    if altered := [place for place, state in states.items() if state is State.ALTERED]:
        more = f" and {len(altered) - 1:,} more" if altered[1:] else ""
        raise BadInput(f"{altered[0]}{more}: not as the recipe says; remove what is to be fetched again", store.folder)
    done, wanted = Fetched(), list[Download]()
    for download in recipe.downloads:
        if any(states[output.place] is State.MISSING for output in download.outputs):
            allowed = trust or download.pinned or store.seen(download)
            (wanted if allowed else done.without_digest).append(download)
    if not wanted:
        return done
    make_folder(store.work)
    _check_room(wanted, store)
    stop = Event()

    def complete(download: Download) -> Complete:
        show = Throttled(report)

        def progress(received: int, total: int) -> None:
            if stop.is_set():
                raise Stopped
            show(_title(download), received, max(total, received + 1))  # it ends when the files are in place

        return _complete(download, store, patience, progress)

    with claimed(store.folder / "fetching"):
        try:
            for result in _side_by_side(complete, wanted, at_once, stop):
                if isinstance(result, BadInput):
                    done.failed.append(str(result))
                elif isinstance(result, Exception):
                    raise result
                else:
                    done.placed += _put(result, store)
                    report(_title(result.download), result.bytes, result.bytes)
        finally:
            stop.set()
    if not any(store.work.iterdir()):
        store.work.rmdir()
    return done


def work_folder(download: Download, store: Store) -> Path:
    """Where a download grows and is unpacked: another folder for every address."""
    return store.work / hashlib.sha256(download.url.encode()).hexdigest()[:16]


def _title(download: Download) -> str:
    return f"fetching {download.outputs[0].place}"


def _check_room(wanted: Sequence[Download], store: Store) -> None:
    """Refuse what the disk has no room for: downloads and, as far as it is known, what is unpacked."""
    needed = 0
    for download in wanted:
        part = work_folder(download, store) / PART
        needed += (download.bytes or download.about_bytes) - (part.stat().st_size if part.exists() else 0)
        needed += sum(output.bytes for output in download.outputs if output.inside or output.decompress)
    free = shutil.disk_usage(store.folder).free
    if needed > free:
        raise BadInput(f"{needed:,} bytes are needed, and its disk has room for {free:,}", store.folder)


def _side_by_side(
    work: Callable[[Download], Complete], downloads: Sequence[Download], at_once: int, stop: Event
) -> Iterator[Complete | Exception]:
    """The results of work on downloads, or its errors, in the order in which they are ready.

    Threads are daemons, so that a command that is stopped need not wait for a server.
    """
    waiting, results = SimpleQueue[Download](), SimpleQueue[Complete | Exception]()
    for download in downloads:
        waiting.put(download)

    def serve() -> None:
        while not stop.is_set():
            try:
                results.put(work(waiting.get_nowait()))
            except Empty:
                return
            except Exception as error:
                results.put(error)

    for _ in range(min(at_once, len(downloads))):
        Thread(target=serve, daemon=True).start()
    for _ in downloads:
        yield results.get()


def _complete(download: Download, store: Store, patience: Patience, progress: Callable[[int, int], None]) -> Complete:
    """Download, check, unpack and check again."""
    folder = work_folder(download, store)
    make_folder(folder)
    downloader = Downloader(download, folder, store.seen(download), patience, progress)
    digest = downloader.run()
    size = downloader.whole.stat().st_size
    try:
        files = {output.place: downloader.whole for output in download.outputs}
        if any(output.inside or output.decompress for output in download.outputs):
            shutil.rmtree(folder / "unpacked", ignore_errors=True)  # of a process that was killed
            files = unpack(downloader.whole, download.name, download.outputs, folder / "unpacked")
        for output in download.outputs:
            path = files[output.place]
            if output.bytes and path.stat().st_size != output.bytes:
                what = f"{path.stat().st_size:,} bytes; the recipe says {output.bytes:,}"
                raise BadInput(f"{output.place}: {what}", download.url)
            if output.sha256 and (found := sha256(path)) != output.sha256:
                what = f"SHA-256 {found}; the recipe says {output.sha256}"
                raise BadInput(f"{output.place}: another file than expected: {what}", download.url)
    except BadInput:
        shutil.rmtree(folder)
        raise
    return Complete(download, digest, size, files)


def _put(complete: Complete, store: Store) -> list[str]:
    """Put files in place and return the places that were empty; the lock file knows of them before they are there."""
    placed: dict[str, Placed] = {}
    for place, path in complete.files.items():
        known, there = Placed.of(path), store.folder / place
        if not there.exists():
            placed[place] = known
        elif (own := Placed.of(there)).sha256 == known.sha256:
            placed[place] = own
    filled = [place for place in placed if not (store.folder / place).exists()]
    store.remember(complete.download, complete.sha256, placed)
    for place in filled:
        with whole_file(store.folder / place) as part:
            shutil.move(complete.files[place], part)  # the folder may be a link to another disk
    shutil.rmtree(work_folder(complete.download, store))
    return filled
