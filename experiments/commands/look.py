"""`calque look`: what a checkpoint has learnt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from calque.experiments.commands.options import check_out


def look(
    checkpoint: Annotated[Path, typer.Argument(help="The folder `checkpoint` of a run, or any masked language model.")],
    sentence: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Words of the source, between spaces; `<mask>` is guessed, or without it each word in turn. Default: "
            "a sentence of the model's corpus.",
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(metavar="WORD,WORD", help="Words whose neighbours are shown. Default: words of the sentence."),
    ] = None,
    language: Annotated[
        str | None, typer.Option(metavar="NAME", help="The derived language to compare with. Default: the first one.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page, instead of text.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Look into a model: its guesses, nearest words, and the alignment of a sentence with its derivation."""
    if html:
        check_out(html, ())
    from calque.analysis.checkpoint import Checkpoint
    from calque.analysis.looking.look import look as look_into

    found = look_into(Checkpoint.open(checkpoint), sentence or "", words.split(",") if words else (), language or "")
    if html:
        from calque.analysis.report.page import write_look

        *above, name = checkpoint.resolve().parts
        write_look(html, f"Calque: a look into {'/'.join(above[-3:]) if name == 'checkpoint' else name}", found)
        typer.echo(html)
    else:
        typer.echo(json.dumps(found.json, ensure_ascii=False) if as_json else found)
