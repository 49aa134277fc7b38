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
from itertools import chain
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput, Unfinished, shown
from calque.derive.files import claim_of, claimed, make_folder, sweep
from calque.derive.fingerprint import fingerprint
from calque.experiments.run.places import SHARED
from calque.experiments.run.signals import leaving
from calque.experiments.run.step import Step, Watch

Job = list[Step]
Level = list[Job]
MOST = 1_000  # maximum jobs per array, Slurm's default
LONGEST = 15.0  # maximum seconds between polls of Slurm
LIMITS = {"TIME LIMIT": "time", "oom|[Oo]ut [Oo]f [Mm]emory|not enough memory|DefaultCPUAllocator": "mem"}
"""Patterns in the logs of jobs that exceeded a limit, and the sbatch options that raise these limits."""


@dataclass
class Slurm:
    """Runs the unfinished `steps` as arrays of jobs, one job for all languages and examples, and one for each
    model with its measures. Each level of jobs starts when the previous one has ended, even with failures.

    home: the study's folder.
    command: `calque cell` with all arguments except fingerprints.
    options: options for sbatch.
    processes: the number of processes that train a model together.
    jobs: the maximum number of jobs that run at a time.
    """

    steps: Sequence[Step]
    home: Path
    command: Sequence[str]
    options: Sequence[str] = ()
    processes: int = 1
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
        """The scripts submitted to Slurm."""
        return "\n".join(script for level in self.levels() for script, _ in self._arrays(level))

    @cached_property
    def name(self) -> str:
        """The name of all jobs, shared by all commands with the same steps."""
        steps = [step.folder.name for step in self.steps]
        return f"calque-{self.home.name}-{fingerprint(self.home.resolve(), steps)}"

    @property
    def folder(self) -> Path:
        return self.home.resolve() / "jobs" / self.name

    def compute(self, watch: Watch, tell: Callable[[str], None]) -> None:
        """Compute the steps, after waiting for jobs of an earlier command. Raises Unfinished, listing the
        failed steps with their logs' last lines and paths."""
        if all(step.finished for step in self.steps):
            return
        _slurm("sbatch", "--test-only", script=self._arrays(next(self.levels()))[0][0])
        make_folder(self.folder)
        with claimed(self.folder):
            if self._running():
                tell(f"waiting for the jobs {self.name} of an earlier command")
                self._wait(watch)
            if not (levels := list(self.levels())):
                return
            logs = self._start(levels)
            tell(f"{len(logs)} jobs; logs in {self.folder}")
            self._wait(watch)
            if failed := [line for log, job in logs.items() for line in _failures(log, job)]:
                raise Unfinished([*failed, "the same command computes the missing steps"])

    def levels(self) -> Iterator[Level]:
        """Yield the jobs that need no others, then the jobs that need only those, and so on."""
        jobs: dict[Any, Job] = {}
        for step in self.steps:
            if not step.finished:
                jobs.setdefault(self._key(step), []).append(step)
        place = {step.folder: key for key, job in jobs.items() for step in job}
        needs = {
            key: {place[need.folder] for step in job for need in step.needs if need.folder in place} - {key}
            for key, job in jobs.items()
        }
        order = TopologicalSorter(needs)
        order.prepare()
        while ready := order.get_ready():
            yield [jobs[key] for key in jobs if key in ready]
            order.done(*ready)

    def _key(self, step: Step) -> Any:
        """Return the key of a step's job. If several processes train a model, its measures form a separate
        job."""
        if step.stage == "derive":
            return step.stage
        trained = [need for need in (*step.needs, step) if need.stage == "pretrain"] or [step]
        return trained[-1].folder, self._is_spread([step])

    def _is_spread(self, job: Job) -> bool:
        return self.processes > 1 and job[0].shared

    def _start(self, levels: Sequence[Level]) -> dict[Path, Job]:
        """Submit jobs, and return them by log file."""
        logs, after = dict[Path, Job](), list[str]()
        for level in levels:
            ids = []
            for script, jobs in self._arrays(level):
                ids.append(_slurm("sbatch", "--parsable", *after, script=script).split(";")[0].strip())
                logs |= {self.folder / f"{ids[-1]}_{place}.log": job for place, job in enumerate(jobs)}
            after = [f"--dependency=afterany:{':'.join(ids)}"]
        return logs

    def _running(self) -> bool:
        words = ["squeue", "--noheader", f"--name={self.name}", "--format=%i"]
        found = subprocess.run(words, capture_output=True, text=True, check=False)
        return found.returncode != 0 or bool(found.stdout.strip())  # Slurm's controller may be restarting

    def _wait(self, watch: Watch) -> None:
        """Report steps as they begin and finish, until no jobs are left."""
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

    def _arrays(self, level: Level) -> list[tuple[str, Level]]:
        """Return a level's scripts with their jobs; jobs with several processes form an array of their
        own."""
        parts = ([job for job in level if self._is_spread(job) == spread] for spread in (False, True))
        return [self._array(part) for part in parts if part]

    def _array(self, jobs: Level) -> tuple[str, Level]:
        size = -(-len(jobs) // MOST)
        jobs = [list(chain(*jobs[first : first + size])) for first in range(0, len(jobs), size)]
        processes = self.processes if self._is_spread(jobs[0]) else 1
        options = [
            f"job-name={self.name}",
            f"array=0-{len(jobs) - 1}" + (f"%{self.jobs}" if self.jobs else ""),
            f'output="{str(self.folder).replace("%", "%%")}/%A_%a.log"',
            "open-mode=append",
            "requeue",
            f"cpus-per-task={max(step.threads for step in jobs[0]) * processes}",
            *self.options,
        ]
        python = [sys.executable]
        if processes > 1:
            torchrun = str(Path(sys.executable).with_name("torchrun"))
            python = [torchrun, "--standalone", f"--nproc-per-node={processes}"]
        call = shlex.join([*python, "-m", *self.command])
        cells = [f"  '{' '.join(step.fingerprint for step in job)}'  # {_title(job)}" for job in jobs]
        lines = ["#!/bin/bash", *(f"#SBATCH --{option}" for option in options), "cells=(", *cells, ")"]
        return "\n".join([*lines, f"exec {call} ${{cells[$SLURM_ARRAY_TASK_ID]}}\n"]), jobs


def _title(job: Job) -> str:
    title = " ".join(job[0].title.split())  # sweep values may contain line breaks
    return title + (f" and {len(job) - 1} more" if job[1:] else "")


def _failures(log: Path, job: Job) -> Iterator[str]:
    """Yield a line for each failed step in a job, except for steps that need a failed one."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    lines = [line for line in text.splitlines() if line.strip()] or ["the job ended before its command began"]
    for step in job:
        if not step.finished and all(need.finished for need in step.needs):
            signs = (f"error: {step.title}: ", "error: ", "")  # other lines may follow Slurm's errors
            last = next(line for sign in signs for line in reversed(lines) if sign in line)
            limits = [option for pattern, option in LIMITS.items() if re.search(pattern, last)]
            yield f"{step.title}: {last} ({log})" + "".join(f"; raise --option {each}=..." for each in limits)


def _slurm(*words: str, script: str) -> str:
    """Run a Slurm command that reads a script, and return its output."""
    try:
        found = subprocess.run(words, input=script, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        where = "run this where jobs can be submitted to Slurm"
        raise BadInput(f"{words[0]} is not installed; {where}") from None
    if found.returncode:
        raise BadInput(f"Slurm rejected the jobs: {' '.join(found.stderr.split())}")
    return found.stdout
