"""`calque align`: the word links of two files of sentences."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from derive.errors import BadInput
from derive.readers.parallel import TwoFiles
from experiments.commands.aligner_options import (
    AlignerOptions,
    Plan,
    Precision,
    Rule,
    Similarity,
    Symmetrise,
    Way,
)
from experiments.commands.options import check_out
from experiments.signals import leaving

if TYPE_CHECKING:
    from derive.links.aligner import Aligner
    from derive.readers.links import Gold

T = TypeVar("T")


def align(
    source: Annotated[Path, typer.Argument(help="Sentences, one a line, words separated by spaces.")],
    target: Annotated[Path, typer.Argument(help="Their translations, line by line.")],
    method: Annotated[
        Way | None, typer.Option(help="Alignment method; default: fast-align, or argmax-centred with an encoder.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Encoder: a folder as transformers saves it, or NAME@COMMIT on the Hugging Face hub; "
            "or what --save wrote."
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="A folder to save what fast-align learns, for --model with other text.")
    ] = None,
    similarity: Annotated[
        Similarity | None, typer.Option(help="Similarity of hidden states, in place of the method's.")
    ] = None,
    plan: Annotated[
        Plan | None, typer.Option(help="Read links from the similarity itself, or from optimal transport.")
    ] = None,
    rule: Annotated[Rule | None, typer.Option(help="Rule by which links are read, in place of the method's.")] = None,
    layer: Annotated[
        int | None, typer.Option(help="Encoder layer (0 = embeddings); default: two thirds of the way up.")
    ] = None,
    joint: Annotated[bool, typer.Option("--joint", help="Encode a pair as one row, not each side alone.")] = False,
    symmetrise: Annotated[
        Symmetrise | None,
        typer.Option(help="Symmetrisation of fast-align's two directions; default: grow-diag-final-and."),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Write links as 0-2:0.87.")] = False,
    out: Annotated[Path | None, typer.Option(help="The file to write; without it, links are printed.")] = None,
    draw: Annotated[
        int | None,
        typer.Option(min=1, help="A line whose pair to draw too, as NAME-pair-LINE.png and .svg beside --out NAME."),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(help="Gold links, as `calque aer` reads: print the error rate, outline them in --draw."),
    ] = None,
    from_one: Annotated[
        bool | None,
        typer.Option(
            "--from-one/--from-zero", help="Gold links in Pharaoh's format count from 1, as in talp files, or from 0."
        ),
    ] = None,
    precision: Annotated[
        Precision | None, typer.Option(help="What the encoder computes with; bfloat16 is fast where it has units.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="Device of the encoder, such as cuda; default: cpu.")] = None,
) -> None:
    """Link the words of sentences and their translations, in Pharaoh's format: `0-0 1-2`, places from 0."""
    from derive.readers.links import read_links
    from experiments.commands.aer import check_shift, report

    asked = AlignerOptions(method, model, symmetrise, save, similarity, plan, rule, layer, joint, precision, device)
    asked.check()
    if from_one is not None and gold is None:
        raise BadInput("--from-one and --from-zero are about gold links: name them with --gold")
    pairs = TwoFiles(source, target)
    _check(pairs, out, draw, gold)
    known = _gold(pairs, gold, from_one)
    with leaving(f"{out} is as it was") if out else nullcontext():
        aligner = asked.aligner(pairs)
        _write(pairs, aligner, scores, out)
    for what, count in pairs.counts.items():
        typer.echo(f"{count:,} {what}", err=True)
    for line in aligner.left_out.described():
        typer.echo(f"without links: {line}", err=True)
    if out is not None and known is not None and gold is not None:
        predicted = list(read_links(out))
        check_shift(known, predicted, gold, out, declared=True)
        report(known, predicted, gold, out.name)
    if out is not None and draw is not None:
        _draw(pairs, draw, aligner, out, known)


def _check(pairs: TwoFiles, out: Path | None, draw: int | None, gold: Path | None) -> None:
    """Refuse before aligning what could not be written afterwards."""
    if draw is not None and (out is None or draw > pairs.size):
        raise BadInput(f"--draw {draw} needs --out, and a line from 1 to {pairs.size:,}")
    if draw is not None and not all(pairs[draw]):
        raise BadInput("a pair with an empty side: there is nothing to draw", pairs.paths[0], draw)
    if out is None:
        if gold is not None:
            raise BadInput("--gold needs --out: without it, the links are printed")
        return
    check_out(out, (*pairs.paths, gold))
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise BadInput(f"cannot be written: {above} is not a writable folder", out)


def _gold(pairs: TwoFiles, path: Path | None, from_one: bool | None) -> Gold | None:
    from analysis.measures.gold import lengths
    from derive.readers.links import read_gold

    return None if path is None else read_gold(path, lengths(pairs), from_one=from_one)


def _write(pairs: TwoFiles, aligner: Aligner, scores: bool, out: Path | None) -> None:
    """Write or print links as they come."""
    from derive.links.aligner import line_of, write_links
    from experiments.progress import board

    links_of_pairs: Iterator[Any] = aligner.align_scored(pairs) if scores else aligner.align(pairs)
    if out is None:
        for links in links_of_pairs:
            typer.echo(line_of(links))
        return
    with board() as drawn:
        write_links(
            out,
            _counted(links_of_pairs, pairs.size, lambda done: drawn.report(f"aligning {out.name}", done, pairs.size)),
        )


def _counted(links_of_pairs: Iterator[T], size: int, report: Callable[[int], None]) -> Iterator[T]:
    report(0)
    for done, links in enumerate(links_of_pairs, start=1):
        if done % 100 == 0 or done == size:
            report(done)
        yield links


def _draw(pairs: TwoFiles, line: int, aligner: Aligner, out: Path, known: Gold | None) -> None:
    """Draw a pair with the links that were written."""
    from analysis.report.pair_figure import align_figure
    from derive.readers.links import read_links

    pair, links = pairs[line], next(islice(read_links(out), line - 1, None))
    gold = known.pairs[line - 1] if known else None
    typer.echo(
        align_figure(pair, links, out.parent, aligner.name, f"{out.stem}-pair-{line}", aligner.matrix(pair), gold)
    )
