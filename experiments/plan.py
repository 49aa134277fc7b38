"""`calque plan`: the models that a study would pretrain, with parameters, operations, memory and time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from heapq import heapreplace
from pathlib import Path

import torch

from experiments.schedule import side_by_side
from experiments.step import Cost, Step
from experiments.study import Study
from pretrain.cost import peak_flops

EFFICIENCY = 0.4
"""The part of the machine's matrix-product rate that training reaches; a run logs its own as `mfu`."""


@dataclass(frozen=True)
class Estimate:
    """The cost of one step, and its seconds on this machine."""

    title: str
    cost: Cost
    seconds: float


@dataclass(frozen=True)
class Plan:
    """Estimates for every pretraining run, `jobs` of them in parallel. `peak` is in operations/s a run."""

    runs: list[Estimate]
    jobs: int
    peak: float
    device: str

    @property
    def memory(self) -> int:
        """Bytes at the peak, of the runs that are computed at a time."""
        return self.jobs * max((run.cost.memory for run in self.runs), default=0)

    @property
    def seconds(self) -> float:
        """All runs, each begun when one of those before it ends; what begins with another's model waits no longer."""
        ends = [0.0] * self.jobs
        for run in self.runs:
            heapreplace(ends, ends[0] + run.seconds)
        return max(ends)


def plan(study: Study, jobs: int | None) -> Plan:
    """Estimate a study on this machine, with `jobs` runs in parallel, or as many as `compute` would take."""
    gpu = torch.cuda.is_available()
    cores = os.cpu_count() or 1
    # A run has its threads' part of the whole machine's rate, which is measured with all cores at once.
    peak = peak_flops("cuda" if gpu else "cpu") * (1 if gpu else min(1.0, study.threads / cores))
    steps = study.steps(Path())
    runs = [_estimate(step, cost, peak) for step in steps if (cost := step.cost())]
    return Plan(
        runs=runs,
        jobs=max(1, min(len(runs), jobs or side_by_side(steps))),
        peak=peak,
        device=torch.cuda.get_device_name() if gpu else f"{cores} CPU cores",
    )


def _estimate(step: Step, cost: Cost, peak: float) -> Estimate:
    return Estimate(step.title.removeprefix("pretrain "), cost, cost.flops / (EFFICIENCY * peak))


def describe(study: Study, jobs: int | None) -> str:
    """The plan as text: every run with what it costs, and what all cost here."""
    made = plan(study, jobs)
    width = max((len(run.title) for run in made.runs), default=0)
    runs = "\n".join(
        f"{run.title:<{width}}  {run.cost.steps:>9,}  {run.cost.parameters / 1e6:>8,.2f} M  {run.cost.flops:>10.2e}  "
        f"{run.cost.memory / 2**30:>8,.2f} GiB  {_time(run.seconds):>14}"
        for run in made.runs
    )
    return f"""\
{study.name}: {study.scale}
{study.extent}

{"run":<{width}}  {"steps":>9}  {"parameters":>10}  {"operations":>10}  {"memory":>12}  {"time":>14}
{runs}

here: {made.device}, {made.peak / 1e9:,.0f} GFLOP/s a run in matrix products, of which {EFFICIENCY:.0%} are assumed
side by side: {made.jobs}, together about {made.memory / 2**30:,.2f} GiB and {_time(made.seconds)} of pretraining
"""


def _time(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.0f} seconds"
