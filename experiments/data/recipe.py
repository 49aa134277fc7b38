"""Recipes: URLs, sizes, digests and licences of public data (recipes.toml; docs/data.md lists the keys)."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from calque.derive.errors import BadInput, unknown
from calque.derive.files import read_toml

RECIPES = Path(__file__).with_name("recipes.toml")


@dataclass(frozen=True)
class Output:
    """A file at the path `place` below the data folder: the download itself, its decompressed content, or the
    member that `inside` names, possibly in nested archives. `where` selects a table's rows by column
    values."""

    place: str
    inside: tuple[str, ...] = ()
    decompress: bool = False
    where: Mapping[str, str] = field(default_factory=dict, hash=False)
    bytes: int = 0
    sha256: str = ""


@dataclass(frozen=True)
class Download:
    """A file to fetch. `bytes` is its size, or 0 if unknown, and `about_bytes` an estimate; `sha256` is empty
    if no digest is published."""

    url: str
    outputs: tuple[Output, ...]
    licence: str
    terms: str
    bytes: int = 0
    about_bytes: int = 0
    sha256: str = ""

    @property
    def name(self) -> str:
        return PurePosixPath(urlsplit(self.url).path).name

    @property
    def pinned(self) -> bool:
        """Whether a digest of the download, or of each output, is published."""
        return bool(self.sha256) or all(output.sha256 for output in self.outputs)


@dataclass(frozen=True)
class Recipe:
    """A named list of downloads, including those from included recipes."""

    name: str
    about: str
    downloads: tuple[Download, ...]

    @property
    def outputs(self) -> list[Output]:
        return [output for download in self.downloads for output in download.outputs]


@cache
def _tables() -> dict[str, Any]:
    return read_toml(RECIPES)


def names() -> list[str]:
    """Return the names of all recipes, sorted."""
    return sorted(_tables())


@cache
def read_recipe(name: str) -> Recipe:
    """Read a recipe, including the downloads of the recipes that it includes."""
    if name not in names():
        raise BadInput(unknown("recipe", name, names()))
    table = _tables()[name]
    downloads = list[Download]()
    for file in table.get("file", ()):
        downloads += [_download(table | copy) for copy in _copies(file)]
    for other in table.get("includes", ()):
        downloads += read_recipe(other).downloads
    return Recipe(name, table["about"], tuple(dict.fromkeys(downloads)))


def _download(table: Mapping[str, Any]) -> Download:
    size, about, digest = _size(table)
    if "place" in table:
        outputs = [Output(table["place"], bytes=size, sha256=digest)]
    else:
        outputs = [_output(copy) for unpack in table["unpack"] for copy in _copies(unpack)]
    return Download(table["url"], tuple(outputs), table["licence"], table["terms"], size, about, digest)


def _output(table: Mapping[str, Any]) -> Output:
    size, _, digest = _size(table)
    inside, where = tuple(table.get("inside", ())), table.get("where", {})
    return Output(table["place"], inside, not inside, where, size, digest)


def _size(table: Mapping[str, Any]) -> tuple[int, int, str]:
    """Return the bytes, estimated bytes and SHA-256 in a table's `size`: "", "about N", "N" or "N DIGEST"."""
    words = table.get("size", "").split()
    if not words:
        return 0, 0, ""
    if words[0] == "about":
        return 0, int(words[1]), ""
    return int(words[0]), 0, words[1] if words[1:] else ""


def _copies(template: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a copy of a table for each row in its `for` or `each`, with the fields in braces replaced by the
    row's values."""
    table = dict(template)
    rows = table.pop("for", [{}])
    if isinstance(rows, Mapping):
        rows = [dict(zip(rows, values, strict=True)) for values in product(*rows.values())]
    if "each" in table:
        rows = [{"": name, "size": size} for name, size in table.pop("each").items()]
    for row in rows:
        yield _filled(table, row if isinstance(row, Mapping) else {"": row})


def _filled(value: Any, row: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(item, row) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, row) for item in value]
    for name, text in row.items():
        value = value.replace(f"{{{name}}}", text)
    return value


def sizes(downloads: Sequence[Download]) -> str:
    """Describe the total size of downloads, and how many sizes are unknown."""
    known = [download for download in downloads if download.bytes or download.about_bytes]
    total = sum(download.bytes or download.about_bytes for download in known)
    about = "" if all(download.bytes for download in known) else "about "
    parts = [f"{about}{total:,} bytes"] if known else []
    if len(known) < len(downloads):
        parts.append(f"{len(downloads) - len(known):,} of unknown size")
    return ", ".join(parts)


# Recipes for given files


@cache
def _places(recipe: str) -> set[str]:
    """Return the paths of a recipe's files and of their parent folders."""
    files = [PurePosixPath(output.place) for output in read_recipe(recipe).outputs]
    return {str(place) for file in files for place in (file, *file.parents)}


def recipe_of(path: Path, first: str = "") -> str:
    """Return a recipe that provides the file or folder `path`, whatever the data folder: `first` if it
    provides the file, otherwise the smallest such recipe, or "" if there is none."""
    ends = {"/".join(path.parts[i:]) for i in range(len(path.parts))}
    found = [name for name in names() if ends & _places(name)]
    return first if first in found else min(found, key=lambda name: len(_places(name)), default="")


def by_recipe(paths: Sequence[Path], first: str) -> dict[str, list[Path]]:
    """Group paths by their recipe, with paths that belong to no recipe last."""
    grouped: dict[str, list[Path]] = {}
    for path in paths:
        grouped.setdefault(recipe_of(path, first), []).append(path)
    return dict(sorted(grouped.items(), key=lambda item: (not item[0], item[0])))


def inputs(study: Any) -> list[Path]:
    """Return the files and folders that a study's values name."""
    return list(dict.fromkeys(_paths(study)))


def _paths(value: Any) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
    elif dataclasses.is_dataclass(value):
        for part in dataclasses.fields(value):
            yield from _paths(getattr(value, part.name))
    elif isinstance(value, Mapping | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _paths(item)
