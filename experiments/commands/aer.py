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

Bounds = list[tuple[int, int]]


def aer(
    gold: Annotated[
        Path, typer.Argument(help="Gold links, in WPT's format or Pharaoh's (0-0 sure, 0p0 possible).")
    ],
    links: Annotated[
        Path, typer.Argument(help="Links in Pharaoh's format, one pair per line, as from `calque align`.")
    ],
    source: Annotated[
        Path | None, typer.Option(help="Source sentences, one per line, to check that links are inside them.")
    ] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, line by line.")] = None,
    from_one: Annotated[
        bool | None, typer.Option("--from-one/--from-zero", help="The first position in gold links.")
    ] = None,
    links_from_one: Annotated[
        bool | None,
        typer.Option("--links-from-one/--links-from-zero", help="The first position in the links."),
    ] = None,
) -> None:
    """Score word links by alignment error rate, precision, recall and F1.

    Example: calque aer gold.wpt links
    """
    if (source is None) != (target is None):
        raise BadInput("--source and --target must be used together")
    from calque.analysis.measures.word_alignment import score_all
    from calque.analysis.report.table import aer_table
    from calque.derive.readers.parallel import read_gold, read_links

    removed: Counter[str] = Counter()
    predicted = list(read_links(links, removed, from_one=links_from_one))
    bounds = _bounds(source, target, len(predicted))
    _check_bounds(predicted, bounds, links, links_from_one)
    read = read_gold(gold, bounds, from_one=from_one)
    for line in read.outside:
        typer.echo(f"left out: {line}", err=True)
    title = f"Links against {gold}, in percent"
    typer.echo(aer_table({links.name: score_all(read.pairs, predicted)}, title).markdown)
    for what, count in read.counts.items():
        typer.echo(f"{count:>9,} {what}")
    for what, count in removed.items():
        typer.echo(f"{count:,} {what}", err=True)


def _bounds(source: Path | None, target: Path | None, pairs: int) -> Bounds:
    """Return the source and target word counts of each sentence pair, or UNKNOWN without sentence files."""
    from calque.analysis.measures.word_alignment import lengths
    from calque.derive.readers.parallel import UNKNOWN, TwoFiles

    return lengths(TwoFiles(source, target)) if source and target else [(UNKNOWN, UNKNOWN)] * pairs


def _check_bounds(
    predicted: Sequence[Links], bounds: Bounds, links: Path, links_from_one: bool | None
) -> None:
    from calque.derive.readers.parallel import check_inside

    if len(predicted) != len(bounds):
        raise BadInput(f"{len(predicted):,} lines of links, but {len(bounds):,} sentence pairs", links)
    for number, (pair, bound) in enumerate(zip(predicted, bounds, strict=True), start=1):
        check_inside(pair, bound, links, number, links_from_one)
