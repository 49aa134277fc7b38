"""Which recipes have a file that somebody misses."""

from __future__ import annotations

from pathlib import Path

from experiments.data.reading import names, read_recipe


def recipes_of(path: Path) -> list[str]:
    """The recipes that put a file where `path` ends, those with the fewest files first."""
    found = {}
    for name in names():
        outputs = list(read_recipe(name).outputs)
        if any(path.parts[-len(parts) :] == parts for parts in (Path(output.place).parts for output in outputs)):
            found[name] = len(outputs)
    return sorted(found, key=found.__getitem__)


def remedy(path: str | Path | None) -> str:
    """The command that fetches a file, or an empty text where no recipe has it."""
    recipes = recipes_of(Path(path or ""))
    return f"`calque data fetch {recipes[0]}` gets it" if recipes else ""
