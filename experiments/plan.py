"""`calque plan`: what a study would run, with parameters, operations, memory and time. It runs nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch

from experiments.study import Study
from pretrain.config import ModelConfig
from pretrain.cost import flops_per_id, parameters, peak_flops, training_bytes
from pretrain.mask import SHARE

EFFICIENCY = 0.4
"""The share of the machine's matrix-product rate that training reaches; a run logs its own as `mfu`."""


@dataclass(frozen=True)
class Plan:
    """Estimates for one cell, and for the study on this machine."""

    runs: int
    parameters: int
    ids: int
    flops: float
    memory: int
    seconds_a_run: float
    seconds: float
    device: str
    jobs: int
    peak: float


def plan(study: Study, jobs: int) -> Plan:
    """Estimate a study on this machine: one GPU if there is one, else `jobs` cells side by side on its cores."""
    model: ModelConfig = study.model
    types = 2 * study.vocabulary
    ids = study.train.steps * study.train.batch * model.length
    flops = ids * flops_per_id(model, types, SHARE)
    gpu = torch.cuda.is_available()
    device = "cuda" if gpu else "cpu"
    cores = os.cpu_count() or 1
    # A cell has its threads' part of the whole machine's rate, which is measured with all cores at once.
    peak = peak_flops(device) * (1 if gpu else min(1.0, study.threads / cores))
    side_by_side = 1 if gpu else jobs
    seconds = flops / (EFFICIENCY * peak)
    runs = len(study.cells)
    rows = study.train.batch // study.train.cuts
    return Plan(
        runs=runs,
        parameters=parameters(model, types),
        ids=ids,
        flops=flops,
        memory=training_bytes(model, types, rows, SHARE) * side_by_side,
        seconds_a_run=seconds,
        seconds=seconds * runs / side_by_side,
        device=torch.cuda.get_device_name() if gpu else f"{cores} CPU cores",
        jobs=side_by_side,
        peak=peak,
    )


def describe(study: Study, jobs: int) -> str:
    """The plan as text: every run, what one costs, and what all cost here."""
    made = plan(study, jobs)
    runs = "\n".join(f"  {cell.name}" for cell in study.cells)
    return f"""\
{study.name}: {study.scale}
{made.runs} pretraining runs, each evaluated on {", ".join(study.finetune)}:
{runs}

one run
  parameters        {made.parameters / 1e6:,.1f} M ({2 * study.vocabulary:,} types)
  ids shown         {made.ids / 1e6:,.0f} M ({study.train.steps:,} steps of {study.train.batch} x {study.model.length})
  training          {made.flops:.2e} floating-point operations
  memory            about {made.memory / made.jobs / 2**30:,.2f} GiB
  time              about {_time(made.seconds_a_run)}

here: {made.device}, {made.peak / 1e9:,.0f} GFLOP/s a run in matrix products, of which {EFFICIENCY:.0%} are assumed
  side by side      {made.jobs}, {made.memory / 2**30:,.2f} GiB
  pretraining       about {_time(made.seconds)}
"""


def _time(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.0f} seconds"
