"""The files that a study reads: which are missing, and the command that fetches them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from textwrap import fill
from typing import Any

from experiments.data.recipe import Download, Recipe, names, read_recipe
from experiments.facts import counted
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

    Of several recipes it is `first`, then again and again that which has most of the paths that are left, of those
    first of which half of the downloads or more are for these; or else the one with the fewest downloads.
    """
    recipes = {name: read_recipe(name) for name in names()}
    left, grouped = list(paths), dict[str, list[Path]]()

    def worth(name: str) -> tuple[bool, bool, int, int]:
        downloads, found = recipes[name].downloads, _found(recipes[name], left)
        return (
            bool(found) and name == first,
            2 * len(_wanted(recipes[name], left)) >= len(downloads),
            len(found),
            -len(downloads),
        )

    while left and (found := _found(recipes[best := max(recipes, key=worth)], left)):
        grouped[best] = found
        left = [path for path in left if path not in found]
    return grouped | ({"": left} if left else {})


def _found(recipe: Recipe, paths: list[Path]) -> list[Path]:
    """Those of the paths that a recipe puts in place."""
    there = {place for download in recipe.downloads for place in _places_of(download)}
    return [path for path in paths if not there.isdisjoint(_ends(path))]


def _wanted(recipe: Recipe, paths: list[Path]) -> list[Download]:
    """The downloads of a recipe that any of the paths comes from."""
    ends = {end for path in paths for end in _ends(path)}
    return [one for one in recipe.downloads if not ends.isdisjoint(_places_of(one))]


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
    """The command that fetches the paths, and how much it fetches for them and beside them, as far as that is known."""
    wanted = _wanted(recipe, paths)
    others = [one for one in recipe.downloads if one not in wanted]
    size = _size(wanted) + (f", and beside them {_size(others)}" if others else "")
    trust = "" if all(one.pinned for one in recipe.downloads) else " --trust"
    return f"`calque data fetch {recipe.name}{trust}` gets {len(paths):,} of them ({size}):"


def _size(downloads: Sequence[Download]) -> str:
    """How much they are, as far as that is known."""
    known = sum(one.bytes or one.about_bytes for one in downloads)
    unknown = sum(not one.bytes and not one.about_bytes for one in downloads)
    size = f"about {known / 1e9:,.1f} GB" if known >= 1e9 else f"about {known / 1e6:,.1f} MB"
    return " and ".join([size] * (known > 0) + [counted(unknown, "download") + " of unknown size"] * (unknown > 0))


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


def _places_of(download: Download) -> set[tuple[str, ...]]:
    """Where a download's files go, and the folders above them, in parts."""
    files = [PurePosixPath(output.place) for output in download.outputs]
    return {place.parts for file in files for place in (file, *file.parents) if place.parts}


def _ends(path: Path) -> set[tuple[str, ...]]:
    """The path without any number of its first parts, as a place below a data folder may be it."""
    return {path.parts[i:] for i in range(len(path.parts))}
