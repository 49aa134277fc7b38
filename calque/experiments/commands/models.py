"""The commands for models and word alignment: `calque look`, `align`, `train-aligner` and `aer`."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from calque.derive.errors import BadInput, unknown
from calque.derive.readers.parallel import UNKNOWN, Pair, TwoFiles, read_gold, read_links

if TYPE_CHECKING:
    from calque.analysis.aligners import EncoderAligner
    from calque.derive.word_links import StatisticalAligner

FAST_ALIGN = "fast-align"  # the only method that uses no encoder


def look(
    checkpoint: Annotated[
        Path, typer.Argument(help="A run's `checkpoint` folder, or a masked language model.")
    ],
    sentence: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Source words separated by spaces. The model guesses each `<mask>`; without a mask, each "
            "word is masked in turn. Default: a sentence from the model's corpus.",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an HTML page instead of text.")
    ] = None,
) -> None:
    """Inspect a model's guesses, nearest words and alignment."""
    if html and html.suffix != ".html":  # it may be one of the model's files
        raise BadInput("expected a file whose name ends in .html", html)
    from calque.analysis.checkpoint import Checkpoint
    from calque.analysis.looking import look as look_into
    from calque.analysis.report.page import write_look

    inspection = look_into(Checkpoint.open(checkpoint), sentence or "")
    if html:
        write_look(html, f"Calque: a look inside {checkpoint}", inspection)
    typer.echo(html or inspection)


def align(
    source: Annotated[Path, typer.Argument(help="Sentences, one per line, words separated by spaces.")],
    target: Annotated[Path, typer.Argument(help="Translations of these sentences, one per line.")],
    method: Annotated[
        str | None,
        typer.Option(
            help="fast-align or, with --model, one of ot, argmax, itermax, xlm-align, softmax, "
            "argmax-centred (the default) or softmax-argmax (the default after train-aligner)."
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Encoder: a folder saved by transformers.")] = None,
    layer: Annotated[
        int | None, typer.Option(help="Encoder layer. Default: two thirds up, or as in train-aligner.")
    ] = None,
) -> None:
    """Align the words of parallel sentences.

    Links are printed in Pharaoh's format, with 0-based positions: `0-0 1-2`.

    Example: calque align words.en words.fr --model DIR > links
    """
    pairs = TwoFiles(source, target)
    aligner = open_aligner(pairs, model, method, layer)
    for links in aligner.align(pairs):
        typer.echo(" ".join(f"{i}-{j}" for i, j in links))
    for what, count in aligner.left_out.items():
        typer.echo(f"without links: {count:,} {what}", err=True)


def open_aligner(
    pairs: Iterable[Pair], model: Path | str | None, method: str | None, layer: int | None = None
) -> EncoderAligner | StatisticalAligner:
    """Train fast_align on the pairs, or open a model's encoder. Raises BadInput for unsuitable methods."""
    if model is None and method in (None, FAST_ALIGN) and layer is None:
        from calque.derive.word_links import StatisticalAligner

        return StatisticalAligner.train(pairs)
    from calque.analysis.aligners import BY_NAME, EncoderAligner

    if method not in (None, FAST_ALIGN, *BY_NAME):
        raise BadInput(unknown("alignment method", str(method), (FAST_ALIGN, *BY_NAME)))
    if model is None or method == FAST_ALIGN:
        raise BadInput("--model is for methods with an encoder, which need it, as does --layer")
    return EncoderAligner.open(Path(model), BY_NAME[method] if method else None, layer)


def train_aligner(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B [A2 B2 ...]",
            help="Pairs of files: sentences and their translations, one per line, words separated by spaces. "
            "Different pairs may be in different languages.",
        ),
    ],
    model: Annotated[str, typer.Option(help="The encoder to start from: a folder saved by transformers.")],
    out: Annotated[Path, typer.Option(file_okay=False, help="The folder for the new encoder.")],
    labels: Annotated[
        Literal["agreement", "estimated", "self"],
        typer.Option(help="Train on links by fast_align (estimated), the encoder (self), or both."),
    ] = "agreement",
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = 220,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads. Default: one per core.")] = None,
) -> None:
    """Train an encoder to align words, without gold links."""
    if len(files) % 2:
        raise BadInput("expected pairs of files: sentences and their translations")
    if out.exists():
        raise BadInput("already exists; choose a new folder", out)
    from calque.experiments.run.progress import board
    from calque.experiments.run.schedule import compute
    from calque.experiments.study import natural
    from calque.experiments.study.models import GivenModel
    from calque.pretrain.objectives.linked_words import AlignerTraining

    home = out.with_name(f".{out.name}.training")  # for resuming an interrupted run
    bitexts, start = list(zip(files[::2], files[1::2], strict=True)), GivenModel(Path(model))
    training = natural.trained_aligner(bitexts, AlignerTraining(labels=labels), steps, start, home)
    step = training.step(home, threads=threads or os.cpu_count() or 1)
    with board([*step.needs, step], title=f"training {out.name}") as progress:
        compute([step], home, 1, progress.report)
    natural.save_aligner(step, out)
    shutil.rmtree(home)
    typer.echo(f"{out}: align with `calque align --model {out}`")


def aer(
    gold: Annotated[Path, typer.Argument(help="Gold links, in WPT's format.")],
    links: Annotated[
        Path, typer.Argument(help="Links in Pharaoh's format, one pair per line, as from `calque align`.")
    ],
    source: Annotated[
        Path | None, typer.Option(help="Source sentences, one per line, to check that links are inside them.")
    ] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, one per line.")] = None,
) -> None:
    """Score word links by alignment error rate, precision, recall and F1.

    Example: calque aer gold.wpt links
    """
    if (source is None) != (target is None):
        raise BadInput("--source and --target must be used together")
    from calque.analysis.measures.word_alignment import lengths
    from calque.analysis.records.aer import score_all
    from calque.analysis.report.table import aer_table

    removed: Counter[str] = Counter()
    bounds = lengths(TwoFiles(source, target)) if source and target else None
    predicted = read_links(links, removed, bounds)
    gold_links = read_gold(gold, bounds or [(UNKNOWN, UNKNOWN)] * len(predicted))
    for line in gold_links.outside:
        typer.echo(f"left out: {line}", err=True)
    title = f"Agreement of links with {gold}, in percent"
    typer.echo(aer_table({links.name: score_all(gold_links.pairs, predicted)}, title).markdown)
    for what, count in gold_links.counts.items():
        typer.echo(f"{count:>9,} {what}")
    for what, count in (+removed).items():  # without zeros
        typer.echo(f"{count:,} {what}", err=True)
