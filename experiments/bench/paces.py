"""The time of a step of each objective relative to a step of MLM, on the languages of a study.

The ratios are the paces of a study that gives objectives equal seconds instead of equal steps. The links of fast_align
for WEAM and word-aligned BERT are made beforehand, and their time is not counted.
"""

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from calque.experiments.bench.harness import Comparison, interleaved, step_seconds
from calque.experiments.models import Training
from calque.experiments.schedule import compute
from calque.experiments.step import Machine, Step
from calque.experiments.studies.objectives_pocket import objectives_pocket
from calque.experiments.studies.objectives_seconds import SHORT
from calque.pretrain.objective import Objective
from calque.pretrain.objectives.mlm import MLM

STEPS, WARM = 30, 10  # steps of a turn, and its first ones, which allocate and are not counted


def turn(run: Step, machine: Machine) -> Callable[[], float]:
    """CPU seconds of a step from random weights, which do not affect the time."""

    def seconds() -> float:
        ends: list[float] = []
        training: Training = run.config
        schedule = replace(training.train, steps=STEPS, warmup=0, save_every=0, probe_every=0, snapshots=0)
        with tempfile.TemporaryDirectory() as name:
            short = replace(training, train=schedule, start=None).step(Path(name))
            short(replace(machine, report=lambda *_: ends.append(time.process_time())))
        return step_seconds(ends, WARM)

    return seconds


def paces(rounds: int) -> list[Comparison]:
    """By objective, steps per second next to MLM's; with a start, seconds are the weighted mean of both phases."""
    study = objectives_pocket()
    objectives = (*study.objectives, SHORT)
    every: dict[str, Objective] = {"MLM": MLM(study.objectives[0].traits.mask_rate)}
    for objective in objectives:
        for phase in (objective, *([objective.traits.start[0]] if objective.traits.start else [])):
            every.setdefault(phase.name, phase)
    with tempfile.TemporaryDirectory() as root:
        group = study.groups(Path(root), 0)[0]
        runs = [study.pretraining(Path(root), group, objective, 0) for objective in every.values()]
        compute([group.data, *(link for run in runs for link in run.config.links)], study.home(Path(root)))
        own = dict(zip(every, interleaved([turn(run, Machine()) for run in runs], rounds), strict=True))

    def seconds(objective: Objective) -> float:
        if objective.traits.start is None:
            return own[objective.name]
        first, portion = objective.traits.start
        return portion * seconds(first) + (1 - portion) * own[objective.name]

    return [Comparison(o.name, 1 / seconds(o), 1 / own["MLM"], "steps/CPU s") for o in objectives]
