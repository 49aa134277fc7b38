"""Shared arguments and options."""

from pathlib import Path
from typing import Annotated

import typer

Own = Annotated[
    str | None,
    typer.Option(
        "--study", metavar="STUDY", help="A study, such as my_study.py, that defines its own transforms."
    ),
]
Parser = Annotated[
    Path | None,
    typer.Option(
        envvar="CALQUE_STANZA", help="A folder of Stanza models, for transforms that need syntax trees."
    ),
]
Root = Annotated[Path, typer.Option("--runs", file_okay=False, help="The results folder.")]
