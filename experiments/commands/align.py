"""`calque align`: word links for the sentences in two parallel files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calque.derive.errors import BadInput, unknown
from calque.derive.readers.parallel import Pair, TwoFiles
from calque.experiments.commands.options import check_out
from calque.experiments.run.signals import leaving

if TYPE_CHECKING:
    from calque.derive.links.aligner import Aligner

FAST_ALIGN = "fast-align"  # the only method that uses no encoder


def align(
    source: Annotated[Path, typer.Argument(help="Sentences, one per line, words separated by spaces.")],
    target: Annotated[Path, typer.Argument(help="Their translations, line by line.")],
    method: Annotated[
        str | None,
        typer.Option(
            help="fast-align or, with --model, ot, argmax, itermax, match, xlm-align, softmax, "
            "argmax-centred (the default) or softmax-argmax (the default after train-aligner)."
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Encoder: a folder saved by transformers.")] = None,
    layer: Annotated[
        int | None, typer.Option(help="Encoder layer. Default: two thirds up, or train-aligner's.")
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="Add two columns: each pair's score and its linked words.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Output file. Default: print the links.")] = None,
) -> None:
    """Align the words of parallel sentences.

    Links are printed in Pharaoh's format, with 0-based positions: `0-0 1-2`.

    Example: calque align words.en words.fr --model DIR --out links
    """
    _check_method(method, model, layer)
    pairs = TwoFiles(source, target)
    if out is not None:
        check_out(out, pairs.paths)
    with leaving(f"{out} is unchanged") if out else nullcontext():
        aligner = _fast_align(pairs) if model is None else _encoder(model, method, layer)
        _write(pairs, aligner, words, out)
    for what, count in pairs.counts.items():
        typer.echo(f"{count:,} {what}", err=True)
    for line in aligner.left_out.described():
        typer.echo(f"without links: {line}", err=True)


def _check_method(method: str | None, model: str | None, layer: int | None) -> None:
    from calque.analysis.aligners.methods import BY_NAME

    if method not in (None, FAST_ALIGN, *BY_NAME):
        raise BadInput(unknown("alignment method", str(method), (FAST_ALIGN, *BY_NAME)))
    if model is None and method in BY_NAME:
        raise BadInput(f"{method} needs an encoder: name one with --model")
    if model is None and layer is not None:
        raise BadInput("fast-align has no encoder: leave out --layer")
    if model is not None and method == FAST_ALIGN:
        raise BadInput("fast-align has no encoder: leave out --model")


def _encoder(model: str, method: str | None, layer: int | None) -> Aligner:
    from calque.analysis.aligners.encoder import EncoderAligner
    from calque.analysis.aligners.methods import BY_NAME

    return EncoderAligner.open(Path(model), BY_NAME[method] if method else None, layer)


def _fast_align(pairs: TwoFiles) -> Aligner:
    from calque.derive.links.fast_align import StatisticalAligner

    return StatisticalAligner.train(pairs)


def _lines(pairs: Iterable[Pair], aligner: Aligner, words: bool) -> Iterator[str]:
    from calque.derive.links.aligner import line_of, score_of, words_of

    if not words:
        yield from map(line_of, aligner.align(pairs))
        return
    kept, read = tee(pairs)
    for links, pair in zip(aligner.align_scored(read), kept, strict=True):
        yield f"{line_of(sorted(links))}\t{score_of(links, pair):.6g}\t{words_of(links, pair)}"


def _write(pairs: TwoFiles, aligner: Aligner, words: bool, out: Path | None) -> None:
    from calque.derive.links.aligner import write_lines
    from calque.experiments.run.progress import Throttled, board

    lines = _lines(pairs, aligner, words)
    if out is None:
        for line in lines:
            typer.echo(line)
        return

    def counted(title: str) -> Iterator[str]:
        report = Throttled(bars.report)
        report(title, 0, pairs.size)
        for done, line in enumerate(lines, start=1):
            report(title, done, pairs.size)
            yield line

    with board() as bars:
        write_lines(out, counted(f"aligning {out.name}"))
