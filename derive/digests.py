"""Digests of large files that do not change, remembered from command to command.

A file counts as unchanged while its size, its time of change and its place on the disk stay, as a version control
system takes it; one that was changed just now is never remembered, for the clock could not tell a second change apart.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from derive.artefact import read_sealed, write_sealed
from derive.errors import BadInput
from derive.files import sha256

LARGE = 1 << 20
"""Bytes from which on a digest takes longer than remembering it."""
SETTLED = 2_000_000_000
"""Nanoseconds after its last change from which on a file is taken to stay."""
REMEMBERED = "digests.json"

_memories: list[Path] = []
"""The files of the innermost `remembering` and of those around it."""


@contextmanager
def remembering(folder: Path) -> Iterator[None]:
    """Keep digests in a file of `folder` while the block runs, and use those that are there."""
    _memories.append(folder / REMEMBERED)
    try:
        yield
    finally:
        _memories.pop()


def digest(path: Path) -> str:
    """The file's SHA-256 in hexadecimal, remembered where it is large."""
    stat = path.stat()
    if not _memories or stat.st_size < LARGE:
        return sha256(path)
    key, state = str(path.resolve()), [stat.st_size, stat.st_mtime_ns, stat.st_ino]
    known = _load(_memories[-1])
    if key in known and known[key][:-1] == state:
        return str(known[key][-1])
    made = sha256(path)
    if time.time_ns() - stat.st_mtime_ns > SETTLED:
        write_sealed(_memories[-1], {**_load(_memories[-1]), key: [*state, made]})
    return made


def _load(path: Path) -> dict[str, Any]:
    """What is remembered; nothing where the file is missing or damaged, for it can be made again."""
    try:
        return read_sealed(path) if path.exists() else {}
    except BadInput:
        return {}
