"""`calque align`: the word links of two files of sentences, or of sentence pairs from standard input."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import islice, tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from calque.derive.errors import BadInput, unknown
from calque.derive.readers.parallel import Pair, TwoFiles, pair_of_line
from calque.experiments.commands.options import check_out
from calque.experiments.signals import leaving

if TYPE_CHECKING:
    from calque.analysis.aligners.methods import Method
    from calque.derive.links.aligner import Aligner

FAST_ALIGN = "fast-align"  # learns from sentence pairs; the other methods use an encoder
Symmetrise = Literal["union", "intersect", "grow-diag", "grow-diag-final", "grow-diag-final-and"]
Precision = Literal["float32", "bfloat16"]
STDIN = Path("standard input")
TEACHES = 5_000  # sentence pairs that are worth training an encoder on
LONGEST = 1 << 20  # most bytes of a line of standard input
FORMS = "`one ||| other`, or with a tab between"


def align(
    source: Annotated[
        Path | None,
        typer.Argument(
            help=f"Sentences, one per line, words separated by spaces. Without files, pairs on standard input: {FORMS}."
        ),
    ] = None,
    target: Annotated[Path | None, typer.Argument(help="Their translations, line by line.")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="fast-align, or with an encoder ot, argmax, itermax, match, xlm-align, softmax, argmax-centred "
            "(the default) or softmax-argmax (the default after train-aligner)."
        ),
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
    layer: Annotated[
        int | None,
        typer.Option(
            help="Encoder layer (0 = embeddings); default: two thirds of the way up, or train-aligner's choice."
        ),
    ] = None,
    joint: Annotated[bool, typer.Option("--joint", help="Encode a pair as one row, not each side alone.")] = False,
    symmetrise: Annotated[
        Symmetrise | None,
        typer.Option(help="Symmetrisation of fast-align's two directions; default: grow-diag-final-and."),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Write links as 0-2:0.87.")] = False,
    words: Annotated[
        bool, typer.Option("--words", help="Add two columns: the score of the pair, and its linked words.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="The file to write; without it, links are printed.")] = None,
    draw: Annotated[
        int | None,
        typer.Option(min=1, help="Also draw the pair on this line, as NAME-pair-LINE.png and .svg next to --out NAME."),
    ] = None,
    precision: Annotated[
        Precision | None, typer.Option(help="What the encoder computes with; bfloat16 is fast where it has units.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="Device of the encoder, such as cuda; default: cpu.")] = None,
) -> None:
    """Link the words of sentences and their translations, in Pharaoh's format: `0-0 1-2`, places from 0."""
    if source is None or target is None:
        if source or model is None or save or out or draw:
            raise BadInput(
                "expected two files of sentences; or none, with pairs on standard input and --model, and without "
                "--save, --out and --draw"
            )
        pairs = None
    else:
        pairs = TwoFiles(source, target)
    of_encoder = {"--layer": layer, "--joint": joint or None, "--precision": precision, "--device": device}
    unused = [name for name, value in of_encoder.items() if value is not None]
    learns = _learns(model, method, save, symmetrise, unused)
    if learns:
        open_aligner = partial(_fast_align, pairs, model, save, symmetrise)
    else:
        assert model is not None
        open_aligner = partial(_encoder, model, method, layer, joint, device or "cpu", precision or "float32")
    if pairs is None:
        _serve(open_aligner(), scores, words)
        return
    _check_files(pairs, out, draw)
    with leaving(f"{out} is as it was") if out else nullcontext():
        aligner = open_aligner()
        _write(pairs, aligner, scores, words, out)
    for what, count in pairs.counts.items():
        typer.echo(f"{count:,} {what}", err=True)
    for line in aligner.left_out.described():
        typer.echo(f"without links: {line}", err=True)
    if not learns and pairs.size >= TEACHES:
        command = shlex.join(["calque", "train-aligner", *map(str, pairs.paths), "--model", str(model), "--out", "DIR"])
        typer.echo(f"these files can also teach the encoder to align: {command}", err=True)
    if out is not None and draw is not None:
        _draw(pairs, draw, aligner, out)


def _learns(
    model: str | None, method: str | None, save: Path | None, symmetrise: Symmetrise | None, of_encoder: Sequence[str]
) -> bool:
    """Whether fast-align links the words, not an encoder. Refuses options of the other, such as those `of_encoder`."""
    from calque.derive.links.fast_align import is_saved

    if model is not None and not is_saved(Path(model)):
        if method == FAST_ALIGN:
            raise BadInput(f"no aligner that fast-align saved is in {model}; without --model it learns one")
        if symmetrise or save:
            wrong = "--symmetrise" if symmetrise else "--save"
            raise BadInput(f"an encoder has one direction, and is a folder already: leave out {wrong}")
        return False
    if method not in (None, FAST_ALIGN):
        _method(method)
        saved = f"{model} holds what fast-align learnt; " if model else ""
        raise BadInput(f"{saved}{method} needs an encoder: name one with --model")
    if of_encoder:
        raise BadInput(f"fast-align has no encoder: leave out {' and '.join(of_encoder)}")
    if save and model is not None:
        raise BadInput(f"--save is for a new aligner; {model} is saved already")
    if save:
        _check_save(save)
    return True


def _check_save(folder: Path) -> None:
    """Refuse to replace anything but a saved aligner."""
    from calque.derive.artefact import Artefact
    from calque.derive.links.fast_align import KIND, is_saved

    if folder.name in ("", ".."):
        raise BadInput("expected the name of a new folder", folder)
    if is_saved(folder):
        Artefact.open(folder, KIND)
    elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise BadInput("there is something else; expected the name of a new folder", folder)


def _check_files(pairs: TwoFiles, out: Path | None, draw: int | None) -> None:
    """Refuse before aligning what could not be written afterwards."""
    if draw is not None and (out is None or draw > pairs.size):
        raise BadInput(f"--draw {draw} needs --out, and a line from 1 to {pairs.size:,}")
    if draw is not None and not all(pairs[draw]):
        raise BadInput("a pair with an empty side: there is nothing to draw", pairs.paths[0], draw)
    if out is None:
        return
    check_out(out, pairs.paths)


def _encoder(
    model: str, method: str | None, layer: int | None, joint: bool, device: str, precision: Precision
) -> Aligner:
    from calque.analysis.aligners.pair_encoder import EncoderAligner
    from calque.pretrain.hub import model_folder

    chosen = _method(method) if method else None
    return EncoderAligner.open(model_folder(model), chosen, layer, joint=joint, device=device, precision=precision)


def _method(name: str) -> Method:
    from calque.analysis.aligners.methods import BY_NAME

    if name not in BY_NAME:
        raise BadInput(unknown("alignment method", name, (FAST_ALIGN, *BY_NAME)))
    return BY_NAME[name]


def _fast_align(pairs: TwoFiles | None, model: str | None, save: Path | None, symmetrise: Symmetrise | None) -> Aligner:
    from calque.derive.files import claimed
    from calque.derive.links.fast_align import StatisticalAligner
    from calque.derive.links.symmetrise import SYMMETRISATIONS

    if model is not None:
        aligner = StatisticalAligner.open(Path(model))
        return replace(aligner, symmetrisation=SYMMETRISATIONS[symmetrise]) if symmetrise else aligner
    assert pairs
    with claimed(save) if save else nullcontext():
        aligner = StatisticalAligner.train(pairs, SYMMETRISATIONS[symmetrise or "grow-diag-final-and"])
        if save:
            aligner.save(save)
    return aligner


def _lines(pairs: Iterable[Pair], aligner: Aligner, scores: bool, words: bool) -> Iterator[str]:
    """The line of each pair's links: with `scores`, each link's, and with `words`, the pair's score and its words."""
    from calque.derive.links.aligner import line_of, score_of, words_of

    if not words:
        yield from map(line_of, aligner.align_scored(pairs) if scores else aligner.align(pairs))
        return
    kept, read = tee(pairs)
    for links, pair in zip(aligner.align_scored(read), kept, strict=True):
        yield f"{line_of(links if scores else sorted(links))}\t{score_of(links, pair):.6g}\t{words_of(links, pair)}"


def _serve(aligner: Aligner, scores: bool, words: bool) -> None:
    """Write the links of the pairs on standard input, as soon as whole lines of it can be read."""
    number, wrong = 0, None
    for block in _arriving():
        pairs = list[Pair]()
        try:
            for number, line in enumerate(block, number + 1):  # noqa: B020
                pairs.append(pair_of_line(line, STDIN, number))
        except BadInput as error:  # the pairs before it have links
            wrong = error
        sys.stdout.writelines(f"{line}\n" for line in _lines(pairs, aligner, scores, words))
        sys.stdout.flush()
        if wrong:
            raise wrong
    for what, count in aligner.left_out.counts.items():
        typer.echo(f"without links: {count:,} {what}", err=True)


def _arriving() -> Iterator[list[bytes]]:
    """The lines of standard input without their ends, in blocks as they arrive."""
    number, rest = 1, b""
    while data := os.read(sys.stdin.fileno(), 1 << 16):
        *lines, rest = (rest + data).split(b"\n")
        number += len(lines)
        if len(rest) > LONGEST:
            raise BadInput(f"no line end within {LONGEST >> 20} MiB", STDIN, number)
        if lines:
            yield lines
    if rest:
        yield [rest]


def _write(pairs: TwoFiles, aligner: Aligner, scores: bool, words: bool, out: Path | None) -> None:
    from calque.derive.links.aligner import write_lines
    from calque.experiments.progress import Throttled, board

    lines = _lines(pairs, aligner, scores, words)
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


def _draw(pairs: TwoFiles, line: int, aligner: Aligner, out: Path) -> None:
    from calque.analysis.report.pair_figure import align_figure
    from calque.derive.readers.links import read_links

    pair, links = pairs[line], next(islice(read_links(out), line - 1, None))
    name = f"{out.stem}-pair-{line}"
    typer.echo(align_figure(pair, links, out.parent, aligner.name, name, aligner.matrix(pair)))
