"""Recipes: URLs, sizes, digests and licences of public data (recipes.toml; docs/data.md lists the keys)."""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from calque.derive.errors import BadInput, unknown
from calque.derive.files import read_toml

LOCK = "fetched.json"  # the file in the data folder with the digests of downloads and files
RECIPES = Path(__file__).with_name("recipes.toml")
SIZE = re.compile(r"(?:about (?P<about>\d+)|(?P<bytes>\d+)(?: (?P<digest>[0-9a-f]{64}))?)?")


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
        """Whether a digest of the download, or of each of its outputs, is published."""
        return bool(self.sha256) or all(output.sha256 for output in self.outputs)


@dataclass(frozen=True)
class Recipe:
    """Named downloads, also from included recipes."""

    name: str
    about: str
    downloads: tuple[Download, ...]

    @property
    def outputs(self) -> Iterator[Output]:
        return (output for download in self.downloads for output in download.outputs)


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
    downloads = list(_downloads(table))
    for other in table.get("includes", ()):
        downloads += read_recipe(other).downloads
    return Recipe(name, table["about"], tuple(dict.fromkeys(downloads)))


def _downloads(recipe: Mapping[str, Any]) -> Iterator[Download]:
    common = {key: recipe[key] for key in ("licence", "terms") if key in recipe}
    for file in recipe.get("file", ()):
        for table in _copies({**common, **file}):
            size, about, digest = _size(table)
            if "place" in table:
                outputs = [Output(table["place"], bytes=size, sha256=digest)]
            else:
                outputs = [_output(one) for unpack in table["unpack"] for one in _copies(unpack)]
            yield Download(
                url=table["url"],
                outputs=tuple(outputs),
                licence=table["licence"],
                terms=table["terms"],
                bytes=size,
                about_bytes=about,
                sha256=digest,
            )


def _output(unpack: Mapping[str, Any]) -> Output:
    size, _, digest = _size(unpack)
    return Output(
        place=unpack["place"],
        inside=tuple(unpack.get("inside", ())),
        decompress="inside" not in unpack,
        where=unpack.get("where", {}),
        bytes=size,
        sha256=digest,
    )


def _size(table: Mapping[str, Any]) -> tuple[int, int, str]:
    """Return the bytes, estimated bytes and SHA-256 in a table's `size`; 0, 0 and "" where it states none."""
    size = SIZE.fullmatch(table.get("size", ""))
    assert size, table["size"]
    return int(size["bytes"] or 0), int(size["about"] or 0), size["digest"] or ""


def _copies(template: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a copy of a table for each row of values in its `for` or `each`, filled into fields in braces."""
    table = dict(template)
    each, rows = table.pop("each", {}), table.pop("for", [{}])
    if each:
        rows = [{"": name, "size": size} for name, size in each.items()]
    elif isinstance(rows, Mapping):
        rows = [dict(zip(rows, values, strict=True)) for values in product(*rows.values())]
    for row in rows:
        yield _filled(table, row if isinstance(row, Mapping) else {"": row})


def _filled(value: Any, row: Mapping[str, str]) -> Any:
    """Replace `{field}` by the row's value in all strings inside a value."""
    if isinstance(value, Mapping):
        return {key: _filled(item, row) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, row) for item in value]
    for field_name, text in row.items():
        value = value.replace(f"{{{field_name}}}", text)
    return value


def sizes(downloads: Sequence[Download]) -> str:
    """Describe the total size of downloads: stated bytes, estimated bytes, and how many sizes are unknown."""
    total = sum(download.bytes for download in downloads)
    guesses = [download.about_bytes for download in downloads if not download.bytes and download.about_bytes]
    unsized = sum(not download.bytes and not download.about_bytes for download in downloads)
    parts = [f"{total:,} bytes"] if total else []
    if guesses:
        parts.append(f"about {sum(guesses):,} {'more' if total else 'bytes'} (estimates of {len(guesses):,})")
    if unsized:
        parts.append(f"{unsized:,} of unknown size")
    return ", ".join(parts)


def recipes_of(path: Path) -> list[str]:
    """Return the recipes, smallest first, that provide a file or folder whose path is the end of `path`."""
    ends = {path.parts[i:] for i in range(len(path.parts))}
    found = [name for name in names() if not ends.isdisjoint(_places(name))]
    return sorted(found, key=lambda name: len(_places(name)))


def remedy(path: str | Path | None) -> str:
    """Return the command that fetches a file, or "" if no recipe provides it."""
    recipes = recipes_of(Path(path or ""))
    return f"`calque data fetch {recipes[0]}` gets it" if recipes else ""


@cache
def _places(recipe: str) -> set[tuple[str, ...]]:
    """Return the paths of a recipe's files and all their parent folders, each split into its components."""
    files = [PurePosixPath(output.place) for output in read_recipe(recipe).outputs]
    return {place.parts for file in files for place in (file, *file.parents) if place.parts}


def inputs(study: Any) -> list[Path]:
    """Return the files and folders that a study names."""
    return list(dict.fromkeys(_paths(study)))


def _paths(value: Any) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
        return
    if dataclasses.is_dataclass(value):
        value = tuple(getattr(value, field.name) for field in dataclasses.fields(value))
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple):
        for item in value:
            yield from _paths(item)


def by_recipe(paths: list[Path], first: str) -> dict[str, list[Path]]:
    """Group paths by a recipe that provides them: `first` if it does, otherwise the smallest, or "" if there
    is none."""
    grouped: dict[str, list[Path]] = {}
    for path in paths:
        recipes = recipes_of(path) or [""]
        grouped.setdefault(first if first in recipes else recipes[0], []).append(path)
    return dict(sorted(grouped.items(), key=lambda item: (not item[0], item[0])))
