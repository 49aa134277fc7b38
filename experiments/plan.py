"""`calque plan`: the models that a study would pretrain, with parameters, operations, memory and time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from heapq import heapreplace

import torch

from experiments.facts import counted
from experiments.packing import card_room
from experiments.planning.cards import EFFICIENCY, Card
from experiments.planning.files import describe_files
from experiments.planning.on_cards import on_cards
from experiments.planning.text import describe_text
from experiments.schedule import side_by_side
from experiments.step import Cost, Step
from experiments.study import Study
from experiments.summary import extent, reading, scale
from pretrain.cost import peak_flops


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
    gpu, cores, steps = torch.cuda.is_available(), os.cpu_count() or 1, study.trained()
    costs = [(step, cost) for step in steps if (cost := step.cost())]
    together = max(1, min(len(costs), side_by_side([step for step, _ in costs], jobs, card_room()))) if costs else 1
    # A run has its threads' part of the whole machine's rate, which is measured with all cores at once; runs that share
    # a card share its rate.
    peak = peak_flops("cuda" if gpu else "cpu") * (1 / together if gpu else min(1.0, study.threads / cores))
    return Plan(
        runs=[_estimate(step, cost, peak) for step, cost in costs],
        jobs=together,
        peak=peak,
        device=torch.cuda.get_device_name() if gpu else f"{cores} CPU cores",
    )


def _estimate(step: Step, cost: Cost, peak: float) -> Estimate:
    return Estimate(step.title.removeprefix("pretrain "), cost, cost.flops / (EFFICIENCY * peak))


def describe(study: Study, jobs: int | None, card: Card | None = None, cards: int = 1) -> str:
    """The plan as text: every run with what it costs, and what all cost here, and on some cards of a kind.

    Raises:
        BadInput: a model does not fit on such a card.
    """
    made, text = plan(study, jobs), reading(study)
    if not made.runs:
        told = "no model is pretrained; what fine-tuning and testing take is not estimated"
        return f"{study.name}: {scale(study)}\n{extent(study)}\n\n{told}\n{describe_files(study, study.name)}"
    width = max((len(run.title) for run in made.runs), default=0)
    runs = "\n".join(
        f"{run.title:<{width}}  {run.cost.steps:>9,}  {run.cost.parameters / 1e6:>8,.2f} M  {run.cost.flops:>10.2e}  "
        f"{run.cost.memory / 2**30:>8,.2f} GiB  {_time(run.seconds):>14}"
        for run in made.runs
    )
    return f"""\
{study.name}: {scale(study)}
{extent(study)}
{f"{chr(10)}{describe_text(text)}" if text else ""}
{"run":<{width}}  {"steps":>9}  {"parameters":>10}  {"operations":>10}  {"memory":>12}  {"time":>14}
{runs}

here: {made.device}, {made.peak / 1e9:,.0f} GFLOP/s a run in matrix products, of which {EFFICIENCY:.0%} are assumed
side by side: {made.jobs}, together about {made.memory / 2**30:,.2f} GiB and {_time(made.seconds)} of pretraining
{_on_cards(made, card, cards) if card else ""}{describe_files(study, study.name)}"""


def _on_cards(made: Plan, card: Card, cards: int) -> str:
    """What all runs, one after the other, would take on so many cards."""
    each = [on_cards(run.cost, card, cards) for run in made.runs]
    cut, memory = max(one.micro_batches for one in each), max(one.memory for one in each)
    return f"""\
on {cards:,} {card.kind}: {card.peak / 1e12:,.0f} TFLOP/s each in bfloat16 ({card.sheet}), \
of which {EFFICIENCY:.0%} are assumed
one run after the other, each on all of them: about {_time(sum(one.seconds for one in each))} of pretraining; at most \
{memory / 2**30:,.2f} GiB a card with --set train.grad_accumulation={cut}
"""


def _time(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return counted(round(seconds), "second")
