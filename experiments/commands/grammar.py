"""`calque grammar`: compare the word orders of sentences before and after they are reordered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calque.experiments.places import CACHE, ROOT

app = typer.Typer(help="Word orders that are learnt from treebanks.", no_args_is_help=True)

Cache = Annotated[Path, typer.Option("--cache", file_okay=False, help="The folder of learnt grammars.")]
Named = Annotated[str, typer.Argument(help="A language such as fr, or a variant of Pocket English.")]


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
    from calque.analysis.papers.word_order import compare
    from calque.derive.reorder import Reorder, TreebankFiles, substrate, superstrate

    above, below = superstrate(name), substrate(name)
    source = TreebankFiles(below.name, tuple(sentences)) if sentences else below
    compared = compare(Reorder(above, below).ready(cache), source.sentences(), above.sentences())
    typer.echo(compared.markdown)
    if out:
        typer.echo(compared.save(out))
