"""Fetch what is missing of a recipe: each download is checked before anything of it goes into its place."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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


def fetch(
    recipe: Recipe, store: Store, report: Report, *, trust: bool = False, patience: Patience = PATIENCE
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
    with claimed(store.folder / "fetching"):
        for download in wanted:
            try:
                done.placed += _fetch(download, store, report, patience)
            except BadInput as error:
                done.failed.append(str(error))
    if not any(store.work.iterdir()):
        store.work.rmdir()
    return done


def work_folder(download: Download, store: Store) -> Path:
    """Where a download grows and is unpacked: another folder for every address."""
    return store.work / hashlib.sha256(download.url.encode()).hexdigest()[:16]


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


def _fetch(download: Download, store: Store, report: Report, patience: Patience) -> list[str]:
    """Download, check, unpack, check again and put in place; returns the places that were empty.

    What had come stays if the connection breaks or the process is killed, and goes if it is not what it should be.
    """
    folder, throttled = work_folder(download, store), Throttled(report)
    title = f"fetching {download.outputs[0].place}"

    def progress(received: int, total: int) -> None:
        throttled(title, received, max(total, received + 1))  # it ends when the files are in place

    make_folder(folder)
    downloader = Downloader(download, folder, store.seen(download), patience, progress)
    digest = downloader.run()
    size = downloader.whole.stat().st_size
    shutil.rmtree(folder / "unpacked", ignore_errors=True)  # of a process that was killed
    try:
        files = unpack(downloader.whole, download.name, download.outputs, folder / "unpacked")
        _check(download, files)
    except BadInput:
        shutil.rmtree(folder)
        raise
    filled = _put(download, digest, files, store)
    shutil.rmtree(folder)
    report(title, size, size)
    return filled


def _check(download: Download, files: Mapping[str, Path]) -> None:
    """Refuse what came out of a download if it is not what the recipe says."""
    for output in download.outputs:
        size = files[output.place].stat().st_size
        if output.bytes and size != output.bytes:
            raise BadInput(f"{output.place}: {size:,} bytes; the recipe says {output.bytes:,}", download.url)
        if output.sha256 and (found := sha256(files[output.place])) != output.sha256:
            what = f"SHA-256 {found}; the recipe says {output.sha256}"
            raise BadInput(f"{output.place}: another file than expected: {what}", download.url)


def _put(download: Download, digest: str, files: Mapping[str, Path], store: Store) -> list[str]:
    """Put files in place and return the places that were empty; the lock file knows of them before they are there."""
    placed: dict[str, Placed] = {}
    for place, path in files.items():
        known, there = Placed.of(path), store.folder / place
        if not there.exists():
            placed[place] = known
        elif (own := Placed.of(there)).sha256 == known.sha256:
            placed[place] = own
    filled = [place for place in placed if not (store.folder / place).exists()]
    store.remember(download, digest, placed)
    for place in filled:
        with whole_file(store.folder / place) as part:
            shutil.move(files[place], part)  # the folder may be a link to another disk
    return filled
