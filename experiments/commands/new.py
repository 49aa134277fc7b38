"""`calque new`: a commented file of one's own with its test, from `experiments.templates`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calque.experiments.own_files import KINDS, write_new


def new(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"One of {', '.join(KINDS)}.")],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name of the part and its file, or of the lesson's folder.")
    ],
    to: Annotated[
        Path, typer.Option(metavar="DIR", file_okay=False, help="The folder for the files. Default: the current one.")
    ] = Path(),
) -> None:
    """Write a small working part of your own, or copy a lesson.

    A part is NAME.py with its test, test_NAME.py; a lesson is a folder NAME.

    Existing files are kept.
    """
    for path in write_new(kind, name, to):
        typer.echo(path)
