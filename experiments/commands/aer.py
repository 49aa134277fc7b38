"""`calque aer`: compare word links with gold ones."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from derive.links.aligner import Links
    from derive.readers.gold import Gold


def aer(
    gold: Annotated[Path, typer.Argument(help="Gold links, in WPT's format or Pharaoh's (0-0 sure, 0p0 possible).")],
    links: Annotated[Path, typer.Argument(help="Links in Pharaoh's format, a line a sentence pair, as align prints.")],
    source: Annotated[
        Path | None, typer.Option(help="Source sentences, one a line, to check that links lie within them.")
    ] = None,
    target: Annotated[Path | None, typer.Option(help="Target sentences, line by line.")] = None,
    from_one: Annotated[
        bool, typer.Option("--from-one", help="Gold links in Pharaoh's format count from 1, as in talp files.")
    ] = False,
    per_pair: Annotated[bool, typer.Option("--per-pair", help="A row for each sentence pair too.")] = False,
) -> None:
    """Print alignment error rate, precision, recall and F1 of word links, in percent."""
    from analysis.measures.aer import score
    from analysis.measures.gold import lengths
    from analysis.report.aer_table import aer_table
    from derive.errors import BadInput
    from derive.links.pharaoh import read_links
    from derive.readers.gold import UNKNOWN, is_outside, read_gold
    from derive.readers.two_files import TwoFiles

    if (source is None) != (target is None):
        raise BadInput("--source and --target go together; give both or neither")
    predicted = list(read_links(links))
    bounds = lengths(TwoFiles(source, target)) if source and target else [(UNKNOWN, UNKNOWN)] * len(predicted)
    if len(predicted) != len(bounds):
        raise BadInput(f"{len(predicted):,} lines of links for {len(bounds):,} sentence pairs", links)
    for number, (predicted_links, bound) in enumerate(zip(predicted, bounds, strict=True), start=1):
        if wrong := [f"{i}-{j}" for i, j in predicted_links if is_outside((i, j), bound)]:
            raise BadInput(f"{wrong[0]} lies outside sentences of {bound[0]} and {bound[1]} words", links, number)
    read = read_gold(gold, bounds, from_one=from_one)
    report(read, predicted, gold, links.name)
    if per_pair:
        scores = enumerate(map(score, read.pairs, predicted), start=1)
        typer.echo(aer_table({str(number): pair_score for number, pair_score in scores}, "Sentence pairs").markdown)


def report(gold_links: Gold, predicted: Iterable[Links], path: Path, name: str) -> None:
    """Print the score of links against `gold_links`, what was left out of these, and a hint if they look odd.

    Raises:
        ValueError: the two do not have the same number of sentence pairs.
    """
    from analysis.measures.aer import score_all
    from analysis.report.aer_table import aer_table

    for line in gold_links.outside:
        typer.echo(f"left out: {line}", err=True)
    if gold_links.hint:
        typer.echo(gold_links.hint, err=True)
    typer.echo(aer_table({name: score_all(gold_links.pairs, predicted)}, f"Links against {path}, in percent").markdown)
    for what, count in gold_links.counts.items():
        typer.echo(f"{count:>9,} {what}")
