"""`calque grammar`: learn a word order from a treebank, print it, and compare sentences before and after."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from derive.errors import BadInput
from experiments.places import CACHE, ROOT

if TYPE_CHECKING:
    from derive.reorder import Superstrate

app = typer.Typer(help="Learn a word order from a treebank, print it, compare it.", no_args_is_help=True)

Cache = Annotated[Path, typer.Option("--cache", file_okay=False, help="The folder of learnt grammars.")]
Named = Annotated[str, typer.Argument(help="A language such as fr, a variant of Pocket English, or a file of `train`.")]


@app.command()
def train(
    treebank: Annotated[list[Path], typer.Argument(help="CoNLL-U files of UD v2, or folders of them.")],
    out: Annotated[
        Path, typer.Argument(dir_okay=False, help="The grammar, as JSON: grammars/NAME.json can be named as syn:NAME.")
    ],
) -> None:
    """Learn a language's word order from its treebank."""
    from derive.reorder import NAME, TreebankFiles
    from experiments.progress import board

    if not re.fullmatch(NAME, out.stem):
        raise BadInput(
            f"a grammar called {out.stem!r} could not be named; expected letters, digits and underscores", out
        )
    with board() as bars:
        bars.report(f"learning {out.stem}", 0, 1)
        grammar = TreebankFiles(out.stem, tuple(treebank)).learn()
        bars.report(f"learning {out.stem}", 1, 1)
    grammar.save(out)
    for what, count in grammar.about.items():
        typer.echo(f"{count:>9,} {what}")
    typer.echo(out)


@app.command()
def show(name: Named, cache: Cache = ROOT / CACHE) -> None:
    """Print what a grammar prefers, in words; NAME is a file, a variant of Pocket English, or a language."""
    from derive.typology import preferences

    grammar = _superstrate(name).grammar(cache)
    typer.echo(f"{grammar.name}: {', '.join(f'{count:,} {what}' for what, count in grammar.about.items())}")
    for preference, probability in preferences(grammar).items():
        typer.echo(f"  {preference:<28} {probability:.2f}")


@app.command()
def compare(
    name: Named,
    sentences: Annotated[
        list[Path] | None, typer.Option(help="Treebanks to reorder; default: the substrate's own.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for the table and the figure.")] = None,
    cache: Cache = ROOT / CACHE,
) -> None:
    """Reorder a treebank towards a language; print its word orders before and after, and that language's own."""
    from analysis.papers.word_order import compare
    from derive.reorder import Reorder, TreebankFiles, substrate, trees

    superstrate, below = _superstrate(name), substrate(name)
    source = TreebankFiles(below.name, tuple(sentences)) if sentences else trees(below.name)
    compared = compare(Reorder(superstrate, below).ready(cache), source.sentences(), trees(name).sentences())
    typer.echo(compared.markdown)
    if out:
        typer.echo(compared.save(out))


def _superstrate(name: str) -> Superstrate:
    from derive.reorder import GrammarFile, superstrate

    path = Path(name)
    return GrammarFile(path.stem, path) if path.suffix == ".json" else superstrate(name)
