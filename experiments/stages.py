"""The stages of a study, each of which finds its work done or does it: derive, pretrain, evaluate.

A cell is computed in a process of its own, several side by side, each with the study's number of threads:
how many run beside it changes nothing that it writes. Under torchrun the processes work on one cell together.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from multiprocessing.context import SpawnContext
from multiprocessing.managers import SyncManager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

from derive.build import MEASURED, derive_study
from derive.errors import BadInput
from derive.files import MANIFEST, claimed, sha256, whole_file
from derive.source import SPLITS
from derive.workers import follow_parent
from experiments.account import manifest
from experiments.names import task
from experiments.places import Places
from experiments.progress import Report, Throttled, drain
from experiments.study import Cell, Study

if TYPE_CHECKING:
    from transformers import RobertaForMaskedLM

    from analysis.measures.alignment import Types
    from pretrain.distributed import World

Stage = Literal["pretrain", "evaluate"]
ALIGNMENT, TRANSFER = "alignment.jsonl", "records.jsonl"
"""The records of an evaluation: order distance and alignment@1 over the steps of pretraining; the tasks' numbers."""


def first_process() -> bool:
    """Whether this is the process that writes, of those that torchrun started."""
    return os.environ.get("RANK", "0") == "0"


def derive(places: Places, workers: int | None, report: Report) -> Path:
    """The study's languages; a folder that is there already is whole, and is left as it is."""
    study = places.study
    if first_process() and not (places.data / MANIFEST).exists():
        count = workers or os.cpu_count() or 1
        derive_study(
            study.source,
            study.transforms,
            study.vocabulary,
            study.dictionary,
            places.data,
            places.cache,
            count,
            Throttled(report),
        )
    return places.data


def side_by_side(study: Study) -> int:
    """How many cells this machine computes at a time: as many as its cores have threads for, or one on a GPU."""
    import torch

    return 1 if torch.cuda.is_available() else max(1, (os.cpu_count() or 1) // study.threads)


def compute(
    places: Places, stages: Sequence[Stage], jobs: int | None, report: Report, allow_change: bool = False
) -> None:
    """Every cell of the study through the stages, and before them the models that some begin with.

    Raises:
        BadInput: as the stages do; cells under way are finished first, the others are not begun.
        NonFinite: naming the cell.
    """
    cells = [cell for cell in places.study.cells if not all(_finished(places, cell, stage) for stage in stages)]
    starts = {cell.start for cell in cells if not _finished(places, cell, "pretrain")}
    first = [cell for cell in places.study.starts if cell in starts and not _finished(places, cell, "pretrain")]
    if cells and first_process():
        _check_languages(places, Throttled(report))
    jobs = jobs or side_by_side(places.study)
    waves: list[tuple[list[Cell], Sequence[Stage]]] = [(first, ["pretrain"]), (cells, stages)]
    if min(jobs, len(cells)) > 1 and "WORLD_SIZE" not in os.environ:
        for wave, through in waves:
            if wave:
                _compute_in_processes(places, wave, through, jobs, report, allow_change)
        return
    from pretrain import distributed

    world = distributed.join()
    world.wait()  # for the languages, which the first process derives and checks
    for wave, through in waves:
        # Only one process evaluates. The others would wait for it longer than torch lets them, so it comes last.
        for together in [through] if world.size == 1 else [[stage] for stage in through]:
            for cell in wave:
                _compute_cell(places, cell, together, world, report, allow_change)
    distributed.leave()


def _check_languages(places: Places, report: Report) -> None:
    """Find damaged languages and missing task data before hours of pretraining, not after."""
    path = places.data / MANIFEST
    try:
        digests = dict(json.loads(path.read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"not the manifest of derived languages: {error!r}; remove the folder", path) from error
    for done, (file_name, digest) in enumerate(digests.items(), start=1):
        file = places.data / file_name
        if not file.is_file() or sha256(file) != digest:
            raise BadInput(f"not the file that was derived; remove {places.data} to derive it again", file)
        report("checking the languages", done, len(digests))
    for name in places.study.finetune:
        for split in SPLITS:
            file = places.data / "tasks" / name / f"{split}.jsonl"
            if not file.is_file() or not file.stat().st_size:
                raise BadInput(f"no {split} examples of the task {name}, which the study evaluates", file)


def _compute_in_processes(
    places: Places, cells: list[Cell], stages: Sequence[Stage], jobs: int, report: Report, allow_change: bool
) -> None:
    context = multiprocessing.get_context("spawn")  # a forked child of a process with threads may hang
    with (
        interruptible() as interrupted,
        _manager(context) as manager,
        ProcessPoolExecutor(min(jobs, len(cells)), context, follow_parent) as pool,
    ):
        queue: Any = manager.Queue()
        waiting, under_way, errors = deque(cells), set[Future[None]](), list[BaseException]()
        try:
            while under_way or (waiting and not errors):
                while waiting and len(under_way) < jobs and not errors:
                    cell = waiting.popleft()
                    under_way.add(pool.submit(_compute_alone, places, cell, stages, queue, allow_change))
                drain(queue, report)
                done = {future for future in under_way if future.done()}
                errors += [error for future in done if (error := future.exception())]
                under_way -= done
        except KeyboardInterrupt:
            for process in multiprocessing.active_children():  # what they were at goes on from its last state
                process.terminate()
            raise
        if interrupted.is_set():  # the workers died of it too, and a broken pool is not the reason
            raise KeyboardInterrupt
        if errors:
            raise errors[0]
        drain(queue, report)


def _manager(context: SpawnContext) -> SyncManager:
    manager = SyncManager(ctx=context)
    manager.start(follow_parent)
    return manager


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Remember an interrupt: Python drops the exception when it comes while an object is being finalised."""
    event = threading.Event()

    def remember(number: int, frame: FrameType | None) -> None:
        event.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)


def _compute_alone(places: Places, cell: Cell, stages: Sequence[Stage], queue: Any, allow_change: bool) -> None:
    from pretrain import distributed

    def report(what: str, done: int, of: int) -> None:
        queue.put((what, done, of))

    _compute_cell(places, cell, stages, distributed.join(), report, allow_change)


def _compute_cell(
    places: Places, cell: Cell, stages: Sequence[Stage], world: World, report: Report, allow_change: bool
) -> None:
    """One cell through the stages, in this process and in those that torchrun started beside it."""
    import torch

    from pretrain.train import NonFinite

    torch.set_num_threads(places.study.threads)
    report = Throttled(report) if world.first else _silent
    try:
        with claimed(places.run(cell)) if world.first else nullcontext():
            if "pretrain" in stages:
                _pretrain(places, cell, world, report, allow_change)
            if "evaluate" in stages and world.first:
                _evaluate(places, cell, report)
    except NonFinite as error:
        raise NonFinite(f"{cell.name}: {error}") from error


def _pretrain(places: Places, cell: Cell, world: World, report: Report, allow_change: bool) -> None:
    from analysis.measures.alignment import Types, alignment_of_model
    from pretrain.run import Pretraining, pretrain

    study = places.study
    types = Types.open(places.data, cell.transform.name)

    def probe(model: RobertaForMaskedLM) -> dict[str, float]:
        return {metric: share for metric, (share, _) in alignment_of_model(model, types).shares.items()}

    config = Pretraining(
        places.data,
        cell.transform.name,
        cell.objective,
        study.model,
        study.train_of(cell),
        cell.seed,
        places.run(cell.start) / "checkpoint" if cell.start else study.start,
    )
    pretrain(
        places.run(cell),
        config,
        world,
        probe=probe if _alignable(types) else None,
        progress=lambda step, steps: report(f"pretrain {cell.name}", step, steps),
        allow_change=allow_change,
    )


def _evaluate(places: Places, cell: Cell, report: Report) -> None:
    from analysis.measures.alignment import Types, alignment_of_checkpoint, growth
    from analysis.measures.contextual import contextual_records
    from analysis.measures.labels import label_records
    from analysis.records.record import ORDER, Record, append
    from analysis.tasks.transfer import PretrainedRun, evaluate

    study, folder, out = places.study, places.run(cell), places.evaluation(cell)
    language, objective, step = cell.transform.name, cell.objective.name, study.train.steps
    types = Types.open(places.data, language)
    derived = manifest(places.data)["languages"][language]
    distance, sentences = derived["order distance"], min(MEASURED, derived["out"]["sentences"])
    before = step - study.train_of(cell).steps
    order = Record(study.name, folder.name, language, objective, cell.seed, ORDER, "", "kendall", distance, sentences)
    rows = [order, *label_records(folder / "metrics.jsonl", order, before)]
    rows += contextual_records(folder / "checkpoint", places.data, language, replace(order, step=step))
    if _alignable(types):
        alignment = alignment_of_checkpoint(folder / "checkpoint", types)
        final = alignment.records(study.name, folder.name, language, objective, cell.seed, step)
        rows += [*growth(folder / "metrics.jsonl", final, before), *final]
    with whole_file(out / ALIGNMENT) as part:
        append(part, rows)
    evaluate(
        PretrainedRun(folder, study.name, language, objective, cell.seed, step),
        places.data,
        [task(name) for name in study.finetune],
        study.finetune,
        out,
        progress=lambda what, done, of: report(f"{what} {cell.name}", done, of),
    )


def _alignable(types: Types) -> bool:
    """Whether any type changes: where the script stays, alignment@1 is not defined, and is not recorded."""
    return bool((types.image[types.types] != types.types).any())


def _finished(places: Places, cell: Cell, stage: Stage) -> bool:
    folder = places.run(cell) if stage == "pretrain" else places.evaluation(cell)
    return (folder / MANIFEST).exists()


def _silent(what: str, done: int, of: int) -> None:
    """A process that is not the first one reports nothing."""
