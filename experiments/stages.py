"""The stages of a study, each of which finds its work done or does it: derive, pretrain, evaluate.

A cell is computed in a process of its own, `jobs` of them side by side, each with the study's number of
threads: how many run beside it changes nothing that it writes.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Literal

from derive.build import derive_study
from derive.files import MANIFEST, whole_file
from experiments.places import Places
from experiments.progress import Report, Throttled, drain
from experiments.study import Cell

Stage = Literal["pretrain", "evaluate"]
ALIGNMENT, TRANSFER = "alignment.jsonl", "records.jsonl"
"""The records of an evaluation: alignment@1 over the steps of pretraining, and the tasks' numbers."""


def derive(places: Places, workers: int, report: Report) -> Path:
    """The study's languages; a folder that is there already is whole, and is left as it is."""
    study = places.study
    if not (places.data / MANIFEST).exists():
        derive_study(
            study.source, study.transforms, study.vocabulary, study.dictionary, places.data, workers, Throttled(report)
        )
    return places.data


def compute(places: Places, stages: Sequence[Stage], jobs: int, report: Report, allow_change: bool = False) -> None:
    """Every cell of the study through the stages, `jobs` cells side by side.

    Raises:
        BadInput: as the stages do; cells under way are finished first, the others are not begun.
    """
    cells = [cell for cell in places.study.cells if not all(_finished(places, cell, stage) for stage in stages)]
    if not cells:
        return
    context = multiprocessing.get_context("spawn")  # a forked child of a process with threads may hang
    with context.Manager() as manager:
        queue: Any = manager.Queue()
        with ProcessPoolExecutor(min(jobs, len(cells)), context) as pool:
            under_way = {pool.submit(_compute_cell, places, cell, stages, queue, allow_change) for cell in cells}
            try:
                while under_way:
                    drain(queue, report)
                    done = {future for future in under_way if future.done()}
                    for future in done:
                        future.result()
                    under_way -= done
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
            drain(queue, report)


def _compute_cell(places: Places, cell: Cell, stages: Sequence[Stage], queue: Any, allow_change: bool) -> None:
    def report(what: str, done: int, of: int) -> None:
        queue.put((what, done, of))

    compute_cell(places, cell, stages, report, allow_change)


def compute_cell(
    places: Places, cell: Cell, stages: Sequence[Stage], report: Report, allow_change: bool = False
) -> None:
    """One cell through the stages, in this process (and in those that torchrun started beside it)."""
    import torch

    from pretrain import distributed

    torch.set_num_threads(places.study.threads)
    world = distributed.join()
    report = Throttled(report) if world.first else _silent
    if "pretrain" in stages:
        _pretrain(places, cell, world, report, allow_change)
    if "evaluate" in stages and world.first:
        _evaluate(places, cell, report)
    world.wait()


def _pretrain(places: Places, cell: Cell, world: Any, report: Report, allow_change: bool) -> None:
    from analysis.alignment import Types, alignment_of_model
    from pretrain.run import Pretraining, pretrain

    study = places.study
    types = Types.open(places.data, cell.transform.name)
    config = Pretraining(places.data, cell.transform.name, cell.objective, study.model, study.train, cell.seed)
    pretrain(
        places.run(cell),
        config,
        world,
        probe=lambda model: {metric: share for metric, (share, _) in alignment_of_model(model, types).shares.items()},
        progress=lambda step, steps: report(f"pretrain {cell.name}", step, steps),
        allow_change=allow_change,
    )


def _evaluate(places: Places, cell: Cell, report: Report) -> None:
    from analysis.alignment import Types, alignment_of_checkpoint, growth
    from analysis.records import append
    from analysis.transfer import PretrainedRun, evaluate
    from experiments.names import task

    study, folder, out = places.study, places.run(cell), places.evaluation(cell)
    language, objective, step = cell.transform.name, cell.objective.name, study.train.steps
    types = Types.open(places.data, language)
    alignment = alignment_of_checkpoint(folder / "checkpoint", types)
    final = alignment.records(study.name, folder.name, language, objective, cell.seed, step)
    with whole_file(out / ALIGNMENT) as part:
        append(part, [*growth(folder / "metrics.jsonl", final), *final])
    evaluate(
        PretrainedRun(folder, study.name, language, objective, cell.seed, step),
        places.data,
        [task(name) for name in study.finetune],
        study.finetune,
        out,
        progress=lambda what, done, of: report(f"{what} {cell.name}", done, of),
    )


def _finished(places: Places, cell: Cell, stage: Stage) -> bool:
    folder = places.run(cell) if stage == "pretrain" else places.evaluation(cell)
    return (folder / MANIFEST).exists()


def _silent(what: str, done: int, of: int) -> None:
    """A process that is not the first one reports nothing."""
