"""What a step of each objective takes beside one of MLM: `python -m experiments.bench.paces`.

In CPU seconds of one thread, on the languages of a study, objectives taking turns. From it follow the paces at which a
study gives objectives equal seconds instead of equal steps: MLM's seconds for a step by theirs. Links that fast_align
makes for WEAM and word-aligned BERT are made before, and what they take is not counted.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from experiments.bench.timing import arguments, cpu, interleaved
from experiments.cell import Cell
from experiments.cell_grid import CellGrid
from experiments.schedule import compute
from experiments.step import Machine
from experiments.steps.pretraining import Pretrain
from experiments.studies.objectives_pocket import objectives_pocket
from experiments.studies.objectives_seconds import SHORT
from pretrain.objective import Objective
from pretrain.objectives.mlm import MLM

STEPS, WARM = 30, 10
"""Steps of a turn, and those of them that are not counted: the first ones allocate."""


def turn(run: Pretrain, machine: Machine) -> Callable[[], float]:
    """CPU seconds of a step, the median of some, from weights that are drawn: what they say changes no time."""

    def seconds() -> float:
        ends: list[float] = []
        schedule = replace(run.train, steps=STEPS, warmup=0, save_every=0, probe_every=0, snapshots=0)
        with tempfile.TemporaryDirectory() as name:
            short = replace(run, above=Path(name), train=schedule, start=None)
            short(replace(machine, report=lambda *_: ends.append(time.process_time())))
        steps = [after - before for before, after in zip(ends[WARM:], ends[WARM + 1 :], strict=False)]
        return statistics.median(steps)

    return seconds


def paces(study: CellGrid, root: Path, rounds: int) -> dict[str, float]:
    """By objective: MLM's seconds for a step by its own, with those of what it begins with, by portions."""
    transform = study.transforms[0]
    every: dict[str, Objective] = {"MLM": MLM(study.objectives[0].traits.mask_rate)}
    for objective in study.objectives:
        for one in (objective, *([objective.traits.start[0]] if objective.traits.start else [])):
            every.setdefault(one.name, one)
    languages = study.languages(root)
    runs = [study.pretraining(languages, Cell(transform, one, 0)) for one in every.values()]
    needed = [languages, *(link for run in runs for link in run.links)]
    compute(needed, study.home(root))
    machine = Machine()
    own = dict(zip(every, interleaved([turn(run, machine) for run in runs], rounds), strict=True))

    def seconds(objective: Objective) -> float:
        if objective.traits.start is None:
            return own[objective.name]
        first, portion = objective.traits.start
        return portion * seconds(first) + (1 - portion) * own[objective.name]

    return {objective.name: own["MLM"] / seconds(objective) for objective in study.objectives}


def main() -> None:
    """Measure and print."""
    options = arguments("what a step of each objective takes beside one of MLM", rounds=5, threads=1)
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as root:
        study = objectives_pocket()
        study = replace(study, objectives=(*study.objectives, SHORT))
        made = paces(study, Path(root), options.rounds)
    table = Table("objective", "seconds of a step, MLM's as 1", "pace", title=f"{study.name}, {cpu()}")
    for name, pace in made.items():
        table.add_row(name, f"{1 / pace:.2f}", f"{pace:.3f}")
    Console().print(table)


if __name__ == "__main__":
    main()
