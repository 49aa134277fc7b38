"""`calque show`: a sentence in derived languages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from derive.errors import BadInput
from experiments.commands.options import RUNS, Root

Languages = Annotated[
    list[str], typer.Argument(metavar="LANGUAGE...", help="As in trans.inv: transforms apply right to left.")
]


def show(
    text: str,
    languages: Languages,
    parser: Annotated[
        Path | None,
        typer.Option(envvar="CALQUE_STANZA", help="A folder of Stanza models, for languages with another word order."),
    ] = None,
    runs: Root = RUNS,
) -> None:
    """Print a sentence in each derived language, and where its words went."""
    from derive.parser import StanzaParser
    from derive.preview import side_by_side
    from derive.readers.text import split_sentences
    from derive.sentence import Sentence
    from experiments.names import transform

    transforms = [transform(language) for language in languages]
    sentences = [Sentence(tuple(words)) for words in split_sentences(text)]
    if not sentences:
        raise BadInput("no word in the text; expected a sentence")
    if any(one.needs_trees for one in transforms):
        if parser is None:
            raise BadInput("another word order needs a tree: name a folder of Stanza models with --parser")
        failed: Counter[str] = Counter()
        sentences = StanzaParser(parser).parse([sentence.words for sentence in sentences], failed)
        for why, count in failed.items():
            typer.echo(f"calque: {count} of {len(sentences)} without a tree, so in its own order: {why}", err=True)
        transforms = [one.ready(runs / "cache") for one in transforms]
    for number, sentence in enumerate(sentences):
        typer.echo(side_by_side(sentence, transforms, number))
