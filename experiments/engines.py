"""`calque run --on slurm|snakemake`: a study's unfinished steps as jobs of an engine, which orders and restarts them.

A job is the command `calque cell` with all languages and examples, with a model and its measures, or with another step.
Only unfinished folders are computed, so the engine's own state does not matter: the same command continues after any
end. The job of a failed step ends like any other, and a cell checks that its needs are finished.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from calque.derive.errors import BadInput, Unfinished, shown
from calque.derive.files import claim_of, claimed, make_folder, sweep
from calque.derive.fingerprint import fingerprint
from calque.experiments.signals import leaving
from calque.experiments.step import Step, Watch

Job = list[Step]
Level = list[Job]
MOST = 1_000  # jobs of one array: Slurm's default limit
LONGEST = 15.0  # seconds between looks at the engine, at most
SNAKEMAKE = "snakemake"
THREADS = [f"{library}_NUM_THREADS" for library in ("OMP", "MKL", "OPENBLAS", "GOTO", "NUMEXPR")]
"""What Snakemake sets for its jobs; they keep the values of this process instead, for the same results."""
LIMITS = {"TIME LIMIT": "time", "oom|[Oo]ut [Oo]f [Mm]emory|not enough memory|DefaultCPUAllocator": "mem"}
"""What the log of a job says that exceeded a limit, and the option of sbatch that raises it."""


@dataclass
class Engine(ABC):
    """The unfinished ones of `steps`, in order, as jobs of an engine with `options`. `command` is `calque cell` with
    all arguments except fingerprints. `processes` train each model; at most `jobs` jobs run at a time."""

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

    @property
    @abstractmethod
    def script(self) -> str:
        """What the engine is given."""

    @abstractmethod
    def check(self) -> None:
        """Raise BadInput, before anything is written, if the engine or an option is not there."""

    @abstractmethod
    def start(self, levels: Sequence[Level]) -> dict[Path, Job]:
        """Start jobs; returns them by their logs."""

    @abstractmethod
    def running(self) -> bool:
        """Whether the engine has jobs, which another command may have started."""

    @cached_property
    def name(self) -> str:
        """The name of the jobs, which a command with the same steps shares."""
        return f"calque-{self.home.name}-{fingerprint(self.home.resolve(), [step.folder.name for step in self.steps])}"

    @property
    def folder(self) -> Path:
        return self.home.resolve() / "jobs" / self.name

    def compute(self, watch: Watch, tell: Callable[[str], None]) -> None:
        """Compute the steps, after waiting for jobs of an earlier command that was stopped.

        Raises:
            Unfinished: the steps that failed, with the last line and the path of their logs.
        """
        if all(step.finished for step in self.steps):
            return
        self.check()
        make_folder(self.folder)
        with claimed(self.folder):
            if self.running():
                tell(f"waiting for the jobs {self.name} of an earlier command")
                self._wait(watch)
            if not (levels := list(self.levels())):
                return
            logs = self.start(levels)
            tell(f"{len(logs)} jobs; logs in {self.folder}")
            self._wait(watch)
            if failed := [line for log, job in logs.items() for line in _failures(log, job)]:
                raise Unfinished([*failed, "the same command computes the missing steps"])

    def levels(self) -> Iterator[Level]:
        """The jobs without needs, then the jobs that need only these, and so on."""
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

    def spread(self, job: Job) -> bool:
        """Whether several processes train the job's model."""
        return self.processes > 1 and job[0].shared

    def call(self, job: Job) -> str:
        """The command that computes a job, for a shell; fingerprints are to follow."""
        torchrun = [str(Path(sys.executable).with_name("torchrun")), "--standalone"]
        start = [*torchrun, f"--nproc-per-node={self.processes}"] if self.spread(job) else [sys.executable]
        return shlex.join([*start, "-m", *self.command])

    def cores(self, job: Job) -> int:
        return max(step.threads for step in job) * (self.processes if self.spread(job) else 1)

    def _key(self, step: Step) -> Any:
        """Equal for steps of one job. Measures of a model that several processes train are a job of their own."""
        if step.stage == "derive":
            return step.stage
        trained = [need for need in (*step.needs, step) if need.stage == "pretrain"] or [step]
        return trained[-1].folder, self.spread([step])

    def _wait(self, watch: Watch) -> None:
        """Report the steps that begin and finish until the engine has no jobs."""
        waiting, begun, start = [step for step in self.steps if not step.finished], set[Path](), time.monotonic()
        while True:
            alive = self.running()
            if not alive:
                sweep(self.home)  # which lists all folders, so that a network disk does not hide new files
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


class Slurm(Engine):
    """An array of jobs for each level. It starts when all jobs of the previous level have ended."""

    def __post_init__(self) -> None:
        super().__post_init__()
        place = str(self.home.resolve())
        if not place.isprintable() or '"' in place or "\\" in place:
            expected = "expected a folder for results without quotation marks, backslashes and line ends"
            raise BadInput(f"Slurm cannot write logs below {shown(place)}; {expected}")

    @property
    def script(self) -> str:
        return "\n".join(script for level in self.levels() for script, _ in self._arrays(level))

    def check(self) -> None:
        _slurm("sbatch", "--test-only", script=self._arrays(next(self.levels()))[0][0])

    def start(self, levels: Sequence[Level]) -> dict[Path, Job]:
        logs, after = dict[Path, Job](), list[str]()
        for level in levels:
            ids = []
            for script, jobs in self._arrays(level):
                ids.append(_slurm("sbatch", "--parsable", *after, script=script).split(";")[0].strip())
                logs |= {self.folder / f"{ids[-1]}_{place}.log": job for place, job in enumerate(jobs)}
            after = [f"--dependency=afterany:{':'.join(ids)}"]
        return logs

    def running(self) -> bool:
        words = ["squeue", "--noheader", f"--name={self.name}", "--format=%i"]
        found = subprocess.run(words, capture_output=True, text=True, check=False)
        return found.returncode != 0 or bool(found.stdout.strip())  # Slurm's controller may be restarting

    def _wait(self, watch: Watch) -> None:
        with leaving(f"the jobs continue (scancel --name={self.name} ends them)"):
            super()._wait(watch)

    def _arrays(self, level: Level) -> list[tuple[str, Level]]:
        """The scripts of a level with their jobs. Jobs that several processes share are a separate array."""
        parts = ([job for job in level if self.spread(job) == spread] for spread in (False, True))
        return [self._array(part) for part in parts if part]

    def _array(self, jobs: Level) -> tuple[str, Level]:
        size = -(-len(jobs) // MOST)
        jobs = [list(chain(*jobs[first : first + size])) for first in range(0, len(jobs), size)]
        options = [
            f"job-name={self.name}",
            f"array=0-{len(jobs) - 1}" + (f"%{self.jobs}" if self.jobs else ""),
            f'output="{str(self.folder).replace("%", "%%")}/%A_%a.log"',
            "open-mode=append",
            "requeue",
            f"cpus-per-task={self.cores(jobs[0])}",
            *self.options,
        ]
        cells = [f"  '{' '.join(step.fingerprint for step in job)}'  # {_title(job)}" for job in jobs]
        lines = ["#!/bin/bash", *(f"#SBATCH --{option}" for option in options), "cells=(", *cells, ")"]
        return "\n".join([*lines, f"exec {self.call(jobs[0])} ${{cells[$SLURM_ARRAY_TASK_ID]}}\n"]), jobs


@dataclass
class Snakemake(Engine):
    """A rule for each job, which succeeds even if a step fails. Each start has a folder of its own for Snakemake."""

    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _output: Path = field(default=Path(), init=False)

    @property
    def script(self) -> str:
        return self._rules([job for level in self.levels() for job in level])

    def check(self) -> None:
        if not shutil.which(SNAKEMAKE):
            raise BadInput(f"{SNAKEMAKE} is not installed; `pipx install snakemake` installs it")
        if not self.options:
            return
        with TemporaryDirectory() as name:
            words = [*self._words(Path(name), "rule all:\n    shell: 'true'\n"), "--dry-run"]
            found = subprocess.run(words, capture_output=True, text=True, check=False)
        if found.returncode:
            raise BadInput(f"{SNAKEMAKE} refuses the options: {''.join(found.stderr.strip().splitlines()[-1:])}")

    def start(self, levels: Sequence[Level]) -> dict[Path, Job]:
        jobs = [job for level in levels for job in level]
        folder = Path(mkdtemp(prefix="snakemake-", dir=self.folder))
        words = self._words(folder, self._rules(jobs))
        self._output = folder / "snakemake.log"
        with self._output.open("wb") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        return {folder / f"{number}.log": job for number, job in enumerate(jobs)}

    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def _wait(self, watch: Watch) -> None:
        assert self.process
        try:
            super()._wait(watch)
        except BaseException:
            os.killpg(self.process.pid, signal.SIGTERM)  # its jobs too
            self.process.wait()
            raise
        if self.process.returncode:  # whatever its jobs did
            lines = [line for line in self._output.read_text(errors="replace").splitlines() if line.strip()]
            raise Unfinished(f"{SNAKEMAKE} ended with {self.process.returncode}: {' '.join(lines[-3:])}", self._output)

    def _words(self, folder: Path, rules: str) -> list[str]:
        """The command that computes rules, which are written to the folder."""
        (folder / "Snakefile").write_text(rules, encoding="utf-8")
        words = [SNAKEMAKE, "--directory", str(folder), "--snakefile", str(folder / "Snakefile")]
        words += ["--cores", str(self.jobs or "all"), "--scheduler", "greedy"]
        return [*words, *(f"--{option}" for option in self.options)]

    def _rules(self, jobs: Level) -> str:
        place = {step.folder: number for number, job in enumerate(jobs) for step in job}
        threads = [
            *(f"--unset={name}" for name in THREADS),
            *(f"{k}={v}" for k, v in os.environ.items() if k in THREADS),
        ]
        text = f"rule all:\n    input: {[f'{number}.done' for number in range(len(jobs))]}\n"
        for number, job in enumerate(jobs):
            needs = {place[need.folder] for step in job for need in step.needs if need.folder in place} - {number}
            words = f"env {shlex.join(threads)} {self.call(job)} {' '.join(step.fingerprint for step in job)}"
            shell = f"(cd {shlex.quote(str(Path.cwd()))} && exec {words}) > {number}.log 2>&1 || true"
            text += f"""
rule job_{number}:  # {_title(job)}
    input: {[f"{need}.done" for need in sorted(needs)]}
    output: touch("{number}.done")
    threads: {self.cores(job)}
    shell: {shell.replace("{", "{{").replace("}", "}}")!r}
"""
        return text


ENGINES: dict[str, type[Engine]] = {"slurm": Slurm, "snakemake": Snakemake}


def _title(job: Job) -> str:
    title = " ".join(job[0].title.split())  # of one line: values of a sweep may have several
    return title + (f" and {len(job) - 1} more" if job[1:] else "")


def _failures(log: Path, job: Job) -> Iterator[str]:
    """A line for each step of a job that failed; steps that need a failed one are left out."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    lines = [line for line in text.splitlines() if line.strip()] or ["the job ended before it began"]
    for step in job:
        if not step.finished and all(need.finished for need in step.needs):
            signs = (f"error: {step.title}: ", "error: ", "")  # Slurm's errors are not the last line
            last = next(line for sign in signs for line in reversed(lines) if sign in line)
            limits = [option for said, option in LIMITS.items() if re.search(said, last)]
            yield f"{step.title}: {last} ({log})" + "".join(f"; raise --option {option}=..." for option in limits)


def _slurm(*words: str, script: str) -> str:
    """The answer of a command of Slurm that reads a script."""
    try:
        found = subprocess.run(words, input=script, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise BadInput(f"{words[0]} is not installed; expected a machine that submits jobs to Slurm") from None
    if found.returncode:
        raise BadInput(f"Slurm refuses the jobs: {' '.join(found.stderr.split())}")
    return found.stdout
