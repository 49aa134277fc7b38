"""`calque run --on slurm`: a study's unfinished steps as Slurm jobs that run `calque cell`."""

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput, Unfinished, shown
from calque.derive.files import claim_of, claimed, make_folder, sweep
from calque.derive.fingerprint import fingerprint
from calque.experiments.run.places import SHARED
from calque.experiments.run.signals import leaving
from calque.experiments.run.step import Step, Watch

Job = list[Step]
LONGEST = 15.0  # maximum seconds between polls of Slurm


@dataclass
class Slurm:
    """Runs the unfinished `steps` as arrays of jobs, with one job for all languages and examples, and one job
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
        return self.home.resolve() / "jobs" / self.name

    def compute(self, watch: Watch, tell: Callable[[str], None]) -> None:
        """Compute the steps, after waiting for the jobs of any earlier command. Raises Unfinished, listing
        the failed steps with their logs' last lines and paths."""
        if all(step.finished for step in self.steps):
            return
        _slurm("sbatch", "--test-only", script=self._array(next(self.levels())))
        make_folder(self.folder)
        with claimed(self.folder):
            if self._running():
                tell(f"waiting for the jobs {self.name} of an earlier command")
                self._wait(watch)
            logs = self._start()
            if not logs:
                return
            tell(f"{len(logs)} jobs; logs in {self.folder}")
            self._wait(watch)
            if failed := [line for log, job in logs.items() for line in _failures(log, job)]:
                raise Unfinished([*failed, "rerun the command to compute the missing steps"])

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

    def _start(self) -> dict[Path, Job]:
        logs, after = dict[Path, Job](), list[str]()
        for jobs in list(self.levels()):
            answer = _slurm("sbatch", "--parsable", *after, script=self._array(jobs))
            number = answer.split(";")[0].strip()
            logs |= {self.folder / f"{number}_{place}.log": job for place, job in enumerate(jobs)}
            after = [f"--dependency=afterany:{number}"]
        return logs

    def _running(self) -> bool:
        words = ["squeue", "--noheader", f"--name={self.name}", "--format=%i"]
        queue = subprocess.run(words, capture_output=True, text=True, check=False)
        return queue.returncode != 0 or bool(queue.stdout.strip())  # Slurm's controller may be restarting

    def _wait(self, watch: Watch) -> None:
        waiting = [step for step in self.steps if not step.finished]
        begun, start = set[Path](), time.monotonic()
        with leaving(f"the jobs continue (scancel --name={self.name} ends them)"):
            while True:
                alive = self._running()
                if not alive:
                    sweep(self.home.parent / SHARED)  # makes network disks show new files
                for step in list(waiting):
                    if step.folder not in begun and (step.finished or claim_of(step.folder).exists()):
                        begun.add(step.folder)
                        watch(step, False)
                    if step.finished:
                        waiting.remove(step)
                        watch(step, True)
                if not alive:
                    return
                time.sleep(min(LONGEST, 0.5 + (time.monotonic() - start) / 20))


def _failures(log: Path, job: Job) -> Iterator[str]:
    """Yield a line for each failed step in a job, except for steps that need a failed one."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    lines = [line for line in text.splitlines() if line.strip()] or ["the job ended before its command began"]
    for step in job:
        if not step.finished and all(need.finished for need in step.needs):
            errors = [line for line in lines if "error: " in line]
            matches = [line for line in errors if f"error: {step.title}: " in line]
            yield f"{step.title}: {(matches or errors or lines)[-1]} ({log})"  # Slurm may add its own lines


def _slurm(*words: str, script: str) -> str:
    try:
        process = subprocess.run(words, input=script, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        where = "run this where jobs can be submitted to Slurm"
        raise BadInput(f"{words[0]} is not installed; {where}") from None
    if process.returncode:
        raise BadInput(f"Slurm rejected the jobs: {' '.join(process.stderr.split())}")
    return process.stdout
