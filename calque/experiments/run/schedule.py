"""The scheduler, which computes unfinished steps, each after its dependencies."""

import multiprocessing
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from calque.derive.files import claimed, sweep
from calque.derive.fingerprint import check_same, own_code
from calque.derive.workers import Progress as Report
from calque.derive.workers import follow_parent, silent, uninterrupted
from calque.experiments.run.own_modules import import_own, own_modules
from calque.experiments.run.progress import INTERVAL, drain
from calque.experiments.run.signals import stoppable
from calque.experiments.run.step import Machine, Step, Watch, first_process, metered, unwatched, with_needs

PAUSE = 0.5  # seconds between checks for a folder that another process is writing


def compute(
    steps: Sequence[Step],
    home: Path,
    jobs: int | None = None,
    report: Report = silent,
    allow_change: bool = False,
    watch: Watch = unwatched,
) -> None:
    """Compute the unfinished steps and their dependencies, up to `jobs` in parallel (default: as many as the
    cores allow, or one on a GPU), after removing half-written files in `home`. If a step fails, running steps
    finish and no others start. After an interrupt, the next call resumes from the last saved states."""
    steps = with_needs(steps)
    distributed = "WORLD_SIZE" in os.environ
    machine = Machine(report, 1 if distributed else jobs or available_cores(), allow_change, watch)
    if distributed:
        _compute_together(steps, machine)
        return
    waiting = [step for step in steps if not step.finished]
    if not waiting:
        return
    sweep(home)
    _check_needs(waiting, machine.report)
    with stoppable() as stopped:
        try:
            many = min(side_by_side(waiting, jobs), sum(not step.spreads for step in waiting))
            if many > 1:
                _Pool(many, machine).compute(waiting)
            else:
                for step in waiting:
                    do(step, machine)
        except BrokenExecutor:
            if stopped.is_set():  # the interrupt killed the workers too
                raise KeyboardInterrupt from None
            raise
        except BaseException:
            sweep(home)  # remove half-written files of stopped workers
            raise
        if stopped.is_set():
            raise KeyboardInterrupt


def do(step: Step, machine: Machine) -> None:
    """Compute a step in this process unless it is finished, waiting while another process computes it."""
    from calque.pretrain.train import NonFinite

    def waiting() -> None:
        machine.report(f"{step.title}: waiting for another command that is computing it", 0, 1)

    machine.watch(step, False)
    shared = step.shared and machine.world.size > 1
    try:
        with claimed(step.folder, waiting) if not shared or machine.world.first else nullcontext():
            if shared or not step.finished:
                if not step.spreads:
                    import torch

                    torch.set_num_threads(step.threads)
                with metered(step, machine) if machine.world.first else nullcontext(machine) as metering:
                    step(metering)
    except NonFinite as error:
        raise NonFinite(f"{step.title}: {error}") from error
    machine.watch(step, True)


def side_by_side(steps: Sequence[Step], jobs: int | None) -> int:
    """Return the number of steps to compute in parallel: `jobs` or, by default, one on a GPU, and otherwise
    as many as the cores allow."""
    import torch

    cores = 1 if torch.cuda.is_available() else available_cores()
    return jobs or max(1, cores // max((step.threads for step in steps), default=1))


def available_cores() -> int:
    """Return the number of this Slurm job's cores or, outside Slurm, of the machine's."""
    return int(os.environ.get("SLURM_CPUS_PER_TASK") or os.cpu_count() or 1)


def _check_needs(waiting: Sequence[Step], report: Report) -> None:
    for need in {need.folder: need for step in waiting for need in step.needs}.values():
        if need.finished:
            need.check(report)


def _compute_together(steps: Sequence[Step], machine: Machine) -> None:
    """Compute the steps as one of torchrun's processes. Processes that wait for the first process poll for
    its folders, because a torch barrier would time out."""
    from calque.pretrain import distributed

    first, world = first_process(), machine.world  # all processes join before the first one is busy
    if first:
        _check_needs([step for step in steps if not step.finished], machine.report)
    else:
        machine = replace(machine, report=silent, watch=unwatched)
    try:
        for step in steps:
            if step.finished:
                continue
            if step.shared or first:
                do(step, machine)
            else:
                while not step.finished:
                    world.check()
                    time.sleep(PAUSE)
        world.wait()
    finally:
        distributed.leave()


class _Pool:
    """A pool of `many` processes that compute each step as soon as the steps it needs are finished."""

    def __init__(self, many: int, machine: Machine) -> None:
        self.many, self.machine = many, machine
        # A forked child of a process with threads may hang.
        self.context = multiprocessing.get_context("spawn")
        self.queue: Any = self.context.Queue()
        self.running: dict[Future[None], Step] = {}
        self.errors: list[BaseException] = []

    def compute(self, steps: Sequence[Step]) -> None:
        waiting, arguments = list(steps), (self.queue, self.machine.allow_change, own_modules)
        with ProcessPoolExecutor(self.many, self.context, _prepare, arguments) as pool:
            try:
                while self.running or (waiting and not self.errors):
                    while not self.errors and (step := self._next(waiting)):
                        waiting.remove(step)
                        if step.spreads:
                            do(step, self.machine)
                        else:
                            self.machine.watch(step, False)
                            with uninterrupted():
                                self.running[pool.submit(_compute_alone, step, own_code(step))] = step
                    drain(self.queue, self.machine.report)
                    self._collect()
            except BaseException:
                for process in multiprocessing.active_children():
                    process.terminate()
                raise
        if self.errors:
            raise self.errors[0]
        drain(self.queue, self.machine.report)

    def _next(self, waiting: Sequence[Step]) -> Step | None:
        """Return the first step that may start; a step with its own workers waits until no other step is
        running."""
        if len(self.running) >= self.many:
            return None
        unfinished = {step.folder for step in (*waiting, *self.running.values())}
        for step in waiting:
            if unfinished.isdisjoint(need.folder for need in step.needs):
                return None if step.spreads and self.running else step
        return None

    def _collect(self) -> None:
        for future in [future for future in self.running if future.done()]:
            step = self.running.pop(future)
            if error := future.exception():
                self.errors.append(error)
            else:
                self.machine.watch(step, True)


_worker = Machine()  # in a worker process, replaced by one that reports through a queue


def _prepare(queue: Any, allow_change: bool, modules: Sequence[str]) -> None:
    global _worker

    last = dict[str, float]()  # when each title was reported

    def report(what: str, done: int, of: int) -> None:
        now = time.monotonic()
        if done >= of or now - last.get(what, -INTERVAL) >= INTERVAL:
            last[what] = now
            queue.put((what, done, of))

    follow_parent()
    for name in modules:
        if find_spec(name):  # if the study file was deleted, no step in this pool needs it
            import_own(name)
    queue.cancel_join_thread()  # the parent may have exited without reading the remaining reports
    _worker = Machine(report, allow_change=allow_change)


def _compute_alone(step: Step, code: Mapping[str, str]) -> None:
    check_same(step, code)
    do(step, _worker)
