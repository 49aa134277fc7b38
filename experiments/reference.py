"""The table of commands in the documentation, made from the commands themselves."""

from collections.abc import Iterator
from typing import Any


def reference(group: Any) -> list[str]:
    """The lines of a table with each command of a typer group and its first sentence of help."""
    return ["| command | what it does |", "|---|---|", *_rows(group, "calque")]


def _rows(command: Any, name: str) -> Iterator[str]:
    children = getattr(command, "commands", {})
    for key, child in children.items():
        yield from _rows(child, f"{name} {key}")
    if not children:
        paragraph = (command.help or "").partition("\n\n")[0]
        sentence = " ".join(paragraph.split()).partition(". ")[0].removesuffix(".")
        yield f"| `{name}` | {sentence} |"
