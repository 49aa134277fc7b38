"""`calque show`: a sentence in derived languages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import Root
from calque.experiments.places import CACHE, ROOT

Languages = Annotated[
    list[str], typer.Argument(metavar="LANGUAGE...", help="As in trans.inv: transforms apply right to left.")
]


def show(
    text: Annotated[str, typer.Argument(help="A text of one sentence or several, in quotes.")],
    languages: Languages,
    parser: Annotated[
        Path | None,
        typer.Option(envvar="CALQUE_STANZA", help="A folder of Stanza models, for languages with another word order."),
    ] = None,
    runs: Root = ROOT,
) -> None:
    """Print a sentence in each derived language, with its words, tags and glosses."""
    from calque.derive.derivation import sentences_of, transforms_of
    from calque.derive.preview import side_by_side
    from calque.derive.transforms import EXAMPLES

    transforms, wrong = transforms_of(languages, parser, runs / CACHE)
    sentences, failed = sentences_of(text, transforms, parser)
    for why, count in failed.items():
        typer.echo(f"calque: {count} of {len(sentences)} without a tree, so in its own order: {why}", err=True)
    for number, sentence in enumerate(sentences if transforms else ()):
        typer.echo(side_by_side(sentence, transforms, number))
    if wrong:
        known = f"there are {', '.join(EXAMPLES)}"  # said once, at the end; the other languages are shown all the same
        once = [message.replace(known, "").rstrip("; ") for message in wrong]
        raise BadInput("; ".join([*once, known] if once != wrong else wrong))
