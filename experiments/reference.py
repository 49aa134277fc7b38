"""The list of commands in the documentation, made from the commands themselves."""

from collections.abc import Iterator
from typing import Any


def reference(group: Any) -> list[str]:
    """One line for each command of a typer group, with its first sentence of help."""
    return [*_rows(group, "calque")]


def _rows(command: Any, name: str) -> Iterator[str]:
    children = getattr(command, "commands", {})
    for key, child in children.items():
        yield from _rows(child, f"{name} {key}")
    if not children:
        paragraph = (command.help or "").partition("\n\n")[0]
        sentence = " ".join(paragraph.split()).partition(". ")[0].removesuffix(".")
        yield f"- `{name}`: {sentence}"
