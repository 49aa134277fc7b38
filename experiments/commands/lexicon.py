"""`calque lexicon`: the words of a bitext and their translations, counted from word links."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from derive.errors import BadInput
from derive.readers.parallel import TwoFiles
from experiments.commands.options import LinksFromOne, Sentences, Translations, check_out

if TYPE_CHECKING:
    pass


def lexicon(
    source: Sentences,
    target: Translations,
    out: Annotated[Path, typer.Option(help="The file to write: word, translation, probability and count a line.")],
    links: Annotated[
        Path | None, typer.Option(help="Their links in Pharaoh's format, as `calque align` writes them.")
    ] = None,
    links_from_one: LinksFromOne = None,
    model: Annotated[
        Path | None, typer.Option(help="In place of links: an aligner that `calque align --save` wrote.")
    ] = None,
    least_count: Annotated[int, typer.Option(min=1, help="Links that an entry has at least.")] = 2,
    least_probability: Annotated[
        float, typer.Option(min=0, max=1, help="Of the links of its word, the fraction that an entry has at least.")
    ] = 0.1,
    least_score: Annotated[float, typer.Option(help="The score below which a link does not count.")] = 0.0,
) -> None:
    """Count which words are linked, and write a dictionary, the most frequent first."""
    from derive.lexicon import counted, write_lexicon
    from derive.links.fast_align import StatisticalAligner
    from derive.readers.links import read_linked

    if (links is None) == (model is None):
        raise BadInput("a lexicon is counted from links: name their file with --links, or an aligner with --model")
    pairs = TwoFiles(source, target)
    check_out(out, (*pairs.paths, links))
    if links is not None:
        scored = read_linked(pairs, links, pairs.counts, from_one=links_from_one)
    elif model is not None:
        aligner = StatisticalAligner.open(model)
        scored = zip(pairs, aligner.align_scored(pairs), strict=True)
    sure = ((pair, [link for link, score in links.items() if score >= least_score]) for pair, links in scored)
    entries = counted(sure, least_count, least_probability)
    if not entries:
        raise BadInput("no entry is left: there are no links, or the thresholds are too high", source)
    write_lexicon(out, entries)
    for what, count in pairs.counts.items():
        typer.echo(f"{count:,} {what}", err=True)
    words = [len({getattr(entry, side) for entry in entries}) for side in ("source", "target")]
    typer.echo(f"{len(entries):,} entries of {words[0]:,} words and {words[1]:,} translations: {out}")
