"""What comes out of a download: named members of zip and tar files, also of those inside them, and compressed files.

Only members that a recipe names come out, and where they go is the recipe's word, never the archive's. Links, encrypted
members and two of one name are refused; so is what is larger than it should be.
"""

from __future__ import annotations

import stat
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from zipfile import ZipFile

from derive.errors import BadInput, nearest
from experiments.data.bounded import Bounded, Readable, bound_of, copy, decompressed, undamaged
from experiments.data.recipe import Output
from experiments.data.rows import write_chosen

TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
ZIPS = (".zip",)

Inside = tuple[str, ...]
Take = Callable[[str, Readable], None]
"""Takes a member of an archive: its name and its content."""


def unpack(archive: Path, name: str, outputs: Sequence[Output], folder: Path) -> dict[str, Path]:
    """Unpack a download of that name below `folder`, and return the files by the outputs' places.

    Raises:
        BadInput: it is damaged or too large, has no such member, or that is no plain file.
    """
    folder.mkdir(parents=True)
    members = _members(archive, name, {output.inside for output in outputs if output.inside}, folder / "members")
    if any(output.decompress for output in outputs):
        members[()] = folder / "decompressed"
        with undamaged(name), decompressed(archive, name) as stream:
            copy(stream, members[()])
    made = {}
    for number, output in enumerate(outputs):
        made[output.place] = members.get(output.inside, archive)
        if output.where or output.columns:
            made[output.place] = folder / f"rows-{number}"
            write_chosen(members.get(output.inside, archive), output, made[output.place], name)
    return made


def _members(archive: Path, name: str, wanted: set[Inside], folder: Path) -> dict[Inside, Path]:
    """The members of an archive, and of the archives that are its members."""
    if not wanted:
        return {}
    folder.mkdir()
    outer = {inside[0] for inside in wanted}
    there: list[str] = []
    files: dict[str, Path] = {}

    def take(member: str, content: Readable) -> None:
        if member in files:
            raise BadInput(f"two members are called {member[:80]!r}; expected one", name)
        files[member] = folder / str(len(files))
        copy(content, files[member])

    with undamaged(name):
        if name.endswith(ZIPS):
            _take_zipped(archive, name, outer, there, take)
        elif name.endswith(TARS):
            _take_tarred(archive, name, outer, there, take)
        else:
            raise BadInput(f"expected a name that ends in one of {', '.join(ZIPS + TARS)}", name)
    for member in sorted(outer - files.keys()):
        near = nearest(member, there)
        raise BadInput(f"no member {member[:80]!r} in it{f'; {near}' if near else ''}", name)
    made: dict[Inside, Path] = {}
    for member, path in files.items():
        deeper = {inside[1:] for inside in wanted if inside[0] == member and inside[1:]}
        inner = _members(path, f"{name}/{member}", deeper, path.with_name(f"{path.name}-members"))
        made |= {(member, *inside): file for inside, file in inner.items()}
        if (member,) in wanted:
            made[member,] = path
        else:
            path.unlink()
    return made


def _take_zipped(archive: Path, name: str, wanted: set[str], there: list[str], take: Take) -> None:
    bound = bound_of(archive)
    with ZipFile(archive) as opened:
        for info in opened.infolist():
            there.append(info.filename)
            if info.filename not in wanted:
                continue
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir() or kind not in (0, stat.S_IFREG) or info.flag_bits & 1:
                raise BadInput(f"{info.filename[:80]!r} is a link, a folder or encrypted; expected a file", name)
            with opened.open(info) as content:
                take(info.filename, Bounded(content, bound, name))


def _take_tarred(archive: Path, name: str, wanted: set[str], there: list[str], take: Take) -> None:
    with decompressed(archive, name) as stream, tarfile.open(fileobj=stream, mode="r|") as opened:
        for info in opened:
            member = info.name.removeprefix("./")
            there.append(member)
            if member not in wanted:
                continue
            content = opened.extractfile(info) if info.isreg() else None
            if content is None:
                raise BadInput(f"{member[:80]!r} is a link, a folder or a device; expected a file", name)
            take(member, content)
