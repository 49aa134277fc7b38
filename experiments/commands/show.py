"""`calque show`: a sentence in derived languages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from derive.errors import BadInput
from experiments.commands.options import Root
from experiments.places import CACHE, ROOT

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
    from derive.bpe import SMALLEST
    from derive.build import trial_image
    from derive.parser import StanzaParser
    from derive.preview import side_by_side
    from derive.readers.text import split_sentences
    from derive.sentence import Sentence
    from derive.transforms import EXAMPLES, transform

    transforms, wrong = [], []
    for language in languages:
        try:
            derivation = transform(language)
            if "trees" in derivation.needs:
                if parser is None:
                    raise BadInput(f"{language} needs a tree: name a folder of Stanza models with --parser")
                StanzaParser(parser).fingerprint()  # before an order is learnt, which may take a minute
            trial_image(derivation, SMALLEST)
            transforms.append(derivation.ready(runs / CACHE))
        except (BadInput, ValueError) as error:
            wrong.append(str(error))
    sentences = [Sentence(tuple(words)) for words in split_sentences(text)]
    if not sentences:
        raise BadInput("no word in the text; expected a sentence")
    if parser is not None and any("trees" in transform.needs for transform in transforms):
        failed: Counter[str] = Counter()
        sentences = StanzaParser(parser).parse([sentence.words for sentence in sentences], failed)
        for why, count in failed.items():
            typer.echo(f"calque: {count} of {len(sentences)} without a tree, so in its own order: {why}", err=True)
    for number, sentence in enumerate(sentences if transforms else ()):
        typer.echo(side_by_side(sentence, transforms, number))
    if wrong:
        known = f"there are {', '.join(EXAMPLES)}"  # said once, at the end; the other languages are shown all the same
        once = [message.replace(known, "").rstrip("; ") for message in wrong]
        raise BadInput("; ".join([*once, known] if once != wrong else wrong))
