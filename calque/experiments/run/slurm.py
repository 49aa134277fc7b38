"""`calque run --on slurm`: a study's unfinished steps as Slurm jobs that run `calque cell`."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput
from calque.derive.files import make_folder
from calque.derive.fingerprint import fingerprint
from calque.experiments.run.step import Step

Job = list[Step]


@dataclass
class Slurm:
    """The unfinished `steps` as a job for all languages and examples, and an array of jobs for each model and
    its measures, which starts when the first job has ended. `home` is the study's folder, `command` is
    `calque cell` with all arguments except fingerprints, `options` are passed to sbatch, and at most `jobs`
    jobs run at a time."""

    steps: Sequence[Step]
    home: Path
    command: Sequence[str]
    options: Sequence[str] = ()
    jobs: int | None = None

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

    def levels(self) -> list[list[Job]]:
        """Return the jobs that can run at the same time: first the job for languages and examples, then those
        for models and measures. A model's job waits for, or computes, what the model starts from."""
        jobs: dict[Any, Job] = {}
        for step in self.steps:
            if not step.finished:
                trained = [need for need in (*step.needs, step) if need.stage == "pretrain"] or [step]
                key = "derive" if step.stage == "derive" else trained[-1].folder
                jobs.setdefault(key, []).append(step)
        first = jobs.pop("derive", None)
        return [level for level in ([first] if first else [], [*jobs.values()]) if level]

    def _array(self, jobs: list[Job]) -> str:
        options = [
            f"job-name={self.name}",
            f"array=0-{len(jobs) - 1}" + (f"%{self.jobs}" if self.jobs else ""),
            f'output="{str(self.folder).replace("%", "%%")}/%A_%a.log"',
            "open-mode=append",
            "requeue",
            f"cpus-per-task={max(step.threads for job in jobs for step in job)}",
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
        raise BadInput(f"{words[0]} is not installed here; Slurm provides it") from None
    if process.returncode:
        raise BadInput(f"Slurm rejected the command: {' '.join(process.stderr.split())}")
    return process.stdout
