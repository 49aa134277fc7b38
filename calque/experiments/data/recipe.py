"""Recipes: URLs, sizes, digests and licences of public data (recipes.toml; docs/data.md lists the keys)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from calque.derive.errors import BadInput, unknown
from calque.derive.files import read_toml
from calque.derive.words import Translate
from calque.experiments.run.step import parts_of

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
    """A file to fetch. `bytes` is its size, or 0 if unknown; `sha256` is empty if no digest is published."""

    url: str
    outputs: tuple[Output, ...]
    licence: str
    terms: str
    bytes: int = 0
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
    """A named list of downloads."""

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
    """Read the recipe with this name."""
    if name not in names():
        raise BadInput(unknown("recipe", name, names()))
    table, files_by_url = dict(_tables()[name]), dict[str, list[dict[str, Any]]]()
    for file in table.pop("file", [{}]):
        for fields in _expanded(table | file):
            files_by_url.setdefault(fields["url"], []).append(fields)
    downloads = []
    for url, files in files_by_url.items():
        first, outputs = files[0], tuple(map(_output, files))
        size = _size(first.get("size", ""))
        downloads.append(Download(url, outputs, first["licence"], first["terms"], *size))
    return Recipe(name, table["about"], tuple(downloads))


def _expanded(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a table of fields for each combination of the words in `for` and each row of `rows`."""
    lines, lists = table.get("rows", "").strip().splitlines(), table.get("for", {})
    names = lines[0].split() if lines else []
    cells = [line.split(maxsplit=len(names) - 1) for line in lines[1:]]
    rows = [dict(zip(names, row, strict=False)) for row in cells] or [{}]  # a row may lack its last cells
    for words, row in product(product(*map(str.split, lists.values())), rows):
        chosen = _filled(dict(zip(lists, words, strict=True)), row) | row
        yield _filled(table | row, chosen)


def _filled(value: Any, row: Mapping[str, str]) -> Any:
    """Replace the names in braces in a text, or in each text of a list or table, by a row's values."""
    if isinstance(value, Mapping):
        return {key: _filled(item, row) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, row) for item in value]
    for name, text in row.items():
        value = value.replace(f"{{{name}}}", text)
    return value


def _output(file: Mapping[str, Any]) -> Output:
    inside, unpacked = tuple(file.get("inside", ())), file.get("unpacked", "")
    size = _size(unpacked or ("" if inside else file.get("size", "")))
    return Output(file["place"], inside, bool(unpacked), file.get("where", {}), *size)


def _size(text: str) -> tuple[int, str]:
    """Return the bytes and the SHA-256 in a size: "N DIGEST", or "" if they are unknown."""
    number, _, digest = text.partition(" ")
    return int(number or 0), digest


def sizes(downloads: Sequence[Download]) -> str:
    """Describe the total size of downloads, and how many sizes are unknown."""
    known = [download.bytes for download in downloads if download.bytes]
    parts = [f"{sum(known):,} bytes"] if known else []
    if unknown_sizes := len(downloads) - len(known):
        parts.append(f"{unknown_sizes:,} of unknown size")
    return ", ".join(parts)


@cache
def _recipes_by_place() -> dict[str, str]:
    """Map the path of each file in a recipe, and of its parent folders, to the recipe."""
    recipes: dict[str, str] = {}
    for name in names():
        for file in (PurePosixPath(output.place) for output in read_recipe(name).outputs):
            for place in (file, *file.parents[:-1]):
                recipes.setdefault(str(place), name)
    return recipes


def recipe_of(path: Path) -> str:
    """Return a recipe that provides the file or folder `path`, whatever the data folder, or "" if there is
    none."""
    ends = ("/".join(path.parts[i:]) for i in range(len(path.parts)))
    return min(filter(None, map(_recipes_by_place().get, ends)), default="")


def by_recipe(paths: Sequence[Path]) -> dict[str, list[Path]]:
    """Group paths by their recipe, with paths that belong to no recipe last."""
    paths_by_recipe: dict[str, list[Path]] = {}
    for path in paths:
        paths_by_recipe.setdefault(recipe_of(path), []).append(path)
    return dict(sorted(paths_by_recipe.items(), key=lambda item: (not item[0], item[0])))


def inputs(study: Any) -> list[Path]:
    """Return the files and folders that a study's values name."""
    lexicons = (transform.lexicon for transform in parts_of(study, Translate))
    return list(dict.fromkeys((*parts_of(study, Path), *lexicons)))
