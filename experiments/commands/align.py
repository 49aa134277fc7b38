"""`calque align`: word links for parallel sentences from two files or standard input."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calque.derive.errors import BadInput, unknown
from calque.derive.readers.parallel import Pair, TwoFiles, pair_of_line
from calque.experiments.commands.options import check_out
from calque.experiments.run.signals import leaving

if TYPE_CHECKING:
    from calque.derive.links.aligner import Aligner

FAST_ALIGN = "fast-align"  # the only method that uses no encoder
STDIN = Path("standard input")
TEACHES = 5_000  # number of sentence pairs that suffice to train an encoder
LONGEST = 1 << 20  # maximum bytes per line of standard input


def align(
    source: Annotated[
        Path | None,
        typer.Argument(
            help="Sentences, one per line, words separated by spaces. Without files, pairs are read from "
            "standard input, separated by ` ||| ` or a tab."
        ),
    ] = None,
    target: Annotated[Path | None, typer.Argument(help="Their translations, line by line.")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="fast-align or, with --model, ot, argmax, itermax, match, xlm-align, softmax, "
            "argmax-centred (the default) or softmax-argmax (the default after train-aligner)."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Encoder: a folder saved by transformers."),
    ] = None,
    layer: Annotated[
        int | None,
        typer.Option(
            help="Encoder layer (0 = embeddings). Default: two thirds of the way up, or the one that "
            "train-aligner trained."
        ),
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
    if source is None or target is None:
        if source or model is None or out:
            raise BadInput("expected two files of sentences, or --model and pairs on standard input")
        _serve(_encoder(model, method, layer), words)
        return
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
    if model is not None and pairs.size >= TEACHES:
        command = shlex.join(
            ["calque", "train-aligner", *map(str, pairs.paths), "--model", model, "--out", "DIR"]
        )
        typer.echo(f"to train the encoder to align on these files: {command}", err=True)


def _check_method(method: str | None, model: str | None, layer: int | None) -> None:
    if method not in (None, FAST_ALIGN):
        from calque.analysis.aligners.methods import BY_NAME

        if method not in BY_NAME:
            raise BadInput(unknown("alignment method", str(method), (FAST_ALIGN, *BY_NAME)))
        if model is None:
            raise BadInput(f"{method} needs an encoder: name one with --model")
    elif method and model is not None:
        raise BadInput("fast-align has no encoder: leave out --model")
    if model is None and layer is not None:
        raise BadInput("fast-align has no encoder: leave out --layer")


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


def _serve(aligner: Aligner, words: bool) -> None:
    number, wrong = 0, None
    for block in _arriving():
        pairs = list[Pair]()
        try:
            for line in block:
                number += 1
                pairs.append(pair_of_line(line, STDIN, number))
        except BadInput as error:  # earlier pairs are still linked
            wrong = error
        sys.stdout.writelines(f"{line}\n" for line in _lines(pairs, aligner, words))
        sys.stdout.flush()
        if wrong:
            raise wrong
    for what, count in aligner.left_out.counts.items():
        typer.echo(f"without links: {count:,} {what}", err=True)


def _arriving() -> Iterator[list[bytes]]:
    """Yield blocks of lines from standard input as they arrive, without line endings."""
    number, rest = 1, b""
    while data := os.read(sys.stdin.fileno(), 1 << 16):
        *lines, rest = (rest + data).split(b"\n")
        number += len(lines)
        if len(rest) > LONGEST:
            raise BadInput(f"the line is longer than {LONGEST >> 20} MiB", STDIN, number)
        if lines:
            yield lines
    if rest:
        yield [rest]


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
