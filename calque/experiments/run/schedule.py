"""The scheduler, which computes unfinished steps, each after its dependencies."""

import multiprocessing
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from queue import Empty
from typing import Any

from calque.derive.files import add_facts, claimed, sweep
from calque.derive.fingerprint import check_same, own_code
from calque.derive.workers import Progress as Report
from calque.derive.workers import follow_parent, silent, uninterrupted
from calque.experiments.run.own_modules import import_own, own_modules
from calque.experiments.run.signals import stoppable
from calque.experiments.run.step import COMPUTE, Machine, Step, first_process, with_needs
from calque.pretrain.lazy import torch

PAUSE = 0.5  # seconds between checks for a folder that another process is writing
INTERVAL = 0.2  # seconds between a worker's reports


def compute(
    steps: Sequence[Step],
    home: Path,
    jobs: int | None = None,
    report: Report = silent,
    allow_change: bool = False,
) -> None:
    """Compute the unfinished steps and their dependencies, up to `jobs` in parallel (see `side_by_side`),
    after removing half-written files in `home`. If a step fails, running steps finish and no others start.
    The next call resumes an interrupted one."""
    waiting = [step for step in with_needs(steps) if not step.finished]
    if "WORLD_SIZE" in os.environ:
        _compute_together(waiting, Machine(report, allow_change=allow_change))
        return
    if not waiting:
        return
    sweep(home)
    _check_needs(waiting, report)
    machine = Machine(report, jobs or available_cores(), allow_change)
    many = min(side_by_side(waiting, jobs), sum(not step.spreads for step in waiting))
    first = with_needs(step for step in waiting if step.spreads or many < 2)
    try:
        with stoppable():
            for step in first:
                if not step.finished:
                    do(step, machine)
            if others := [step for step in waiting if not step.finished]:
                _compute_in_parallel(others, many, machine)
    except BaseException:
        sweep(home)  # remove half-written files of stopped workers
        raise


def do(step: Step, machine: Machine) -> None:
    """Compute a step in this process unless it is finished, waiting while another process computes it."""
    from calque.pretrain.train import NonFinite

    def waiting() -> None:
        machine.report(f"{step.title}: waiting for another command that is computing it", 0, 1)

    machine.report(step.title, 0, 1)
    world, together = machine.world, step.shared and machine.world.size > 1
    try:
        with claimed(step.folder, waiting) if world.first else nullcontext():
            if together or not step.finished:
                if not step.spreads:
                    torch.set_num_threads(step.threads)
                start = time.perf_counter()
                step.config.compute(step, machine)
                if world.first:  # without the time of interrupted attempts
                    add_facts(step.folder, {COMPUTE: {"seconds": time.perf_counter() - start}})
    except NonFinite as error:
        raise NonFinite(f"{step.title}: {error}") from error
    machine.report(step.title, 1, 1)


def side_by_side(steps: Sequence[Step], jobs: int | None) -> int:
    """Return the number of parallel steps: `jobs` or, by default, one on a GPU, or all that cores allow."""
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
        _check_needs(steps, machine.report)
    try:
        for step in steps:
            if step.shared or first:
                do(step, machine)
            while not step.finished:
                world.check()
                time.sleep(PAUSE)
        world.wait()
    finally:
        distributed.leave()


def _compute_in_parallel(steps: Sequence[Step], many: int, machine: Machine) -> None:
    context = multiprocessing.get_context("spawn")  # a forked child of a process with threads may hang
    queue, waiting, errors = context.Queue(), list(steps), list[BaseException]()
    running: dict[Future[None], Step] = {}
    arguments = queue, machine.allow_change, own_modules
    with ProcessPoolExecutor(many, context, _prepare, arguments) as pool:
        try:
            while running or (waiting and not errors):
                unfinished = {step.folder for step in (*waiting, *running.values())}
                ready = [step for step in waiting if unfinished.isdisjoint(n.folder for n in step.needs)]
                for step in ready[: 0 if errors else many - len(running)]:
                    waiting.remove(step)
                    with uninterrupted():
                        running[pool.submit(_compute_alone, step, own_code(step))] = step
                _forward_reports(queue, machine.report)
                for future in [future for future in running if future.done()]:
                    del running[future]
                    if error := future.exception():
                        errors.append(error)
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise
    if errors:
        raise errors[0]
    _forward_reports(queue, machine.report)


def _forward_reports(queue: Any, report: Report) -> None:
    end = time.monotonic() + INTERVAL
    while (seconds := end - time.monotonic()) > 0:
        try:
            report(*queue.get(timeout=seconds))
        except Empty:
            return


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
