"""`calque aer`: scoring word links against gold links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calque.derive.errors import BadInput

if TYPE_CHECKING:
    from calque.derive.links.aligner import Links
    from calque.derive.readers.parallel import Gold


def aer(
    gold: Annotated[
        Path, typer.Argument(help="Gold links, in WPT's format or Pharaoh's (0-0 sure, 0p0 possible).")
    ],
    links: Annotated[
        Path,
        typer.Argument(help="Links in Pharaoh's format, one sentence pair per line, as from `calque align`."),
    ],
    source: Annotated[
        Path | None, typer.Option(help="Source sentences, one per line, to check that links are inside them.")
    ] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, line by line.")] = None,
    from_one: Annotated[
        bool | None,
        typer.Option(
            "--from-one/--from-zero",
            help="Whether gold links in Pharaoh's format are 1-based, as in talp files, or 0-based.",
        ),
    ] = None,
    links_from_one: Annotated[
        bool | None,
        typer.Option("--links-from-one/--links-from-zero", help="Whether the links are 1-based or 0-based."),
    ] = None,
) -> None:
    """Score word links by alignment error rate, precision, recall and F1.

    Example: calque aer gold.wpt links
    """
    from calque.analysis.measures.word_alignment import lengths, score_all
    from calque.analysis.report.table import aer_table
    from calque.derive.readers.parallel import UNKNOWN, TwoFiles, check_inside, read_gold, read_links

    if (source is None) != (target is None):
        raise BadInput("--source and --target must be used together")
    removed: Counter[str] = Counter()
    predicted = list(read_links(links, removed, from_one=links_from_one))
    bounds = lengths(TwoFiles(source, target)) if source and target else [(UNKNOWN, UNKNOWN)] * len(predicted)
    if len(predicted) != len(bounds):
        raise BadInput(f"{len(predicted):,} lines of links, but {len(bounds):,} sentence pairs", links)
    for number, (predicted_links, bound) in enumerate(zip(predicted, bounds, strict=True), start=1):
        check_inside(predicted_links, bound, links, number, links_from_one)
    read = read_gold(gold, bounds, from_one=from_one)
    if hint := exchange(read, predicted):
        typer.echo(f"{links}: {hint}: are the languages in the same order as in {gold}?", err=True)
    for line in read.outside:
        typer.echo(f"left out: {line}", err=True)
    title = f"Links against {gold}, in percent"
    typer.echo(aer_table({links.name: score_all(read.pairs, predicted)}, title).markdown)
    for what, count in read.counts.items():
        typer.echo(f"{count:>9,} {what}")
    for what, count in removed.items():
        typer.echo(f"{count:,} {what}", err=True)


def exchange(gold: Gold, predicted: Sequence[Links]) -> str:
    """Return a hint if more predicted links are correct after swapping source and target, else ""."""
    both = list(zip((pair.possible for pair in gold.pairs), predicted, strict=True))
    agreed = sum(len(pair.intersection(own)) for pair, own in both)
    exchanged = sum(len(pair & {(j, i) for i, j in own}) for pair, own in both)
    hint = f"{agreed:,} links are in the gold set, but {exchanged:,} after source and target are exchanged"
    return hint if exchanged > agreed else ""
