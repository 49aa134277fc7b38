"""`calque train-aligner`: training an encoder to align words, from parallel text alone."""

import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from calque.derive.errors import BadInput
from calque.experiments.run.signals import RESUMES, leaving

if TYPE_CHECKING:
    from calque.experiments.run.step import Step


@leaving(RESUMES)
def train_aligner(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B [A2 B2 ...]",
            help="Pairs of files: sentences and their translations, one per line, words separated by spaces. "
            "Pairs may differ in language.",
        ),
    ],
    model: Annotated[str, typer.Option(help="The encoder to start from: a folder saved by transformers.")],
    out: Annotated[Path, typer.Option(file_okay=False, help="The folder for the new encoder.")],
    labels: Annotated[
        Literal["auto", "agreement", "estimated", "self"],
        typer.Option(
            help="Links to train on: fast_align's (estimated), the encoder's (self), or those that both "
            "predict (agreement). auto is agreement, or self if fast_align's two directions share few links."
        ),
    ] = "auto",
    layer: Annotated[
        int | None, typer.Option(min=1, help="Layer to train. Default: two thirds of the way up.")
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Training steps. Default: 220.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed for the sentence order.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads. Default: one per core.")] = None,
) -> None:
    """Train an encoder to align words, without gold links."""
    if len(files) % 2:
        raise BadInput("an odd number of files cannot be paired; each file needs its translations")
    if out.exists():
        raise BadInput("already exists; choose a new folder", out)
    from calque.experiments.run.progress import board
    from calque.experiments.run.schedule import compute
    from calque.experiments.study import natural
    from calque.experiments.study.models import GivenModel
    from calque.pretrain.objectives.aligner_training import AlignerTraining

    home = out.with_name(f".{out.name}.training")  # for resuming an interrupted run
    bitexts, start = list(zip(files[::2], files[1::2], strict=True)), GivenModel(Path(model))
    objective, steps = AlignerTraining(layer=layer), steps or natural.RECIPE.steps
    training = natural.trained_aligner(bitexts, objective, steps, start, home, seed)
    if labels == "auto":
        labels, share = natural.label_source(bitexts, seed)
        typer.echo(f"labels: {labels} (fast_align's directions share {share:.0%} of their links)", err=True)
    training = replace(training, objective=replace(objective, labels=labels))
    step = training.step(home, threads=threads or os.cpu_count() or 1)
    with board([*step.needs, step], title=f"training {out.name}", parallel=1) as shown:
        compute([training.data], home, 1, shown.report, watch=shown.watch)
        natural.check_known(training.data)
        compute([step], home, 1, shown.report, watch=shown.watch)
    natural.save_aligner(step, out)
    _remove(step, home)
    typer.echo(f"{out}: align with `calque align --model {out}`")


def _remove(step: "Step", home: Path) -> None:
    """Remove the training steps' folders, including those for different settings, but none of the user's
    files."""
    for one in (*step.needs, step):
        for folder in one.place.parent.glob(f"{one.place.name}-*"):
            shutil.rmtree(folder)
    for empty in (step.place.parent, home):
        with suppress(OSError):
            empty.rmdir()
