"""Recipes: URLs, digests and licences of public data (recipes.toml; docs/data.md lists the keys)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any

from calque.derive.errors import BadInput, unknown
from calque.derive.files import read_toml
from calque.derive.transforms import Translate
from calque.experiments.run.step import parts_of


@dataclass(frozen=True)
class File:
    """A file at the path `place` below the data folder: the download from `url` or, of an archive, the member
    `inside` (` > ` separates nested members). `where`, as in `language=de`, selects a table's rows. The
    SHA-256 digests of the download and of its `unpacked` content may be empty."""

    url: str
    place: str
    inside: str = ""
    where: str = ""
    sha256: str = ""
    unpacked: str = ""

    @property
    def digest(self) -> str:
        return self.unpacked or ("" if self.inside else self.sha256)


@dataclass(frozen=True)
class Recipe:
    """A named list of files."""

    name: str
    about: str
    licence: str
    terms: str
    files: tuple[File, ...]

    @property
    def pinned(self) -> bool:
        """Whether all files, or the downloads that contain them, have a published digest."""
        return all(file.sha256 or file.unpacked for file in self.files)


@cache
def _tables() -> dict[str, Any]:
    return read_toml(Path(__file__).with_name("recipes.toml"))


def names() -> list[str]:
    """Return the names of all recipes, sorted."""
    return sorted(_tables())


@cache
def read_recipe(name: str) -> Recipe:
    """Read the recipe with this name. Raises BadInput if there is none."""
    if name not in names():
        raise BadInput(unknown("recipe", name, names()))
    table = _tables()[name]
    keys = [field.name for field in fields(File)]
    files = []
    for part in table.get("file", [table]):
        for words in combinations(part):
            templates = {key: text for key, text in (part | words).items() if key in keys}
            files.append(File(**{key: text.format_map(words) for key, text in templates.items()}))
    return Recipe(name, table["about"], table["licence"], table["terms"], tuple(files))


def combinations(table: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield the words for names in braces: each row of `rows` with each combination of words in `for`."""
    lists, lines = table.get("for", {}), table.get("rows", "").split("\n")[:-1] or ["", ""]
    for words in product(*map(str.split, lists.values())):
        for line in lines[1:]:
            row = dict(zip(lines[0].split(), line.split(), strict=True))
            yield row | {key: word.format_map(row) for key, word in zip(lists, words, strict=True)}


def by_url(files: Iterable[File]) -> dict[str, list[File]]:
    """Group files by the download that contains them."""
    groups: dict[str, list[File]] = {}
    for file in files:
        groups.setdefault(file.url, []).append(file)
    return groups


def fetching(recipes: Iterable[str]) -> str:
    """Return the command that fetches recipes."""
    trust = "" if all(read_recipe(name).pinned for name in recipes) else " --trust"
    return f"calque data fetch {' '.join(recipes)}{trust}"


def recipe_of(path: Path) -> str:
    """Return a recipe that provides the file or folder `path` in any data folder, or ""."""
    for name in names():
        files = [PurePosixPath(file.place) for file in read_recipe(name).files]
        places = {place.parts for file in files for place in (file, *file.parents[:-1])}
        if any(path.parts[-len(place) :] == place for place in places):
            return name
    return ""


def inputs(study: Any) -> list[Path]:
    """Return the files and folders that a study's values name."""
    lexicons = (transform.lexicon for transform in parts_of(study, Translate))
    return list(dict.fromkeys((*parts_of(study, Path), *lexicons)))
