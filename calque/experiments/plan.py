"""`calque plan`: the cost of a study's pretraining, and the files that the study needs."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calque.experiments.data.recipe import by_recipe, inputs, read_recipe, sizes
from calque.experiments.report.summary import counted, scale_of
from calque.experiments.run.progress import duration
from calque.experiments.run.schedule import side_by_side
from calque.experiments.run.step import Step, is_finished
from calque.pretrain.lazy import torch
from calque.pretrain.model import EFFICIENCY, run_flops

if TYPE_CHECKING:
    from calque.experiments.session import StudySession

NAME = 20  # the width of the column with model names
SHOWN = 3  # maximum number of missing files to list if no recipe provides them


def describe(session: StudySession, jobs: int | None) -> str:
    """Return, as text, what a study or sweep still needs: models, operations, time and missing files.
    `jobs` runs are trained in parallel; by default, as many as in `calque run`."""
    trained = [step for step in session.trained if not step.config.shipped]
    steps = [step for step in trained if not is_finished(step)]
    count = counted(len(trained), "run")
    if finished := len(trained) - len(steps):
        count += f", {finished:,} of them finished below {session.runs}"
    lines = [f"{session.study.name}: {scale_of(session.studies)}", count, ""]
    if steps:
        lines += _training(steps, min(len(steps), side_by_side(steps, jobs)))
    else:
        lines.append("all models are pretrained; fine-tuning and testing are not estimated")
    return "\n".join([*lines, describe_files(session.studies)])


def _training(steps: Sequence[Step], parallel: int) -> list[str]:
    """Return one row per model and the total; runs of a model with equal costs, such as seeds, share a row,
    and long names are on a separate line."""
    peak = run_flops(max(step.threads for step in steps), parallel)
    names = [re.sub(r"/seed-\d+$", "", step.title.removeprefix("pretrain ")) for step in steps]
    costs = [step.config.cost() for step in steps]
    rows = [f"{'model':<{NAME}}  runs    steps parameters operations        time"]
    for (name, cost), runs in Counter(zip(names, costs, strict=True)).items():
        if len(name) > NAME:
            rows.append(name)
            name = ""
        size = f"{cost.steps:>8,} {cost.parameters / 1e6:>8,.2f} M {cost.flops:>9.2e}"
        time = duration(cost.flops / (EFFICIENCY * peak))
        rows.append(f"{name:<{NAME}} {runs:>5} {size} {time:>11}")
    time = duration(total_seconds([cost.flops for cost in costs], parallel, EFFICIENCY * peak))
    gpu = torch.cuda.is_available()
    device = torch.cuda.get_device_name() if gpu else f"{os.cpu_count() or 1} CPU cores"
    return [
        *rows,
        "",
        f"here: {device}, {peak / 1e9:,.0f} GFLOP/s per run in matrix products,",
        f"of which training uses about {EFFICIENCY:.0%}",
        f"{counted(parallel, 'run')} at a time: about {time} of pretraining in total",
    ]


def total_seconds(operations: Sequence[float], parallel: int, speed: float) -> float:
    """Return the time for runs of which `parallel` are trained at a time, each with `speed` operations/s."""
    return max(sum(operations) / parallel, *operations) / speed


def describe_files(study: Any) -> str:
    """Describe a study's missing or empty files and the command that fetches them; "" if it uses no files."""
    paths = inputs(study)
    missing = [path for path in paths if not (path.is_dir() or (path.is_file() and path.stat().st_size > 0))]
    if not missing:
        return f"files: {len(paths):,} needed, none missing\n" if paths else ""
    lines = [f"files: {len(missing):,} of {len(paths):,} are missing or empty"]
    recipes = by_recipe(missing)
    others = recipes.pop("", [])
    if recipes:
        downloads = [download for recipe in recipes for download in read_recipe(recipe).downloads]
        trust = "" if all(download.pinned for download in downloads) else " --trust"
        fetch = f"`calque data fetch {' '.join(recipes)}{trust}`"
        lines.append(f"{fetch} downloads {len(missing) - len(others):,} of them ({sizes(downloads)})")
    if others:
        listing = [str(path) for path in others[:SHOWN]] + ["..."] * (len(others) > SHOWN)
        lines.append(f"no recipe provides {len(others):,} of them: {', '.join(listing)}")
    return "\n".join(lines) + "\n"
