"""`calque run --on slurm`: a study's unfinished steps as Slurm jobs that run `calque cell`."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput, shown
from calque.derive.files import make_folder
from calque.derive.fingerprint import fingerprint
from calque.experiments.run.step import Step

Job = list[Step]


@dataclass
class Slurm:
    """The unfinished `steps` as arrays of jobs, with one job for all languages and examples, and one job
    for each model and its measures. Each level of jobs starts when the previous level has ended, even if some
    of its jobs failed.

    home: the study's folder.
    command: `calque cell` with all arguments except fingerprints.
    options: options for sbatch.
    jobs: the maximum number of jobs that run at a time.
    """

    steps: Sequence[Step]
    home: Path
    command: Sequence[str]
    options: Sequence[str] = ()
    jobs: int | None = None

    def __post_init__(self) -> None:
        for option in self.options:
            if not re.fullmatch(r"[a-z][a-z-]*(=[^\n]+)?", option):
                raise BadInput(f"--option {shown(option)}: expected KEY=VALUE, as in partition=gpu")
        place = str(self.home.resolve())
        if not place.isprintable() or '"' in place or "\\" in place:
            expected = "choose a folder without quotation marks, backslashes or line breaks in its path"
            raise BadInput(f"Slurm cannot write logs below {shown(place)}; {expected}")

    @property
    def script(self) -> str:
        return "\n".join(map(self._array, self.levels()))

    @cached_property
    def name(self) -> str:
        """The name of all jobs, shared by all commands with the same steps."""
        steps = [step.folder.name for step in self.steps]
        return f"calque-{self.home.name}-{fingerprint(self.home.resolve(), steps)}"

    @property
    def folder(self) -> Path:
        """The folder for logs."""
        return self.home.resolve() / "jobs" / self.name

    def submit(self) -> int:
        """Submit the jobs and return their number. Raises BadInput if the jobs of an earlier command with the
        same steps have not ended."""
        if _slurm("squeue", "--noheader", f"--name={self.name}").strip():
            advice = f"wait for them, or end them with `scancel --name={self.name}`"
            raise BadInput(f"the jobs of an earlier command have not ended; {advice}")
        make_folder(self.folder)
        submitted, after = 0, list[str]()
        for jobs in self.levels():
            answer = _slurm("sbatch", "--parsable", *after, script=self._array(jobs))
            after = [f"--dependency=afterany:{answer.split(';')[0].strip()}"]
            submitted += len(jobs)
        return submitted

    def levels(self) -> Iterator[list[Job]]:
        """Yield the jobs that do not need any others, then the jobs that need only those, and so on."""
        jobs: dict[Any, Job] = {}
        for step in self.steps:
            if not step.finished:
                trained = [need for need in (*step.needs, step) if need.stage == "pretrain"] or [step]
                key = "derive" if step.stage == "derive" else trained[-1].folder
                jobs.setdefault(key, []).append(step)
        job_of = {step.folder: key for key, job in jobs.items() for step in job}
        order = TopologicalSorter[Any]()
        for key, job in jobs.items():
            needs = {job_of[need.folder] for step in job for need in step.needs if need.folder in job_of}
            order.add(key, *(needs - {key}))
        order.prepare()
        while ready := order.get_ready():
            yield [jobs[key] for key in jobs if key in ready]
            order.done(*ready)

    def _array(self, jobs: list[Job]) -> str:
        options = [
            f"job-name={self.name}",
            f"array=0-{len(jobs) - 1}" + (f"%{self.jobs}" if self.jobs else ""),
            f'output="{str(self.folder).replace("%", "%%")}/%A_%a.log"',
            "open-mode=append",
            "requeue",
            f"cpus-per-task={max(step.threads for step in jobs[0])}",
            *self.options,
        ]
        call = shlex.join([sys.executable, "-m", *self.command])
        lines = ["#!/bin/bash", *(f"#SBATCH --{option}" for option in options), "cells=("]
        for job in jobs:
            title = " ".join(job[0].title.split())  # sweep values may contain line breaks
            suffix = f" and {len(job) - 1} more" if job[1:] else ""
            lines.append(f"  '{' '.join(step.fingerprint for step in job)}'  # {title}{suffix}")
        return "\n".join([*lines, ")", f"exec {call} ${{cells[$SLURM_ARRAY_TASK_ID]}}\n"])


def _slurm(*words: str, script: str = "") -> str:
    try:
        process = subprocess.run(words, input=script, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        where = "run this where jobs can be submitted to Slurm"
        raise BadInput(f"{words[0]} is not installed; {where}") from None
    if process.returncode:
        raise BadInput(f"Slurm rejected the command: {' '.join(process.stderr.split())}")
    return process.stdout
