"""`calque parser`: Stanza's models."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True)


@app.callback()
def parser() -> None:
    """Stanza's models, which parse text for languages with another word order."""


@app.command()
def fetch(
    language: Annotated[str, typer.Argument(help="Stanza's code of the language, as in en.")],
    out: Annotated[Path, typer.Argument(help="The folder of models to write.")],
) -> None:
    """Download Stanza's own models of a language, in the version that the installed Stanza names."""
    from calque.derive import parser

    version = parser.fetch(language, out)
    typer.echo(f"{out}: Stanza's models {version} of {language}")
