"""`calque compare`: whether two reports have the same records, to the last digit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SHOWN = 20
"""Differences that are listed; the others are counted."""


def compare(
    first: Annotated[Path, typer.Argument(help="A folder with records.jsonl and runs.jsonl: a report, or a record.")],
    second: Annotated[Path, typer.Argument(help="The folder to compare it with.")],
) -> None:
    """Compare the records of two reports, field by field; exit code 1 if any differs or is missing."""
    from experiments.comparison import compare

    found = compare(first, second)
    for line in found.different[:SHOWN]:
        typer.echo(line)
    if len(found.different) > SHOWN:
        typer.echo(f"... and {len(found.different) - SHOWN:,} more")
    if found.without_items:
        typer.echo(f"items of {found.without_items:,} records are in one of the two only, and are not compared")
    typer.echo(found.summary)
    if found.different:
        raise typer.Exit(1)
