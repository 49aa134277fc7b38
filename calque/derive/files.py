"""Write files and folders atomically, under a temporary name until they are complete; read JSON and TOML."""

import errno
import fcntl
import json
import os
import re
import shutil
import threading
import tomllib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any, NoReturn

from calque.derive.errors import BadInput
from calque.derive.fingerprint import plain

MANIFEST = "manifest.json"
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)
"""System errors caused by the disk (full, damaged, read-only or without permission), not by bugs."""
_PART = re.compile(r"\..+\.\d+(-[0-9a-f]+)?\.part", re.DOTALL)
_CLAIM = re.compile(r"\..+\.claim", re.DOTALL)
_CUT_SHORT = re.compile(r"\d+ requested and \d+ written")  # NumPy's error on a full disk lacks an errno


def check_name(name: str, what: str) -> None:
    """Raise BadInput unless `name`, described by `what`, is a safe file name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise BadInput(f"{what} {name[:80]!r} is invalid; use only letters, digits, dashes, dots and _")


def make_folder(folder: Path) -> None:
    """Create a folder and its parents; raise BadInput if a file is in the way."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileNotFoundError, FileExistsError, NotADirectoryError) as error:
        raise BadInput(f"cannot create this folder: {error.strerror}", folder) from error


@contextmanager
def writing(path: Path, part: Path | None = None) -> Iterator[None]:
    """Add the path to disk errors, which often lack it; `part` is the temporary path."""
    try:
        yield
    except OSError as error:
        number = errno.ENOSPC if _CUT_SHORT.fullmatch(str(error)) else error.errno
        if number not in DISK and number != errno.ENOENT:  # ENOENT: the folder was removed in the meantime
            raise
        place = str(error.filename2 or error.filename or path)  # filename2 is the target of a copy
        if part and f"{place}{os.sep}".startswith(f"{part}{os.sep}"):
            place = f"{path}{place.removeprefix(str(part))}"
        raise OSError(number, os.strerror(number), place) from error


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path, which is moved to `path` if the block succeeds and removed otherwise."""
    if path.exists() and not path.is_file():
        raise BadInput("this is a folder, a device or a pipe, not a regular file", path)
    with _new_part(path, Path.touch) as part:
        yield part
        sync(part)
        part.replace(path)


@contextmanager
def whole_folder(folder: Path, outdated: Collection[str] = ()) -> Iterator[Path]:
    """Yield a temporary folder, which is moved to `folder` if the block succeeds. Other files in `folder` are
    kept unless listed in `outdated`. Of a merged folder, the manifest is removed first and written last, so
    that a folder with a manifest is complete."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise BadInput("this is a link or a file, but a folder is needed here; remove it", folder)
    with _new_part(folder, Path.mkdir) as part:
        yield part
        for path in part.rglob("*"):
            sync(path)
        new, old = set(files_of(part)), set(files_of(folder))
        if old - new - set(outdated):
            for name in sorted(old & {*new, *outdated}, key=lambda name: name != MANIFEST):
                (folder / name).unlink()
            for name in sorted(new, key=lambda name: (name == MANIFEST, name)):
                make_folder((folder / name).parent)
                (part / name).replace(folder / name)
        else:
            if folder.exists():
                shutil.rmtree(folder)
            part.replace(folder)
        sync(folder.parent)


def files_of(folder: Path) -> list[str]:
    """Return the relative paths of all files below a folder."""
    paths = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return [path.relative_to(folder).as_posix() for path in paths]


@contextmanager
def _new_part(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Yield a new temporary file or folder next to `path`, locked so that `sweep` keeps it."""
    make_folder(path.parent)
    for leftover in path.parent.glob(f".{escape(path.name)}.*.part"):
        if _PART.fullmatch(leftover.name):
            _remove_dead(leftover)
    part = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident():x}.part")
    with writing(path, part):
        make(part)
        handle = os.open(part, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield part
        finally:
            _remove(part)
            os.close(handle)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove partly written files and folders that killed processes left below a folder."""
    for parent, folders, files in os.walk(folder):  # rglob fails if a folder is moved during the search
        for name in (*folders, *files):
            if _PART.fullmatch(name) or _CLAIM.fullmatch(name):
                _remove_dead(Path(parent, name))


def _remove_dead(leftover: Path) -> None:
    """Remove a temporary file or folder, or a claim, unless a process has locked it."""
    with suppress(OSError):  # it is locked, a link, or another process removed it
        handle = os.open(leftover, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(leftover)
        finally:
            os.close(handle)


@contextmanager
def claimed(folder: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Lock a folder for this process. If another process has locked it, call `waiting` and wait, or raise
    BadInput if `waiting` is None."""
    path = claim_of(folder)
    make_folder(path.parent)
    while True:
        with path.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waiting is None:
                    raise BadInput("another process is using this folder", folder) from None
                waiting()
                fcntl.flock(file, fcntl.LOCK_EX)
            if not (path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())):
                continue  # the lock file was removed, and perhaps recreated, after it was opened
            try:
                yield
            finally:
                path.unlink(missing_ok=True)  # missing if the whole study has been removed
            return


def claim_of(folder: Path) -> Path:
    """Return the lock file that exists while a process works on a folder."""
    return folder.with_name(f".{folder.name}.claim")


def sync(path: Path) -> None:
    """Flush a file or folder to disk, so that renaming it leaves no empty file."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises OSError, UnicodeDecodeError or TOMLDecodeError."""
    return tomllib.loads(path.read_bytes().decode("utf-8"))


def parse_json(text: str) -> Any:
    """Parse JSON; also raise ValueError for deep nesting, NaN and infinity."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def write_json(path: Path, value: Any) -> None:
    """Write a config or plain values atomically as JSON."""
    with whole_file(path) as part:
        part.write_text(json.dumps(plain(value), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
