"""The files that a study reads: which are missing, and the command that fetches them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from textwrap import fill
from typing import Any

from experiments.data.reading import names, read_recipe
from experiments.data.recipe import Download, Recipe
from pretrain.hub import on_hub

WIDTH = 120


def inputs(study: Any) -> list[Path]:
    """The files and folders that a study names, each once: all paths among its values, but for models of the hub."""
    return [path for path in dict.fromkeys(_paths(study)) if not on_hub(str(path))]


def _paths(value: Any) -> Iterator[Path]:
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _paths(getattr(value, field.name))
    match value:
        case Path():
            yield value
        case Mapping():
            yield from _paths(tuple(value.values()))
        case tuple():
            for item in value:
                yield from _paths(item)


def by_recipe(paths: list[Path], first: str) -> dict[str, list[Path]]:
    """The paths by the recipe that puts them in place, those that no recipe has under the empty name.

    Of several recipes it is `first`, or that which has most of the paths, or else the one with the fewest files.
    """
    recipes = {name: read_recipe(name) for name in names()}
    places = {name: _places(recipe) for name, recipe in recipes.items()}
    candidates = {path: [name for name, there in places.items() if not there.isdisjoint(_ends(path))] for path in paths}
    having = Counter(name for those in candidates.values() for name in those)

    def wanted(name: str) -> tuple[bool, int, int]:
        return name == first, having[name], -len(recipes[name].downloads)

    grouped: dict[str, list[Path]] = {}
    for path, those in candidates.items():
        grouped.setdefault(max(those, key=wanted, default=""), []).append(path)
    return grouped


def describe_files(study: Any, name: str) -> str:
    """Which of a study's files are missing or empty, and what fetches them; an empty text if it names none."""
    paths = inputs(study)
    missing = [path for path in paths if not _is_there(path)]
    if not missing:
        return f"files: all {len(paths):,} are there\n" if paths else ""
    how = "missing, empty or no files" if any(path.exists() for path in missing) else "missing"
    said = [f"files: {len(missing):,} of {len(paths):,} are {how}"]
    for recipe, those in sorted(by_recipe(missing, name).items(), reverse=True):
        said += [_command(read_recipe(recipe), those) if recipe else f"no recipe has {len(those):,} of them:"]
        said += _listed(those)
    return "\n".join(said) + "\n"


def _is_there(path: Path) -> bool:
    """Whether a folder, or a file with something in it, is there."""
    return path.is_dir() or (path.is_file() and path.stat().st_size > 0)


def _command(recipe: Recipe, paths: list[Path]) -> str:
    """The command that fetches the paths, and how much it fetches for them, as far as that is known."""
    ends = {end for path in paths for end in _ends(path)}
    wanted = [one for one in recipe.downloads if not ends.isdisjoint(_places_of(one))]
    known = sum(one.bytes or one.about_bytes for one in wanted)
    unknown = sum(not one.bytes and not one.about_bytes for one in wanted)
    size = f"about {known / 1e9:,.1f} GB" if known >= 1e9 else f"about {known / 1e6:,.1f} MB"
    sizes = [size] * (known > 0) + [f"{unknown:,} downloads of unknown size"] * (unknown > 0)
    trust = "" if all(one.pinned for one in wanted) else " --trust"
    return f"`calque data fetch {recipe.name}{trust}` gets {len(paths):,} of them ({' and '.join(sizes)}):"


def _listed(paths: list[Path]) -> list[str]:
    """The paths by folder."""
    folders: dict[Path, list[str]] = {}
    for path in paths:
        folders.setdefault(path.parent, []).append(path.name)
    return [
        fill(
            f"{folder}/ {' '.join(files)}", WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
        )
        for folder, files in folders.items()
    ]


def _places(recipe: Recipe) -> set[tuple[str, ...]]:
    return {place for download in recipe.downloads for place in _places_of(download)}


def _places_of(download: Download) -> set[tuple[str, ...]]:
    """Where a download's files go, and the folders above them, in parts."""
    files = [PurePosixPath(output.place) for output in download.outputs]
    return {place.parts for file in files for place in (file, *file.parents) if place.parts}


def _ends(path: Path) -> set[tuple[str, ...]]:
    """The path without any number of its first parts, as a place below a data folder may be it."""
    return {path.parts[i:] for i in range(len(path.parts))}
