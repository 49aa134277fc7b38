"""`calque train-aligner`: an encoder that aligns words better, learnt in minutes from parallel text alone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput, unknown
from calque.experiments.signals import RESUMES, leaving

WORK = ".training"  # ends the name of the folder, next to the result, that an interrupted run continues from


@leaving(RESUMES)
def train_aligner(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B [A2 B2 ...]",
            help="Sentences and their translations, one per line, words separated by spaces; several bitexts may be "
            "of different languages.",
        ),
    ],
    model: Annotated[str, typer.Option(help="The encoder to start from: a folder, or NAME@COMMIT on the hub.")],
    out: Annotated[Path, typer.Option(file_okay=False, help="The folder of the new encoder.")],
    labels: Annotated[
        str,
        typer.Option(
            help="Learn links of fast_align that the encoder shares (agreement), all of fast_align (estimated), the "
            "encoder's (self), or exact ones to a word-by-word translation (derived); several in turn as in "
            "derived+agreement.",
        ),
    ] = "agreement",
    layer: Annotated[int | None, typer.Option(min=1, help="Layer to train; default: two thirds of the way up.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Updates; default: 220.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides the order of the sentences.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of the training; default: all cores.")] = None,
) -> None:
    """Train an encoder to align words, from sentences and their translations without gold links."""
    if len(files) % 2:
        raise BadInput(f"{len(files)} files; expected pairs of files, sentences and their translations")
    if out.exists():
        raise BadInput("there is something already; expected the name of a new folder", out)
    from calque.experiments.aligners import RECIPE, SOURCES, aligner_trainings, check_known, save_aligner
    from calque.experiments.models import GivenModel
    from calque.experiments.progress import board
    from calque.experiments.schedule import compute
    from calque.pretrain.objective import GOLD
    from calque.pretrain.objectives.aligner_training import AlignerTraining

    names = labels.split("+")
    if wrong := [name for name in names if name not in SOURCES]:
        raise BadInput(unknown("source of labels", wrong[0], SOURCES))
    home, start = out.with_name(out.name + WORK), GivenModel(Path(model))
    objectives = [AlignerTraining(layer=layer, labels=SOURCES[name]) for name in names]
    bitexts, threads = list(zip(files[::2], files[1::2], strict=True)), threads or os.cpu_count() or 1
    trainings = aligner_trainings(bitexts, objectives, steps or RECIPE.steps, start, home, seed, threads)
    trained = [training.step(home, threads) for training in trainings]
    with board([step for one in trained for step in (*one.needs, one)], title=f"training {out.name}") as shown:
        for objective, training, step in zip(objectives, trainings, trained, strict=True):
            compute([training.data], home, 1, shown.report, watch=shown.watch)
            check_known(training, files[1::2] if objective.labels == GOLD else files)
            compute([step], home, 1, shown.report, watch=shown.watch)
    save_aligner(trained[-1], bitexts, out)
    shutil.rmtree(home)
    typer.echo(f"{out}: align with `calque align --model {out}`")
