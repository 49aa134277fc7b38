"""`calque show`, which derives sentences, and `calque look`, which inspects a model."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import Own, Parser, Root
from calque.experiments.run.places import CACHE, ROOT

if TYPE_CHECKING:
    from calque.derive.transform import Transform


def show(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT LANGUAGE...",
            help="A text in quotes, then languages; trans.inv is trans applied to the output of inv.",
        ),
    ] = None,
    study: Own = None,
    parser: Parser = None,
    runs: Root = ROOT,
) -> None:
    """Print a sentence in derived languages, with glosses."""
    from calque.derive.on_demand import sentences_of, side_by_side, transforms_of

    study_transforms = _transforms(study)
    text, *languages = words or [""]
    languages = languages or list(study_transforms)
    if not languages:
        raise BadInput('expected a text in quotes and a language, as in: calque show "Sara ate ." trans.inv')
    try:
        transforms = transforms_of(languages, parser, runs / CACHE, study_transforms)
    except BadInput as error:
        hint = "" if " " in text else "; put a text of several words in quotes"
        raise BadInput(f"{error}{hint}") from None
    sentences, failed = sentences_of(text, transforms, parser)
    for why, count in failed.items():
        reason = f"{count} of {len(sentences)} sentences could not be parsed and keep their order: {why}"
        typer.echo(f"calque: {reason}", err=True)
    for number, sentence in enumerate(sentences):
        typer.echo(side_by_side(sentence, transforms, number))


def print_derived(path: Path, language: str, parser: Path | None, runs: Path, study: str | None) -> None:
    """Print the derived version of a text file, and counts of exclusions on standard error."""
    from calque.derive.on_demand import derive_file, transforms_of
    from calque.derive.readers.text import detect
    from calque.derive.sources.files import Files
    from calque.derive.transform import TORN, Account

    if detect(path) == "treebank":
        hint = "in Python, calque.derive.transform.image_of derives each sentence of read_conllu"
        raise BadInput(f"this file is a treebank; expected text ({hint})", path)
    account, cache = Account(), runs / CACHE
    (transform,) = transforms_of([language], parser, cache, _transforms(study))
    lines = derive_file(Files((path,), parser=parser), transform, account, cache)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    for what, count in (account.left_out + account.kept + Counter({TORN: account.split_spans})).items():
        typer.echo(f"{count:,} {what}", err=True)


def _transforms(study: str | None) -> dict[str, Transform]:
    if study is None:
        return {}
    from calque.experiments.settings.catalogue import named_study

    languages = named_study(study).languages
    if not languages.derived:
        raise BadInput("the study has no derived languages", study)
    return {transform.name: transform for transform in languages.transforms}


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
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an HTML page instead of text.")
    ] = None,
) -> None:
    """Inspect a model's guesses, nearest words and alignment."""
    if html and html.suffix != ".html":  # it may be one of the model's files
        raise BadInput("expected a file whose name ends in .html", html)
    from calque.analysis.checkpoint import Checkpoint
    from calque.analysis.looking import look as look_into
    from calque.analysis.report.page import write_look

    inspection = look_into(Checkpoint.open(checkpoint), sentence or "")
    if html:
        write_look(html, f"Calque: a look inside {checkpoint}", inspection)
    typer.echo(html or inspection)
