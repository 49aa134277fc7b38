"""Recipes read from TOML files, strictly; docs/data.md describes their keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from derive.errors import BadInput
from derive.files import read_toml
from derive.unknown import unknown
from experiments.data.address import refusal
from experiments.data.packing import read_packing
from experiments.data.recipe import Download, Output, Recipe
from experiments.data.store import LOCK
from experiments.data.table import Table

RECIPES = Path(__file__).parents[1] / "recipes"
LONGEST, LONGEST_PART = 1_000, 200
"""Bytes of a path and of each part of it: systems take 4,096 and 255, and the data folder needs some of them."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
_EACH = "{}"
"""What stands in an `unpack` table for each text of its `for`."""


def names(folder: Path = RECIPES) -> list[str]:
    """The names of the recipes, in order."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def read_recipe(name: str, folder: Path = RECIPES) -> Recipe:
    """The recipe of a name, or of a TOML file of one's own.

    Raises:
        BadInput: there is none, it is no TOML, a key is unknown, missing or of another type, a value is none that it
            can have, or two files go to one place.
    """
    recipe = _read(name, folder, set())
    places, folders = set[PurePosixPath](), set[PurePosixPath]()
    for output in recipe.outputs:
        place = PurePosixPath(output.place)
        if place in places or place in folders or not places.isdisjoint(place.parents):
            raise BadInput(f"{place} is the place of two files, or of a file and a folder", _path(name, folder))
        places.add(place)
        folders.update(place.parents)
    return recipe


def _path(name: str, folder: Path) -> Path:
    if name.endswith(".toml"):
        return Path(name)
    if name not in names(folder):
        raise BadInput(unknown("recipe", name, names(folder)))
    return folder / f"{name}.toml"


def _read(name: str, folder: Path, seen: set[Path]) -> Recipe:
    """A recipe with the downloads of those that it includes, without those of `seen`, which grows."""
    path = _path(name, folder)
    table = Table(_toml(path), path)
    about, files, included = table.text("about"), table.tables("file"), table.texts("includes")
    licence, terms = table.text("licence", ""), table.text("terms", "")
    pack = table.table("pack")
    table.done()
    if not files and not included:
        table.refuse("expected files, [[file]], or recipes that it includes, includes = [...]")
    seen.add(path)
    downloads = [_download(file, licence, terms) for file in files]
    for other in included:
        if _path(other, folder) not in seen:
            downloads += _read(other, folder, seen).downloads
    return Recipe(path.stem, about, tuple(downloads), read_packing(pack, downloads) if pack else None)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path)
    except FileNotFoundError:
        raise BadInput("there is no such file; expected a recipe", path) from None
    except (OSError, ValueError, RecursionError) as error:  # a ValueError names the line
        raise BadInput(f"cannot be read as TOML: {error}", path) from None


def _download(table: Table, licence: str, terms: str) -> Download:
    place, unpacked = table.text("place", ""), table.tables("unpack")
    if bool(place) == bool(unpacked):
        table.refuse("expected either the place of the file, or what is unpacked, [[file.unpack]]")
    size, digest = table.number("bytes"), _digest(table)
    made = Download(
        url=_address(table, table.text("url")),
        mirrors=tuple(_address(table, url) for url in table.texts("mirrors")),
        licence=table.text("licence", licence or None),
        terms=_address(table, table.text("terms", terms or None)),
        source=table.text("source"),
        bytes=size,
        about_bytes=table.number("about_bytes"),
        sha256=digest,
        note=table.text("note", ""),
        outputs=tuple(output for one in unpacked for output in _outputs(one))
        or (Output(_safe(table, "place", place), bytes=size, sha256=digest),),
    )
    table.done()
    return made


def _outputs(table: Table) -> Iterator[Output]:
    """The outputs of an `unpack` table, one for each text of its `for`."""
    each = table.texts("for")
    place, inside, where = table.text("place"), table.texts("inside"), table.pairs("where")
    columns, size, digest = table.number("columns"), table.number("bytes"), _digest(table)
    table.done()
    if each and (size or digest or _EACH not in place):
        table.refuse(f"with for, place has {_EACH}, and there is no size or digest of all of them")
    for one in each or (_EACH,):
        yield Output(
            place=_safe(table, "place", place.replace(_EACH, one)),
            inside=tuple(_safe(table, "inside", name.replace(_EACH, one)) for name in inside),
            decompress=not inside,
            where={column: value.replace(_EACH, one) for column, value in where.items()},
            columns=columns,
            bytes=size,
            sha256=digest,
        )


def _digest(table: Table) -> str:
    digest = table.text("sha256", "")
    if digest and not _SHA256.fullmatch(digest):
        table.refuse(f"sha256 is 64 hexadecimal digits in lower case, not {digest[:80]!r}")
    return digest


def _address(table: Table, url: str) -> str:
    if why := refusal(url):
        table.refuse(why)
    return url


def _safe(table: Table, name: str, path: str) -> str:
    """A path that leads nowhere but down, without hidden files and folders."""
    parts = path.split("/")
    if any(not part or part.startswith(".") or not part.isprintable() or set(part) & set("\\:*?") for part in parts):
        table.refuse(f"{name} is a path below a folder, as in ud/UD_English-EWT/x.conllu, not {path[:80]!r}")
    if len(path.encode()) > LONGEST or max(len(part.encode()) for part in parts) > LONGEST_PART:
        table.refuse(f"{name} has at most {LONGEST:,} bytes, {LONGEST_PART} between slashes, unlike {path[:80]!r}...")
    if name == "place" and parts[0].casefold() == LOCK:
        table.refuse(f"place is {path[:80]!r}, the file with the digests of fetched files; expected another")
    return path
