"""`calque look`: inspecting a checkpoint."""

from pathlib import Path
from typing import Annotated

import typer

from calque.experiments.commands.options import check_out


def look(
    checkpoint: Annotated[
        Path, typer.Argument(help="A run's `checkpoint` folder, or any masked language model.")
    ],
    sentence: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Source words separated by spaces. Each `<mask>` is guessed; without one, each word is "
            "masked in turn. Default: a sentence from the model's corpus.",
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            metavar="WORD,WORD", help="Words whose nearest neighbours to show. Default: the sentence's."
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The derived language to compare with. Default: the first one."),
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

    found = look_into(
        Checkpoint.open(checkpoint),
        sentence or "",
        [word.strip() for word in words.split(",")] if words else (),
        language or "",
    )
    if html:
        from calque.analysis.report.page import write_look

        *above, name = checkpoint.resolve().parts
        write_look(
            html, f"Calque: a look into {'/'.join(above[-3:]) if name == 'checkpoint' else name}", found
        )
        typer.echo(html)
    else:
        typer.echo(found)
