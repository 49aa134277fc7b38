"""Files that are whole or absent: writing beside the place and moving there, hashing, fingerprints."""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from derive.errors import BadInput

MANIFEST = "manifest.json"
ADDED = {"added": True}
"""Metadata of a config's field that came later: at its default the config has the fingerprint that it had before."""


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are not there yet.

    Raises:
        BadInput: a file is in the way, or the place holds no folders.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileNotFoundError, FileExistsError, NotADirectoryError) as error:
        raise BadInput(f"no folder can be made here: {error.strerror}", folder) from error


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to; moved to `path` when the block ends well, removed when it does not."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    make_folder(part.parent)
    part.unlink(missing_ok=True)  # what a killed process of the same number may have left
    try:
        yield part
        sync(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder to fill; moved to `folder` (replacing it) when the block ends well, else removed."""
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    shutil.rmtree(part, ignore_errors=True)
    make_folder(part)
    try:
        yield part
        for path in part.rglob("*"):
            sync(path)
        if folder.exists():
            shutil.rmtree(folder)
        part.replace(folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Work in a folder that no other process works in; the claim of a process that dies dies with it.

    Raises:
        BadInput: another process has it.
    """
    path = folder.with_name(f".{folder.name}.claim")
    make_folder(path.parent)
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            lost = os.fstat(file.fileno()).st_ino != path.stat().st_ino  # released in between, and claimed by another
        except (BlockingIOError, FileNotFoundError):
            lost = True
        if lost:
            raise BadInput("another process is at work on it; let it finish, or stop it", folder)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # somebody may have removed the whole study


def sync(path: Path) -> None:
    """Wait until what was written is on disk, so that a rename never names an empty file."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    """The file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def plain(value: Any) -> Any:
    """A config as plain JSON values: a dataclass becomes its class's name and the fields that are compared."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            field.name: plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.compare and (field.metadata != ADDED or getattr(value, field.name) != field.default)
        }
        return {"kind": type(value).__name__, **fields}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def fingerprint(*values: Any) -> str:
    """Twelve hexadecimal digits that change when any of the values does."""
    text = json.dumps(plain(values), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def write_json(path: Path, value: Any) -> None:
    """Write JSON, whole or not at all."""
    with whole_file(path) as part:
        part.write_text(json.dumps(plain(value), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
