"""Fetch what is missing of a recipe: several downloads at once, each checked before anything goes into its place."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from derive.errors import BadInput
from derive.files import claimed, make_folder, sync, whole_file
from experiments.data.crew import Crew, Made
from experiments.data.download import Patience, part_name
from experiments.data.recipe import Download, Recipe
from experiments.data.store import Placed, State, Store
from experiments.progress import Report


@dataclass
class Fetched:
    """What a fetch did: the places that it filled, why downloads failed, and those that nobody states a digest of."""

    placed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    without_digest: list[Download] = field(default_factory=list)


def fetch(
    recipe: Recipe,
    store: Store,
    report: Report,
    *,
    trust: bool = False,
    at_once: int = 1,
    patience: Patience | None = None,
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
    missing = [
        download
        for download in recipe.downloads
        if any(states[output.place] is State.MISSING for output in download.outputs)
    ]
    done = Fetched(without_digest=[one for one in missing if not (trust or one.pinned or store.seen(one))])
    wanted = [one for one in missing if one not in done.without_digest]
    if not wanted:
        return done
    make_folder(store.work)
    _check_room(wanted, store)
    with claimed(store.claim), Crew(store, report, patience or Patience()) as crew:
        for made in crew.complete(wanted, at_once, done.failed):
            done.placed += _put(made, store)
    if not any(store.work.iterdir()):
        store.work.rmdir()
    return done


def _check_room(wanted: Sequence[Download], store: Store) -> None:
    """Refuse what the disk has no room for: downloads and, of what is unpacked, what is known of it."""
    needed = 0
    for one in wanted:
        part = store.work / part_name(one)
        needed += (one.bytes or one.about_bytes) - (part.stat().st_size if part.exists() else 0)
        needed += sum(output.bytes for output in one.outputs if output.inside or output.decompress)
    free = shutil.disk_usage(store.folder).free
    if needed > free:
        raise BadInput(f"{needed:,} bytes are needed, and its disk has room for {free:,}", store.folder)


def _put(made: Made, store: Store) -> list[str]:
    """Put files in place and return the places that were empty; the lock file knows of them before they are there."""
    placed: dict[str, Placed] = {}
    for place, path in made.files.items():
        known = Placed.of(path)
        there = store.folder / place
        if not there.exists():
            placed[place] = known
        elif (own := Placed.of(there)).sha256 == known.sha256:
            placed[place] = own
    filled = [place for place in placed if not (store.folder / place).exists()]
    store.remember(made.download, made.sha256, placed)
    for place in filled:
        _move(made.files[place], store.folder / place)
    made.remove()
    return filled


def _move(path: Path, to: Path) -> None:
    make_folder(to.parent)
    sync(path)
    try:
        path.replace(to)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with whole_file(to) as part:  # the folder is a link to another disk
            shutil.copy2(path, part)
