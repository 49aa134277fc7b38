"""Recipes: URLs, sizes, digests and licences of public data (recipes.toml; docs/data.md lists the keys)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from calque.derive.errors import BadInput, unknown
from calque.derive.files import read_toml

LOCK = "fetched.json"  # the file in the data folder with the digests of downloads and files
RECIPES = Path(__file__).with_name("recipes.toml")
EACH = "{}"  # the placeholder for a name in `for` or `each`
SIZE = re.compile(r"(?P<about>about )?(?P<bytes>\d+)?(?: (?P<digest>[0-9a-f]{64}))?")  # a value in `each`


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
    downloads = [download for file in table.get("file", ()) for download in _downloads(file, table)]
    for other in table.get("includes", ()):
        downloads += read_recipe(other).downloads
    return Recipe(name, table["about"], tuple(dict.fromkeys(downloads)))


def _downloads(file: Mapping[str, Any], recipe: Mapping[str, Any]) -> Iterator[Download]:
    """Yield the download in a `file` table, or one per name in its `for` or `each`. Sizes and digests in
    `each` describe the download, or the only file unpacked from it."""
    for name, size in (file.get("each") or dict.fromkeys(file.get("for", [EACH]), "")).items():
        match = SIZE.fullmatch(size)
        assert match, size
        number = int(match["bytes"] or 0)
        own: dict[str, Any] = {"bytes": 0 if match["about"] else number, "sha256": match["digest"] or ""}
        stated: dict[str, Any] = {"bytes": file.get("bytes", 0), "sha256": file.get("sha256", "")}
        if "place" in file:
            stated = own if size else stated
            outputs = [Output(file["place"].replace(EACH, name), **stated)]
        elif size:
            outputs = [Output(file["unpack"][0]["place"].replace(EACH, name), decompress=True, **own)]
        else:
            outputs = [output for unpack in file["unpack"] for output in _outputs(unpack)]
        yield Download(
            url=file["url"].replace(EACH, name),
            outputs=tuple(outputs),
            licence=file.get("licence") or recipe["licence"],
            terms=file.get("terms") or recipe["terms"],
            about_bytes=number if match["about"] else 0,
            **stated,
        )


def _outputs(unpack: Mapping[str, Any]) -> Iterator[Output]:
    for text in unpack.get("for", [EACH]):
        yield Output(
            place=unpack["place"].replace(EACH, text),
            inside=tuple(name.replace(EACH, text) for name in unpack.get("inside", ())),
            decompress="inside" not in unpack,
            where={column: value.replace(EACH, text) for column, value in unpack.get("where", {}).items()},
            bytes=unpack.get("bytes", 0),
            sha256=unpack.get("sha256", ""),
        )


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
