"""`calque run --on slurm`: a batch script, whose jobs run `calque cell`, for a study's unfinished steps."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from calque.experiments.run.step import Step


def jobs_of(steps: Sequence[Step]) -> list[list[Step]]:
    """Divide the unfinished steps into jobs: one for steps without a model, then one for each model and its
    measures. A job waits for, or computes, the steps of other jobs that it needs."""
    jobs: dict[Path | None, list[Step]] = {}
    for step in steps:
        if not step.finished:
            trained = [need.folder for need in (*step.needs, step) if need.stage == "pretrain"]
            jobs.setdefault(trained[-1] if trained else None, []).append(step)
    return list(jobs.values())


def script(name: str, steps: Sequence[Step], command: Sequence[str], limit: int | None) -> str:
    """Return a batch script for unfinished steps, `limit` jobs at a time; fingerprints follow `command`."""
    jobs = jobs_of(steps)
    header = [
        f"job-name=calque-{name}",
        f"array=0-{len(jobs) - 1}" + (f"%{limit}" if limit else ""),
        "open-mode=append",
        "requeue",
        f"cpus-per-task={max(step.threads for job in jobs for step in job)}",
    ]
    lines = ["#!/bin/bash", *(f"#SBATCH --{option}" for option in header), "cells=("]
    for job in jobs:
        title = " ".join(job[0].title.split())  # sweep values may contain line breaks
        lines.append(f"  '{' '.join(step.fingerprint for step in job)}'  # {title}, {len(job)} in all")
    call = shlex.join([sys.executable, "-m", *command])
    return "\n".join([*lines, ")", f"exec {call} ${{cells[$SLURM_ARRAY_TASK_ID]}}"])
