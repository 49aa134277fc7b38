"""Finished folders, whose manifest is written last and contains digests of all files, including itself."""

import hashlib
import json
import lzma
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST, files_of, parse_json, whole_file, whole_folder
from calque.derive.fingerprint import plain, sha256
from calque.derive.readers.lines import check_file

DIGEST, KIND, FILES, PLACE = "digest", "kind", "files", "place"
LARGE = 1 << 20  # in bytes; smaller files are always rehashed, as they may change without a new timestamp
AGAIN = "remove it and run the command again"
_FINGERPRINTED = re.compile(r"(.*-)?[0-9a-f]{12}(\..*)?", re.DOTALL)


def write_sealed(path: Path, value: dict[str, Any], place: str | None = None) -> None:
    """Write a JSON object with its digest. If `place` (default: the file name) contains a fingerprint, it is
    also written, so that `read_sealed` detects moved and renamed files."""
    content, place = plain(value), place or path.name
    if _FINGERPRINTED.fullmatch(place):
        content = {PLACE: place, **content}
    with whole_file(path) as part:
        part.write_text(_text(content | {DIGEST: _digest(content)}), encoding="utf-8", newline="\n")


def read_sealed(path: Path, what: str = "a sealed file", place: str | None = None) -> dict[str, Any]:
    """Read an object written by `write_sealed`; raise BadInput if the file, called `what`, has changed."""
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
    sealed, place = content.pop(PLACE, None), place or path.name
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
        facts = read_sealed(path, f"the manifest of {kind}", folder.absolute().name)
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
    path, place = folder / MANIFEST, folder.absolute().name
    if (is_finished := path.is_file()) and _FINGERPRINTED.fullmatch(place):
        read_sealed(path, "the manifest of a finished folder", place)
    return is_finished


def whole_of(folder: Path, kind: str) -> Artefact | None:
    """Return the parent of `folder` if the parent is a finished folder of this kind, or None."""
    manifest = folder.resolve().parent / MANIFEST
    if not manifest.is_file() or f'"{KIND}": "{kind}"'.encode() not in manifest.read_bytes():
        return None  # another program's manifest
    return Artefact.open(manifest.parent, kind)


def check_part(folder: Path, kind: str) -> None:
    """Raise BadInput if `folder` is part of a finished folder of this kind and a file in it has changed."""
    if artefact := whole_of(folder, kind):
        for name in artefact.digests:
            if Path(name).parts[0] == folder.resolve().name:
                artefact.path(name)


@contextmanager
def making(folder: Path, kind: str, facts: dict[str, Any]) -> Iterator[Path]:
    """Yield a temporary folder, then add a manifest with `facts` to it and move it to `folder`."""
    with whole_folder(folder) as part:
        yield part
        write_manifest(part, kind, facts, place=folder.absolute().name)


def write_manifest(
    folder: Path, kind: str, facts: Mapping[str, Any], leave_out: tuple[str, ...] = (), place: str = ""
) -> None:
    """Write a manifest of all files in a folder except the subfolders `leave_out`."""
    names = sorted(files_of(folder), key=lambda name: name.split("/"))
    listed = [name for name in names if name.split("/")[0] not in (*leave_out, MANIFEST)]
    files = {name: sha256(folder / name) for name in listed}
    write_sealed(folder / MANIFEST, {KIND: kind, **facts, FILES: files}, place or folder.absolute().name)


def add_facts(folder: Path, facts: Mapping[str, Any]) -> None:
    """Add entries to the manifest of a finished folder."""
    path, place = folder / MANIFEST, folder.absolute().name
    content = read_sealed(path, "the manifest of a finished folder", place)
    write_sealed(path, {**content, **facts}, place)


def _text(value: Mapping[str, Any]) -> str:
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
    """Return a file's `digest`; raise BadInput if it is missing, empty or not a regular file."""
    check_file(path)
    return digest(path)
