"""`calque plan`: the cost of a study's pretraining, and the files that the study needs."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calque.derive.errors import BadInput
from calque.experiments.data.recipe import fetching, inputs, recipe_of
from calque.experiments.report.summary import counted, scale_of
from calque.experiments.run.progress import duration
from calque.experiments.run.schedule import side_by_side
from calque.experiments.run.step import Step
from calque.pretrain.lazy import torch
from calque.pretrain.model import EFFICIENCY, run_flops

if TYPE_CHECKING:
    from calque.experiments.session import StudySession


def describe(session: StudySession, jobs: int | None) -> str:
    """Describe a study's remaining models, operations and files, and their time with `jobs` parallel runs."""
    trained = [step for step in session.trained if not step.config.shipped]
    steps = [step for step in trained if not _is_finished(step)]
    count = counted(len(trained), "run")
    if finished := len(trained) - len(steps):
        count += f", {finished:,} of them finished below {session.runs}"
    lines = [f"{session.study.name}: {scale_of(session.studies)}", count, ""]
    if steps:
        lines += _training(steps, min(len(steps), side_by_side(steps, jobs)))
    else:
        lines.append("all models are pretrained; fine-tuning and testing are not estimated")
    return "\n".join([*lines, describe_files(session.studies)])


def _is_finished(step: Step) -> bool:
    try:
        return step.finished
    except BadInput:  # a data file is missing
        return False


def _training(steps: Sequence[Step], parallel: int) -> list[str]:
    peak = run_flops(max(step.threads for step in steps), parallel)
    speed = EFFICIENCY * peak
    names = [re.sub(r"/seed-\d+$", "", step.title.removeprefix("pretrain ")) for step in steps]
    costs = [step.config.cost() for step in steps]
    rows = ["runs    steps parameters operations   time  model"]
    for (name, cost), runs in Counter(zip(names, costs, strict=True)).items():
        size = f"{cost.steps:>8,} {cost.parameters / 1e6:>8,.2f} M {cost.flops:>10.2e}"
        rows.append(f"{runs:>4} {size} {duration(cost.flops / speed):>6}  {name}")
    operations = [cost.flops for cost in costs]
    seconds = max(sum(operations) / parallel, *operations) / speed
    gpu = torch.cuda.is_available()
    device = torch.cuda.get_device_name() if gpu else f"{os.cpu_count() or 1} CPU cores"
    return [
        *rows,
        "",
        f"here: {device}, {peak / 1e9:,.0f} GFLOP/s per run in matrix products,",
        f"of which training uses about {EFFICIENCY:.0%}",
        f"{counted(parallel, 'run')} at a time: about {duration(seconds)} of pretraining in total",
    ]


def describe_files(study: Any) -> str:
    """Describe a study's missing or empty files and the command that fetches them; "" if it uses no files."""
    paths = inputs(study)
    missing = [path for path in paths if not (path.is_dir() or (path.is_file() and path.stat().st_size))]
    if not missing:
        return f"files: {len(paths):,} needed, none missing\n" if paths else ""
    lines = [f"files: {len(missing):,} of {len(paths):,} are missing or empty"]
    if recipes := [recipe for path in missing if (recipe := recipe_of(path))]:
        lines.append(f"`{fetching(sorted({*recipes}))}` downloads {len(recipes):,} of them")
    lines += [f"no recipe provides {path}" for path in missing if not recipe_of(path)]
    return "\n".join(lines) + "\n"
