"""`calque run --on slurm`: a study's unfinished steps as Slurm jobs that run `calque cell`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calque.derive.errors import BadInput
from calque.derive.files import make_folder
from calque.derive.fingerprint import fingerprint
from calque.experiments.run.step import Step

if TYPE_CHECKING:
    from calque.experiments.session import StudySession

Job = list[Step]


def levels(steps: Sequence[Step]) -> list[list[Job]]:
    """Return the unfinished steps as jobs: first one job for all languages and examples, then those that can
    run when it has ended, one for each model and its measures. A model's job waits for, or computes, what
    the model starts from."""
    jobs: dict[Any, Job] = {}
    for step in steps:
        if not step.finished:
            trained = [need for need in (*step.needs, step) if need.stage == "pretrain"] or [step]
            key = "derive" if step.stage == "derive" else trained[-1].folder
            jobs.setdefault(key, []).append(step)
    first = jobs.pop("derive", None)
    return [level for level in ([first] if first else [], [*jobs.values()]) if level]


def log_folder(session: StudySession) -> Path:
    """Return the folder for logs. Its name is also the name of all jobs, shared by all commands with the same
    steps."""
    home = (session.runs / session.study.name).resolve()
    steps = [step.folder.name for step in session.steps]
    return home / "jobs" / f"calque-{home.name}-{fingerprint(home, steps)}"


def scripts(
    session: StudySession, command: Sequence[str], options: Sequence[str], jobs: int | None
) -> list[str]:
    """Return a batch script for each level of jobs. `command` is `calque cell` with all arguments except
    fingerprints, `options` are passed to sbatch, and at most `jobs` jobs run at a time."""
    folder, call = log_folder(session), shlex.join([sys.executable, "-m", *command])
    texts = []
    for level in levels(session.steps):
        header = [
            f"job-name={folder.name}",
            f"array=0-{len(level) - 1}" + (f"%{jobs}" if jobs else ""),
            f'output="{str(folder).replace("%", "%%")}/%A_%a.log"',
            "open-mode=append",
            "requeue",
            f"cpus-per-task={max(step.threads for job in level for step in job)}",
            *options,
        ]
        lines = ["#!/bin/bash", *(f"#SBATCH --{option}" for option in header), "cells=("]
        for job in level:
            title = " ".join(job[0].title.split())  # sweep values may contain line breaks
            lines.append(f"  '{' '.join(step.fingerprint for step in job)}'  # {title}, {len(job)} in all")
        texts.append("\n".join([*lines, ")", f"exec {call} ${{cells[$SLURM_ARRAY_TASK_ID]}}\n"]))
    return texts


def submit(session: StudySession, scripts: Sequence[str]) -> Path:
    """Submit batch scripts, each of which starts when the previous one's jobs have ended, and return the
    folder for logs. Raises BadInput if the jobs of an earlier command with the same steps have not ended."""
    folder = log_folder(session)
    if _slurm("squeue", "--noheader", f"--name={folder.name}").strip():
        advice = f"wait for them, or end them with `scancel --name={folder.name}`"
        raise BadInput(f"the jobs of an earlier command have not ended; {advice}")
    session.reserve()
    make_folder(folder)
    after = list[str]()
    for script in scripts:
        answer = _slurm("sbatch", "--parsable", *after, script=script)
        after = [f"--dependency=afterany:{answer.split(';')[0].strip()}"]
    return folder


def _slurm(*words: str, script: str = "") -> str:
    try:
        process = subprocess.run(words, input=script, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise BadInput(f"{words[0]} is not installed here; Slurm provides it") from None
    if process.returncode:
        raise BadInput(f"Slurm rejected the command: {' '.join(process.stderr.split())}")
    return process.stdout
