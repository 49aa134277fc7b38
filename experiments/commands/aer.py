"""`calque aer`: compare word links with gold ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import FromOne, LinksFromOne

if TYPE_CHECKING:
    from calque.derive.links.aligner import Links
    from calque.derive.readers.links import Gold


def aer(
    gold: Annotated[Path, typer.Argument(help="Gold links, in WPT's format or Pharaoh's (0-0 sure, 0p0 possible).")],
    links: Annotated[
        Path, typer.Argument(help="Links in Pharaoh's format, one sentence pair per line, as align prints.")
    ],
    source: Annotated[
        Path | None, typer.Option(help="Source sentences, one per line; links outside them are errors.")
    ] = None,
    target: Annotated[Path | None, typer.Option(help="Target sentences, line by line.")] = None,
    from_one: FromOne = None,
    links_from_one: LinksFromOne = None,
    by_score: Annotated[
        bool, typer.Option("--by-score", help="Also print how many links are correct, by their score from 0 to 1.")
    ] = False,
) -> None:
    """Print alignment error rate, precision, recall and F1 of word links, in percent."""
    from calque.analysis.measures.aer import lengths, reliability, score_all
    from calque.analysis.report.table import aer_table, reliability_table
    from calque.derive.readers.links import UNKNOWN, check_inside, read_gold, read_scored
    from calque.derive.readers.parallel import TwoFiles

    if (source is None) != (target is None):
        raise BadInput("--source and --target go together; give both or neither")
    removed: Counter[str] = Counter()
    scored = list(read_scored(links, removed, from_one=links_from_one))
    predicted = list(map(sorted, scored))
    bounds = lengths(TwoFiles(source, target)) if source and target else [(UNKNOWN, UNKNOWN)] * len(predicted)
    if len(predicted) != len(bounds):
        raise BadInput(f"{len(predicted):,} lines of links for {len(bounds):,} sentence pairs", links)
    for number, (predicted_links, bound) in enumerate(zip(predicted, bounds, strict=True), start=1):
        check_inside(predicted_links, bound, links, number, links_from_one)
    read = read_gold(gold, bounds, from_one=from_one)
    check_shift(read, predicted, gold, links, links_from_one is not None)
    if hint := exchange(read, predicted):
        typer.echo(f"{links}: {hint}: are the languages in the same order as in {gold}?", err=True)
    for line in read.outside:
        typer.echo(f"left out: {line}", err=True)
    if by_score:
        if all(score == 1 for each in scored for score in each.values()):
            raise BadInput("has no scores; `calque align --scores` writes them", links)
        try:
            by_score_table = reliability_table(*reliability(read.pairs, scored), "Links by score, in percent")
        except ValueError as error:
            raise BadInput(str(error), links) from None
    title = f"Links against {gold}, in percent"
    typer.echo(aer_table({links.name: score_all(read.pairs, predicted)}, title).markdown)
    if by_score:
        typer.echo(by_score_table.markdown)
    for what, count in read.counts.items():
        typer.echo(f"{count:>9,} {what}")
    for what, count in removed.items():
        typer.echo(f"{count:,} {what}", err=True)


def check_shift(gold: Gold, predicted: Sequence[Links], path: Path, links: Path, declared: bool) -> None:
    """Refuse a comparison of places that count from 0 with places that seem to count from 1.

    They do if only one of the two files has a place 0 and more links agree after the other is shifted by one. Short
    files leave room for chance, so whoever knows better says where a file counts from: `declared` is true of `links`.
    """
    from calque.derive.readers.links import from_where, has_zero

    golds = [pair.possible for pair in gold.pairs]
    of_gold, of_links = has_zero(golds), has_zero(predicted)
    if of_gold == of_links or (declared if of_gold else gold.declared):
        return
    shift = 1 if of_gold else -1  # from a gold link to the predicted link of the same words
    agreed, shifted = (
        sum(len({(i + by, j + by) for i, j in pair} & set(own)) for pair, own in zip(golds, predicted, strict=True))
        for by in (0, shift)
    )
    if shifted > agreed:
        raise BadInput(from_where("--links-from" if of_gold else "--from"), links if of_gold else path)


def exchange(gold: Gold, predicted: Sequence[Links]) -> str:
    """A hint if more predicted links are in the gold after source and target are exchanged; else empty."""
    both = list(zip((pair.possible for pair in gold.pairs), predicted, strict=True))
    agreed = sum(len(pair.intersection(own)) for pair, own in both)
    exchanged = sum(len(pair & {(j, i) for i, j in own}) for pair, own in both)
    way = f"{agreed:,} links are possible ones, {exchanged:,} if source and target are exchanged"
    return way if exchanged > agreed else ""
