"""The files that a study needs, and the recipes that provide them."""

import dataclasses
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from textwrap import fill
from typing import Any

from calque.experiments.data.recipe import read_recipe, recipes_of, sizes
from calque.pretrain.hub import on_hub

WIDTH = 80


def inputs(study: Any) -> list[Path]:
    """Return the files and folders that a study names, except models on the Hub."""
    return [path for path in dict.fromkeys(_paths(study)) if not on_hub(str(path))]


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


parent = attrgetter("parent")


def describe_files(study: Any, name: str) -> str:
    """Describe a study's missing or empty files and the commands that fetch them; "" if it uses no files."""
    paths = inputs(study)
    missing = [path for path in paths if not (path.is_dir() or (path.is_file() and path.stat().st_size > 0))]
    if not missing:
        return f"files: {len(paths):,} needed, none missing\n" if paths else ""
    lines = [f"files: {len(missing):,} of {len(paths):,} are missing or empty"]
    for recipe, found in by_recipe(missing, name).items():
        lines.append(f"no recipe provides {len(found):,} of them:")
        if recipe:
            downloads = read_recipe(recipe).downloads
            trust = "" if all(download.pinned for download in downloads) else " --trust"
            lines[-1] = (
                f"`calque data fetch {recipe}{trust}` gets {len(found):,} of them ({sizes(downloads)}):"
            )
        for folder, files in groupby(sorted(found, key=parent), parent):
            text = f"  {folder}/ {' '.join(path.name for path in files)}"
            lines.append(
                fill(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)
            )
    return "\n".join(lines) + "\n"
