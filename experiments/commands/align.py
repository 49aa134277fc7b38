"""`calque align`: the word links of two files of sentences."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from derive.errors import BadInput
from derive.readers.two_files import TwoFiles
from experiments.signals import leaving

if TYPE_CHECKING:
    from analysis.aligners.similarity import EncoderAligner
    from derive.links.aligner import Aligner, LeftOut
    from derive.readers.gold import Gold

T = TypeVar("T")


class Way(StrEnum):
    """Alignment methods: the first learns from the two files, the others use an encoder."""

    FAST_ALIGN = "fast-align"
    OT = "ot"
    ARGMAX = "argmax"
    ITERMAX = "itermax"
    MATCH = "match"
    XLM_ALIGN = "xlm-align"


class Symmetrise(StrEnum):
    """Symmetrisations of fast-align's two directions."""

    UNION = "union"
    INTERSECT = "intersect"
    GROW_DIAG = "grow-diag"
    GROW_DIAG_FINAL = "grow-diag-final"
    GROW_DIAG_FINAL_AND = "grow-diag-final-and"


def align(
    source: Annotated[Path, typer.Argument(help="Sentences, one a line, words separated by spaces.")],
    target: Annotated[Path, typer.Argument(help="Their translations, line by line.")],
    method: Annotated[
        Way | None, typer.Option(help="Alignment method; default: fast-align, or ot with --model.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Encoder: a folder as transformers saves it, or NAME@COMMIT on the Hugging Face hub."),
    ] = None,
    layer: Annotated[
        int | None, typer.Option(help="Encoder layer (0 = embeddings); default: two thirds of the way up.")
    ] = None,
    joint: Annotated[bool, typer.Option("--joint", help="Encode a pair as one row, not each side alone.")] = False,
    symmetrise: Annotated[
        Symmetrise | None,
        typer.Option(help="Symmetrisation of fast-align's two directions; default: grow-diag-final-and."),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Write links as 0-2:0.87; encoders only.")] = False,
    out: Annotated[Path | None, typer.Option(help="The file to write; without it, links are printed.")] = None,
    draw: Annotated[
        int | None, typer.Option(min=1, help="A line whose pair to draw too, as pair-LINE.png and .svg beside --out.")
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(help="Gold links, as `calque aer` reads: print the error rate, outline them in --draw."),
    ] = None,
    from_one: Annotated[
        bool, typer.Option("--from-one", help="Gold links in Pharaoh's format count from 1, as in talp files.")
    ] = False,
    device: Annotated[str | None, typer.Option(help="Device of the encoder, such as cuda; default: cpu.")] = None,
) -> None:
    """Link the words of sentences and their translations, in Pharaoh's format: `0-0 1-2`, places from 0."""
    from derive.links.pharaoh import read_links
    from experiments.commands.aer import report

    method = method or (Way.OT if model else Way.FAST_ALIGN)
    if method is Way.FAST_ALIGN and (scores or model or joint or device or layer is not None):
        raise BadInput(
            "fast-align has no encoder and no scores: leave out --model, --layer, --joint, --device and --scores"
        )
    if method is not Way.FAST_ALIGN and model is None:
        raise BadInput(f"{method.value} needs an encoder: name one with --model")
    if method is not Way.FAST_ALIGN and symmetrise:
        raise BadInput(f"{method.value} has one direction only: leave out --symmetrise")
    if from_one and gold is None:
        raise BadInput("--from-one is about gold links: name them with --gold")
    pairs = TwoFiles(source, target)
    _check(pairs, out, draw, gold)
    known = _gold(pairs, gold, from_one)
    with leaving(f"{out} is as it was") if out else nullcontext():
        aligner, left_out = (
            _statistical(pairs, symmetrise or Symmetrise.GROW_DIAG_FINAL_AND)
            if model is None
            else _encoder(model, method, layer, joint, device or "cpu")
        )
        _write(pairs, aligner, scores, out)
    for line in left_out.described():
        typer.echo(f"without links: {line}", err=True)
    if out is not None and known is not None and gold is not None:
        report(known, read_links(out), gold, out.name)
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
    if any(out.exists() and out.samefile(path) for path in (*pairs.paths, gold) if path is not None):
        raise BadInput("is an input; links would overwrite it", out)
    if out.exists() and not out.is_file():
        raise BadInput("is a folder or a device; expected the name of a file to write", out)
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise BadInput(f"cannot be written: {above} is not a writable folder", out)


def _gold(pairs: TwoFiles, path: Path | None, from_one: bool) -> Gold | None:
    from analysis.measures.gold import lengths
    from derive.readers.gold import read_gold

    return None if path is None else read_gold(path, lengths(pairs), from_one=from_one)


def _encoder(model: str, method: Way, layer: int | None, joint: bool, device: str) -> tuple[EncoderAligner, LeftOut]:
    from analysis.aligners.methods import BY_NAME
    from analysis.aligners.similarity import EncoderAligner
    from pretrain.hub import model_folder

    aligner = EncoderAligner.open(model_folder(model), BY_NAME[method.value], layer, joint=joint, device=device)
    return aligner, aligner.left_out


def _statistical(pairs: TwoFiles, symmetrise: Symmetrise) -> tuple[Aligner, LeftOut]:
    from derive.links import symmetrise as methods
    from derive.links.fast_align import FastAlign

    forward, reverse = FastAlign.train(pairs), FastAlign.train(pairs, reverse=True)
    method = getattr(methods, symmetrise.value.replace("-", "_"))
    return methods.Symmetrised(forward, reverse, method), forward.left_out


def _write(pairs: TwoFiles, aligner: Aligner, scores: bool, out: Path | None) -> None:
    """Write or print links as they come."""
    from analysis.aligners.similarity import EncoderAligner
    from derive.links.pharaoh import line_of, write_links
    from experiments.progress import board

    links_of_pairs: Iterator[Any] = aligner.align(pairs)
    if scores and isinstance(aligner, EncoderAligner):
        links_of_pairs = aligner.align_scored(pairs)
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
    from analysis.aligners.similarity import EncoderAligner
    from analysis.report.pair_figure import align_figure
    from derive.links.pharaoh import read_links

    pair, links = pairs[line], next(islice(read_links(out), line - 1, None))
    scores = aligner.matrix(pair) if isinstance(aligner, EncoderAligner) else None
    gold = known.pairs[line - 1] if known else None
    typer.echo(align_figure(pair, links, out.parent, aligner.name, f"pair-{line}", scores, gold))
