"""The command that inspects a model: `calque look`."""

from pathlib import Path
from typing import Annotated

import typer

from calque.experiments.commands.options import check_out


def look(
    checkpoint: Annotated[
        Path, typer.Argument(help="A run's `checkpoint` folder, or a masked language model.")
    ],
    sentence: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Source words separated by spaces. The model guesses each `<mask>`; without a mask, each "
            "word is masked in turn. Default: a sentence from the model's corpus.",
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            metavar="WORD,WORD", help="Show these words' nearest neighbours. Default: the sentence's words."
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option(metavar="NAME", help="The derived language. Default: the first one.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an HTML page instead of text.")
    ] = None,
) -> None:
    """Inspect a model's guesses, nearest neighbours and alignment."""
    if html:
        check_out(html, checkpoint.rglob("*"))
    from calque.analysis.checkpoint import Checkpoint
    from calque.analysis.looking import look as look_into
    from calque.analysis.report.page import write_look

    chosen = [word.strip() for word in words.split(",")] if words else []
    inspection = look_into(Checkpoint.open(checkpoint), sentence or "", chosen, language or "")
    if html:
        write_look(html, f"Calque: a look inside {_name_of(checkpoint)}", inspection)
    typer.echo(html or inspection)


def _name_of(model: Path) -> str:
    """Return a model's folder or, for a run's checkpoint, the run's languages, objective and seed."""
    parts = model.resolve().parts
    return "/".join(parts[-4:-1]) if parts[-1] == "checkpoint" else parts[-1]
