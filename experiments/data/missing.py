"""Which recipes have a file that somebody misses."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from experiments.data.reading import names, read_recipe


def recipes_of(path: Path) -> list[str]:
    """The recipes that put a file where `path` ends, those with the fewest files first."""
    found = [name for name in names() if any(path.parts[-len(parts) :] == parts for parts in _places(name))]
    return sorted(found, key=lambda name: len(_places(name)))


@cache
def _places(recipe: str) -> list[tuple[str, ...]]:
    """Where a recipe puts its files."""
    return [Path(output.place).parts for output in read_recipe(recipe).outputs]


def remedy(path: str | Path | None) -> str:
    """The command that fetches a file, or an empty text where no recipe has it."""
    recipes = recipes_of(Path(path or ""))
    return f"`calque data fetch {recipes[0]}` gets it" if recipes else ""
