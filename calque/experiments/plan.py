"""`calque plan`: the cost of a study's pretraining, and the files that the study needs."""

import os
import re
from collections import Counter
from dataclasses import dataclass
from heapq import heapreplace
from pathlib import Path
from typing import Any

from calque.experiments.data.recipe import by_recipe, inputs, read_recipe, sizes
from calque.experiments.report.summary import counted, extent, scale_of
from calque.experiments.run.schedule import side_by_side
from calque.experiments.run.step import is_finished
from calque.experiments.settings.sweep import Sweep
from calque.experiments.study import Study
from calque.experiments.study.models import Cost
from calque.pretrain.cost import EFFICIENCY, run_flops
from calque.pretrain.lazy import torch

NAME = 20  # the width of the column with model names
SHOWN = 3  # maximum number of missing files to list if no recipe provides them


@dataclass(frozen=True)
class Plan:
    """The title and cost of each unfinished pretraining run, and the number of `finished` runs. `jobs` runs
    are trained in parallel, each with a peak rate of `peak` operations/s."""

    runs: list[tuple[str, Cost]]
    jobs: int
    peak: float
    device: str
    finished: int = 0

    def seconds_of(self, cost: Cost) -> float:
        return cost.flops / (EFFICIENCY * self.peak)

    @property
    def seconds(self) -> float:
        """The total time, assuming that the next run starts whenever a run ends, even if the next run's
        starting model has not been trained yet."""
        ends = [0.0] * self.jobs
        for _, cost in self.runs:
            heapreplace(ends, ends[0] + self.seconds_of(cost))
        return max(ends)


def plan(study: Study | Sweep, jobs: int | None, root: Path = Path()) -> Plan:
    """Estimate the training that a study or sweep still needs, given the finished runs below `root`. `jobs`
    runs are trained in parallel; by default, as many as in `calque run`."""
    trained = [step for step in study.trained(root) if not step.config.shipped]
    steps = [step for step in trained if not is_finished(step)]
    runs = [(step.title.removeprefix("pretrain "), step.config.cost()) for step in steps]
    parallel = max(1, min(len(steps), side_by_side(steps, jobs)))
    threads = max((step.threads for step in steps), default=1)
    gpu = torch.cuda.is_available()
    device = torch.cuda.get_device_name() if gpu else f"{os.cpu_count() or 1} CPU cores"
    return Plan(runs, parallel, run_flops(threads, parallel), device, len(trained) - len(steps))


def describe(study: Study | Sweep, jobs: int | None, root: Path = Path()) -> str:
    """Return a study's plan as text: models, operations, memory, time and missing files."""
    estimate, studies = plan(study, jobs, root), list(study.variants.values())
    runs = counted(len(estimate.runs) + estimate.finished, "run")
    what = f"{runs} for {' and '.join(study.options)}" if study.options else extent(studies[0])
    lines = [f"{study.name}: {scale_of(studies)}", what]
    if estimate.finished:
        lines.append(
            f"{counted(estimate.finished, 'run')} finished below {root}, {len(estimate.runs):,} left"
        )
    lines.append("")
    if estimate.runs:
        memory = estimate.jobs * max(cost.memory for _, cost in estimate.runs) / 2**30
        total = f"about {memory:,.2f} GiB and {_time(estimate.seconds)} of pretraining in total"
        lines += [*_runs(estimate), ""]
        lines.append(
            f"here: {estimate.device}, {estimate.peak / 1e9:,.0f} GFLOP/s per run in matrix products,"
        )
        lines.append(f"of which training uses about {EFFICIENCY:.0%}")
        lines.append(f"{counted(estimate.jobs, 'run')} at a time: {total}")
    else:
        lines.append("all models are pretrained; fine-tuning and testing are not estimated")
    return "\n".join([*lines, describe_files(tuple(studies), study.name)])


def _runs(here: Plan) -> list[str]:
    """Format one row per model; seeds with equal costs share a row, and long names are on a separate line."""
    seeds = Counter((re.sub(r"/seed-\d+$", "", title), cost) for title, cost in here.runs)
    rows = [f"{'model':<{NAME}} seeds    steps parameters operations    memory        time"]
    for (title, cost), count in seeds.items():
        if len(title) > NAME:
            rows.append(title)
            title = ""
        size = f"{cost.steps:>8,} {cost.parameters / 1e6:>8,.2f} M {cost.flops:>9.2e}"
        memory, time = f"{cost.memory / 2**30:>6,.2f} GiB", _time(here.seconds_of(cost))
        rows.append(f"{title:<{NAME}} {count:>5} {size} {memory} {time:>11}")
    return rows


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
    for recipe, files in by_recipe(missing, name).items():
        if recipe:
            downloads = read_recipe(recipe).downloads
            trust = "" if all(download.pinned for download in downloads) else " --trust"
            fetch = f"`calque data fetch {recipe}{trust}`"
            lines.append(f"{fetch} downloads {len(files):,} of them ({sizes(downloads)})")
        else:
            listing = [str(path) for path in files[:SHOWN]] + ["..."] * (len(files) > SHOWN)
            lines.append(f"no recipe provides {len(files):,} of them: {', '.join(listing)}")
    return "\n".join(lines) + "\n"
