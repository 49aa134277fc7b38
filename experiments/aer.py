"""`calque aer`: hold word links against gold ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def aer(
    gold: Annotated[Path, typer.Argument(help="Gold links, in WPT's format or Pharaoh's (0-0 sure, 0p0 possible).")],
    links: Annotated[Path, typer.Argument(help="Links in Pharaoh's format, a line a sentence pair, as align prints.")],
    source: Annotated[Path | None, typer.Option(help="The source sentences, one a line: bounds for all links.")] = None,
    target: Annotated[Path | None, typer.Option(help="The target sentences.")] = None,
    from_one: Annotated[
        bool, typer.Option("--from-one", help="Gold links in Pharaoh's format count from 1, as in talp files.")
    ] = False,
    per_pair: Annotated[bool, typer.Option("--per-pair", help="A row for each sentence pair too.")] = False,
) -> None:
    """Print alignment error rate, precision, recall and F1 of word links, in percent."""
    from analysis.aer import Score, aer_table, score
    from analysis.aligners.pharaoh import read_links
    from analysis.gold import lengths, read_pairs
    from derive.errors import BadInput
    from derive.readers.gold import UNKNOWN, is_outside, read_gold

    if (source is None) != (target is None):
        raise BadInput("--source and --target bound links together; give both or neither")
    predicted = list(read_links(links))
    bounds = lengths(read_pairs(source, target)) if source and target else [(UNKNOWN, UNKNOWN)] * len(predicted)
    if len(predicted) != len(bounds):
        raise BadInput(f"{len(predicted):,} lines of links for {len(bounds):,} sentence pairs", links)
    for number, (found, bound) in enumerate(zip(predicted, bounds, strict=True), start=1):
        if wrong := [f"{i}-{j}" for i, j in found if is_outside((i, j), bound)]:
            raise BadInput(f"{wrong[0]} lies outside sentences of {bound[0]} and {bound[1]} words", links, number)
    read = read_gold(gold, bounds, from_one=from_one)
    for line in read.outside:
        typer.echo(f"left out: {line}", err=True)
    scores = [score(known, found) for known, found in zip(read.pairs, predicted, strict=True)]
    typer.echo(aer_table({links.name: sum(scores, Score())}, f"Links against {gold}, in percent").markdown)
    if per_pair:
        typer.echo(aer_table({str(n): one for n, one in enumerate(scores, start=1)}, "Sentence pairs").markdown)
    for what, count in read.counts.items():
        typer.echo(f"{count:>9,} {what}")
