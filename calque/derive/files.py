"""Write files and folders atomically, the last file a manifest with all digests; read JSON and TOML."""

import errno
import fcntl
import hashlib
import json
import lzma
import os
import re
import shutil
import threading
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from glob import escape
from pathlib import Path
from typing import Any, NoReturn, Self

from calque.derive.errors import BadInput, NoFile
from calque.derive.fingerprint import plain, sha256

MANIFEST = "manifest.json"
DIGEST, KIND, FILES, PLACE = "digest", "kind", "files", "place"
LARGE = 1 << 20  # in bytes; smaller files are always rehashed, as they may change without a new timestamp
AGAIN = "remove it and run the command again"
_FINGERPRINTED = re.compile(r"(.*-)?[0-9a-f]{12}(\..*)?", re.DOTALL)
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)
"""System errors caused by the disk (full, damaged, read-only or without permission), not by bugs."""
_LEFTOVER = re.compile(r"\..+\.(\d+(-[0-9a-f]+)?\.part|claim)", re.DOTALL)
_CUT_SHORT = re.compile(r"\d+ requested and \d+ written")  # NumPy's error on a full disk lacks an errno


def check_name(name: str, what: str) -> None:
    """Raise BadInput unless `name`, described by `what`, is a safe file name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise BadInput(f"{what} {name[:80]!r} is invalid; use only letters, digits, dashes, dots and _")


def make_folder(folder: Path) -> None:
    """Create a folder and its parents; raise BadInput if there is a file."""
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
    kept unless listed in `outdated`; the manifest is then removed first and written last."""
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
    files = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return [path.relative_to(folder).as_posix() for path in files]


@contextmanager
def _new_part(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Yield a new file or folder next to `path`, locked so that `sweep` keeps it."""
    make_folder(path.parent)
    for leftover in path.parent.glob(f".{escape(path.name)}.*.part"):
        if _LEFTOVER.fullmatch(leftover.name):
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
    """Remove temporary files and folders, and claims, of killed processes below a folder."""
    for parent, folders, files in os.walk(folder):  # rglob fails if a folder is moved during the search
        for name in (*folders, *files):
            if _LEFTOVER.fullmatch(name):
                _remove_dead(Path(parent, name))


def _remove_dead(leftover: Path) -> None:
    with suppress(OSError):  # it is locked, a link, or another process removed it
        handle = os.open(leftover, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(leftover)
        finally:
            os.close(handle)


@contextmanager
def claimed(folder: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Lock a folder. If another process has locked it, call `waiting` and wait, or raise BadInput."""
    path = folder.with_name(f".{folder.name}.claim")
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
        part.write_text(_text(plain(value)), encoding="utf-8", newline="\n")


def check_file(path: Path) -> None:
    """Raise BadInput if a file is missing, empty or not regular."""
    try:
        is_file, size = path.is_file(), path.stat().st_size
    except FileNotFoundError:
        raise NoFile("no such file", path) from None
    except (OSError, ValueError) as error:  # such as a loop of symbolic links, or a NUL in the name
        raise BadInput(f"cannot read this file: {error}", path) from None
    if not is_file:
        raise BadInput("not a regular file: folders, pipes and devices cannot be read", path)
    if size == 0:
        raise BadInput("the file is empty", path)


def write_sealed(path: Path, value: dict[str, Any], place: str | None = None) -> None:
    """Write a JSON object with its digest and, if it contains a fingerprint, its `place` (default: the file's
    name or, for manifests, the folder's), so that `read_sealed` detects moved files."""
    content, place = plain(value), place or _place(path)
    if _FINGERPRINTED.fullmatch(place):
        content = {PLACE: place, **content}
    write_json(path, content | {DIGEST: _digest(content)})


def _place(path: Path) -> str:
    return path.absolute().parent.name if path.name == MANIFEST else path.name


def read_sealed(path: Path, what: str) -> dict[str, Any]:
    """Read an object written by `write_sealed`; raise BadInput if the file has changed or moved."""
    try:
        data = path.read_bytes()  # read_text would hide changed line endings
        text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
        content = parse_json(text)
        is_intact = text == _text(content) and content.pop(DIGEST) == _digest(content)
    except OSError as error:
        raise BadInput(f"cannot read {what}: {error.strerror}", path) from None
    except (ValueError, KeyError, AttributeError, TypeError, lzma.LZMAError):
        is_intact = False
    if not is_intact:
        raise BadInput(f"{what} is damaged or has changed since it was written; {AGAIN}", path)
    sealed, place = content.pop(PLACE, None), _place(path)
    if _FINGERPRINTED.fullmatch(place) and sealed != place:
        fault = f"this file belongs to {sealed or 'another name'}, not to {place}"
        raise BadInput(f"{fault}; move it back, or {AGAIN}", path)
    return dict(content)


@dataclass(frozen=True)
class Artefact:
    """A finished folder. Its intact manifest contains `facts` and the `digests` of all other files."""

    folder: Path
    facts: dict[str, Any]
    digests: dict[str, str]
    _checked: set[str] = field(default_factory=set, compare=False)

    @classmethod
    def open(cls, folder: Path, kind: str, format: int | None = None) -> Self:
        path = folder / MANIFEST
        facts = read_sealed(path, f"the manifest of {kind}")
        if (actual_kind := facts.pop(KIND, None)) != kind:
            raise BadInput(f"this is the manifest of {actual_kind}, not of {kind}", path)
        digests, actual = facts.pop(FILES, {}), facts.get("format")
        if format not in (None, actual):
            raise BadInput(f"{kind} in format {actual}, not {format}; remove the folder and rerun", path)
        return cls(folder, facts, digests)

    def path(self, name: str) -> Path:
        """Return the path of a file in the folder; raise BadInput if the file has changed."""
        path = self.folder / name
        if name not in self.digests:
            raise BadInput(f"this manifest does not list the file {name}", self.folder / MANIFEST)
        if name not in self._checked:
            if not path.is_file() or sha256(path) != self.digests[name]:
                raise BadInput(f"changed since it was written; remove {self.folder} and rerun", path)
            self._checked.add(name)
        return path

    def verify(self, progress: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Raise BadInput if any file has changed."""
        for done, name in enumerate(self.digests, start=1):
            self.path(name)
            progress(done, len(self.digests))


def finished(folder: Path) -> bool:
    """Whether a folder is finished, that is, contains a manifest."""
    path = folder / MANIFEST
    if (is_finished := path.is_file()) and _FINGERPRINTED.fullmatch(_place(path)):
        read_sealed(path, "the manifest of a finished folder")
    return is_finished


def whole_of(folder: Path, kind: str) -> Artefact | None:
    """Return the parent of `folder` if it is a finished folder of this kind, or None."""
    manifest = folder.resolve().parent / MANIFEST
    if not manifest.is_file() or f'"{KIND}": "{kind}"'.encode() not in manifest.read_bytes():
        return None  # another program's manifest
    return Artefact.open(manifest.parent, kind)


def check_part(folder: Path, kind: str) -> None:
    """Raise BadInput if a file in `folder`, part of a finished folder of this kind, has changed."""
    if artefact := whole_of(folder, kind):
        for name in artefact.digests:
            if Path(name).parts[0] == folder.resolve().name:
                artefact.path(name)


@contextmanager
def making(folder: Path, kind: str, facts: dict[str, Any]) -> Iterator[Path]:
    """Yield a temporary folder, then add a manifest with `facts` and move it to `folder`."""
    with whole_folder(folder) as part:
        yield part
        write_manifest(part, kind, facts, place=folder.absolute().name)


def write_manifest(
    folder: Path, kind: str, facts: Mapping[str, Any], leave_out: str = "", place: str | None = None
) -> None:
    """Write a manifest of all files in a folder, except those in `leave_out`."""
    names = sorted(files_of(folder), key=lambda name: name.split("/"))
    listed = [name for name in names if name.split("/")[0] not in (leave_out, MANIFEST)]
    files = {name: sha256(folder / name) for name in listed}
    write_sealed(folder / MANIFEST, {KIND: kind, **facts, FILES: files}, place)


def add_facts(folder: Path, facts: Mapping[str, Any]) -> None:
    """Add entries to the manifest of a finished folder."""
    path = folder / MANIFEST
    write_sealed(path, {**read_sealed(path, "the manifest of a finished folder"), **facts})


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest(path: Path) -> str:
    """Return a file's SHA-256; large files are rehashed only if their size or timestamps change."""
    stat = path.stat()
    if stat.st_size < LARGE:
        return sha256(path)
    return _digest_at(path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


@lru_cache(maxsize=1 << 10)
def _digest_at(path: Path, *state: int) -> str:
    return sha256(path)


def input_digest(path: Path) -> str:
    """Return a file's `digest`; raise BadInput if it is missing, empty or not regular."""
    check_file(path)
    return digest(path)
