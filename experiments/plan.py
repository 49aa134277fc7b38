"""`calque plan`: the cost of a study's pretraining, and the files that the study needs."""

import math
import os
import re
from collections import Counter
from dataclasses import dataclass
from heapq import heapreplace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from textwrap import fill
from typing import Any

from calque.derive.errors import BadInput, unknown
from calque.experiments.data.recipe import by_recipe, inputs, read_recipe, sizes
from calque.experiments.report.summary import counted, extent, scale_of
from calque.experiments.run.schedule import side_by_side
from calque.experiments.run.step import is_finished
from calque.experiments.settings.sweep import Sweep
from calque.experiments.study import Study
from calque.experiments.study.models import Cost
from calque.pretrain.cost import EFFICIENCY, run_flops
from calque.pretrain.lazy import torch

USABLE = 0.9  # the fraction of a card's memory to plan with, since a run's memory is only estimated
NAME = 20  # the width of the column with model names
WIDTH = 80


@dataclass(frozen=True)
class Card:
    """A GPU. `teraflops` is its dense bfloat16 matrix-product rate in 10^12 operations/s, as stated in its
    data `sheet`."""

    kind: str
    teraflops: float
    gigabytes: int
    sheet: str

    @property
    def peak(self) -> float:
        return self.teraflops * 1e12

    @property
    def memory(self) -> int:
        return self.gigabytes * 10**9


CARDS = (
    Card("A100", 312, 80, "NVIDIA, A100 80GB"),
    Card("H100", 989.4, 80, "NVIDIA, H100 SXM"),
    Card("H100-PCIe", 756.5, 80, "NVIDIA, H100 PCIe"),
    Card("H200", 989.4, 141, "NVIDIA, H200 SXM"),
    Card("L40S", 362.05, 48, "NVIDIA, L40S"),
    Card("MI300X", 1307.4, 192, "AMD, Instinct MI300X"),
)


def card(kind: str) -> Card:
    """Return the GPU with that name, ignoring case. Raises BadInput for an unknown name."""
    for candidate in CARDS:
        if candidate.kind.lower() == kind.lower():
            return candidate
    raise BadInput(unknown("GPU", kind, (candidate.kind for candidate in CARDS)))


def on_cards(cost: Cost, card: Card, number: int) -> tuple[float, float, int]:
    """Return a run's seconds, bytes per card and micro-batches per step on `number` cards with one process
    each. Time for synchronising cards is ignored."""
    if number > cost.batch:
        raise BadInput(
            f"{number:,} cards are too many for {cost.batch:,} rows per step: each needs at least one row"
        )
    rows = math.ceil(cost.batch / number)
    at_a_time = next((n for n in range(rows, 0, -1) if cost.card.of(n) <= USABLE * card.memory), 0)
    if not at_a_time:
        model = f"a model of {cost.parameters / 1e6:,.0f} M parameters"
        raise BadInput(f"{model} does not fit on one {card.kind}, even with one row per micro-batch")
    pieces = math.ceil(rows / at_a_time)
    return cost.flops / (EFFICIENCY * card.peak * number), cost.card.of(math.ceil(rows / pieces)), pieces


@dataclass(frozen=True)
class Plan:
    """The title and cost of each unfinished pretraining run, and the number of finished ones. `jobs` of them
    run in parallel, each with a peak rate of `peak` operations/s."""

    runs: list[tuple[str, Cost]]
    jobs: int
    peak: float
    device: str
    finished: int = 0

    @property
    def memory(self) -> float:
        """The peak memory of all concurrent runs, in bytes."""
        return self.jobs * max((cost.memory for _, cost in self.runs), default=0)

    def seconds_of(self, cost: Cost) -> float:
        return cost.flops / (EFFICIENCY * self.peak)

    @property
    def seconds(self) -> float:
        """The total time if a run starts whenever one ends, even if its starting model is not trained yet."""
        ends = [0.0] * self.jobs
        for _, cost in self.runs:
            heapreplace(ends, ends[0] + self.seconds_of(cost))
        return max(ends)


def plan(study: Study | Sweep, jobs: int | None, root: Path = Path()) -> Plan:
    """Estimate the training that a study or sweep still needs, given the finished runs below `root`. `jobs`
    runs are parallel; by default, as in `calque run`."""
    trained = [step for step in study.trained(root) if not step.config.shipped]
    steps = [step for step in trained if not is_finished(step)]
    runs = [(step.title.removeprefix("pretrain "), step.config.cost()) for step in steps]
    parallel = max(1, min(len(steps), side_by_side(steps, jobs)))
    threads = max((step.threads for step in steps), default=1)
    gpu = torch.cuda.is_available()
    device = torch.cuda.get_device_name() if gpu else f"{os.cpu_count() or 1} CPU cores"
    return Plan(runs, parallel, run_flops(threads, parallel), device, len(trained) - len(steps))


def describe(
    study: Study | Sweep, jobs: int | None, card: Card | None = None, cards: int = 1, root: Path = Path()
) -> str:
    """Format the plan: each run's cost, and totals on this machine and on `cards` cards."""
    here = plan(study, jobs, root)
    if isinstance(study, Sweep):
        studies: tuple[Study, ...] = tuple(study.variants.values())
        number = counted(len(here.runs) + here.finished, "run")
        what = f"{number} for {' and '.join(study.options)}"
    else:
        studies, what = (study,), extent(study)
    head, files = f"{study.name}: {scale_of(studies)}\n{what}\n", describe_files(studies, study.name)
    if here.finished:
        head += f"{counted(here.finished, 'run')} finished below {root}, {len(here.runs):,} left\n"
    if not here.runs:
        return f"{head}\nno model is left to pretrain; fine-tuning and testing are not estimated\n{files}"
    memory = f"{here.memory / 2**30:,.2f} GiB"
    return f"""{head}
{_runs(here)}

here: {here.device}, {here.peak / 1e9:,.0f} GFLOP/s per run in matrix products,
of which training uses about {EFFICIENCY:.0%}
{counted(here.jobs, "run")} at a time: about {memory} and {_time(here.seconds)} of pretraining in total
{_describe_cards(here, card, cards) if card else ""}{files}"""


def _runs(here: Plan) -> str:
    """Format one row per model; seeds of equal cost share a row, and long names get a separate line."""
    seeds: Counter[tuple[str, str]] = Counter()
    for title, cost in here.runs:
        numbers = (
            f"{cost.steps:>8,} {cost.parameters / 1e6:>8,.2f} M {cost.flops:>9.2e} "
            f"{cost.memory / 2**30:>6,.2f} GiB {_time(here.seconds_of(cost)):>11}"
        )
        seeds[re.sub(r"/seed-\d+$", "", title), numbers] += 1
    rows = [f"{'model':<{NAME}} seeds    steps parameters operations    memory        time"]
    for (title, numbers), count in seeds.items():
        if len(title) > NAME:
            rows.append(title)
            title = ""
        rows.append(f"{title:<{NAME}} {count:>5} {numbers}")
    return "\n".join(rows)


def _describe_cards(here: Plan, card: Card, cards: int) -> str:
    seconds, memory, pieces = zip(*(on_cards(cost, card, cards) for _, cost in here.runs), strict=True)
    return f"""\
on {cards:,} {card.kind}: {card.peak / 1e12:,.0f} TFLOP/s each in bfloat16 ({card.sheet}),
of which training uses about {EFFICIENCY:.0%}
1 run at a time, on all cards: about {_time(sum(seconds))} of pretraining in total, and at most \
{max(memory) / 2**30:,.2f} GiB per card with --set train.grad_accumulation={max(pieces)}
"""


def _time(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return counted(round(seconds), "second")


def describe_files(study: Any, name: str) -> str:
    """Describe a study's missing or empty files and the commands that fetch them; "" if it uses no files."""
    paths = inputs(study)
    missing = [path for path in paths if not (path.is_dir() or (path.is_file() and path.stat().st_size > 0))]
    if not missing:
        return f"files: {len(paths):,} needed, none missing\n" if paths else ""
    lines = [f"files: {len(missing):,} of {len(paths):,} are missing or empty"]
    parent = attrgetter("parent")
    for recipe, found in by_recipe(missing, name).items():
        lines.append(_source_of(recipe, len(found)))
        for folder, files in groupby(sorted(found, key=parent), parent):
            text = f"  {folder}/ {' '.join(path.name for path in files)}"
            lines.append(
                fill(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)
            )
    return "\n".join(lines) + "\n"


def _source_of(recipe: str, number: int) -> str:
    if not recipe:
        return f"no recipe provides {number:,} of them:"
    downloads = read_recipe(recipe).downloads
    trust = "" if all(download.pinned for download in downloads) else " --trust"
    return f"`calque data fetch {recipe}{trust}` gets {number:,} of them ({sizes(downloads)}):"
