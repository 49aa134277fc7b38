"""`calque plan`: what a study would run, with parameters, operations, memory and time. It runs nothing."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import torch

from experiments.stages import side_by_side
from experiments.study import Cell, Study
from pretrain.cost import flops_per_id, parameters, peak_flops, training_bytes
from pretrain.data import LANGUAGES

EFFICIENCY = 0.4
"""The share of the machine's matrix-product rate that training reaches; a run logs its own as `mfu`."""

PROCESS = 400 * 2**20
"""Bytes that Python, torch and transformers take before there is a model; on a GPU they are not in its memory."""


@dataclass(frozen=True)
class Estimate:
    """What the pretraining of one cell takes: floating-point operations, bytes at the peak, seconds."""

    cell: Cell
    parameters: int
    flops: float
    memory: int
    seconds: float


@dataclass(frozen=True)
class Plan:
    """Estimates for what cells begin with and for every cell, `jobs` of them side by side on this machine.

    `ids` are what each model is trained on, `peak` is in operations/s a run.
    """

    runs: list[Estimate]
    ids: int
    jobs: int
    peak: float
    device: str

    @property
    def memory(self) -> int:
        """Bytes at the peak, of the cells that are computed at a time."""
        return self.jobs * max(run.memory for run in self.runs)

    @property
    def seconds(self) -> float:
        """All runs: as many rounds as it takes."""
        return math.ceil(len(self.runs) / self.jobs) * max(run.seconds for run in self.runs)


def plan(study: Study, jobs: int | None) -> Plan:
    """Estimate a study on this machine, with `jobs` cells side by side, or as many as `compute` would take."""
    gpu = torch.cuda.is_available()
    cores = os.cpu_count() or 1
    # A cell has its threads' part of the whole machine's rate, which is measured with all cores at once.
    peak = peak_flops("cuda" if gpu else "cpu") * (1 if gpu else min(1.0, study.threads / cores))
    runs = [*study.starts, *study.cells]
    return Plan(
        runs=[_estimate(study, cell, peak) for cell in runs],
        ids=study.train.steps * study.train.batch * study.model.length,
        jobs=min(len(study.cells), jobs or side_by_side(study)),
        peak=peak,
        device=torch.cuda.get_device_name() if gpu else f"{cores} CPU cores",
    )


def _estimate(study: Study, cell: Cell, peak: float) -> Estimate:
    ids = study.train_of(cell).steps * study.train.batch * study.model.length
    types = 2 * study.vocabulary
    languages = (LANGUAGES - 1) * study.model.hidden if cell.objective.language_embeddings else 0
    flops = ids * flops_per_id(study.model, types, cell.objective.share)
    process = 0 if torch.cuda.is_available() else PROCESS
    rows = math.ceil(study.train.batch / study.train.cuts)
    return Estimate(
        cell=cell,
        parameters=parameters(study.model, types) + languages,
        flops=flops,
        memory=process + training_bytes(study.model, types, rows, cell.objective.share) + 16 * languages,
        seconds=flops / (EFFICIENCY * peak),
    )


def describe(study: Study, jobs: int | None) -> str:
    """The plan as text: every run with what it costs, and what all cost here."""
    made = plan(study, jobs)
    width = max(len(run.cell.name) for run in made.runs)
    runs = "\n".join(
        f"{run.cell.name:<{width}}  {run.parameters / 1e6:>8,.2f} M  {run.flops:>10.2e}  "
        f"{run.memory / 2**30:>8,.2f} GiB  {_time(run.seconds):>14}"
        for run in made.runs
    )
    starts = len(study.starts)
    began = f"; {starts} of the runs are what others begin with, and share their steps" if starts else ""
    return f"""\
{study.name}: {study.scale}
{len(study.cells)} models of {study.train.steps:,} steps of {study.train.batch} x {study.model.length} ids \
({made.ids / 1e6:,.0f} M) with {2 * study.vocabulary:,} types, each evaluated on {", ".join(study.finetune)}{began}

{"run":<{width}}  {"parameters":>10}  {"operations":>10}  {"memory":>12}  {"time":>14}
{runs}

here: {made.device}, {made.peak / 1e9:,.0f} GFLOP/s a run in matrix products, of which {EFFICIENCY:.0%} are assumed
side by side: {made.jobs}, together about {made.memory / 2**30:,.2f} GiB and {_time(made.seconds)} of pretraining
"""


def _time(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.0f} seconds"
