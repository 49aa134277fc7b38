"""The scheduler of every study: computes what is not finished, each step after those that it needs.

Steps run in parallel, each in a process of its own with its own number of threads, so what they write does not depend
on how many run at a time. Under torchrun the processes work on shared steps together.
"""

import multiprocessing
import os
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from derive.files import claimed, sweep
from derive.own_code import check_same, own_code
from derive.workers import follow_parent, uninterrupted
from experiments.progress import Report, Throttled, drain, silent
from experiments.signals import stoppable
from experiments.step import Machine, Step, with_needs

PAUSE = 0.5
"""Seconds between checks for a folder that another process is making."""
USABLE = 0.9
"""The part of a card's memory that is filled: the bytes of a step are an estimate."""


@dataclass(frozen=True)
class Room:
    """Memory of a card in bytes, for steps that are each expected to take some, or 0 if they do not compute on it.

    A step whose bytes are unknown (None), or more than the card has, gets the card to itself.
    """

    bytes: float

    def admits(self, under_way: Collection[float | None], step: float | None) -> bool:
        """Whether a step fits next to those under way."""
        others = [size for size in under_way if size != 0]
        if step == 0 or not others:
            return True
        sizes = [size for size in (*others, step) if size is not None]
        return len(sizes) > len(others) and sum(sizes) <= self.bytes

    def at_once(self, steps: Sequence[float | None]) -> int:
        """How many of some steps may at most be under way together."""
        free, room, number = sum(size == 0 for size in steps), self.bytes, 0
        for size in sorted(size for size in steps if size):
            room -= size
            number += room >= 0
        return free + max(number, min(1, len(steps) - free))


def card_room() -> Room | None:
    """The free memory of this process's card; None where there is none."""
    import torch

    return Room(USABLE * torch.cuda.mem_get_info()[0]) if torch.cuda.is_available() else None


def compute(
    steps: Sequence[Step],
    home: Path,
    jobs: int | None = None,
    report: Report = silent,
    allow_change: bool = False,
    room: Room | None = None,
) -> None:
    """Compute the steps and those that they need, except for finished ones.

    Up to `jobs` run in parallel; by default as many as fit the cores. On a GPU no more than fit its memory (`room`, or
    what is free of it). What killed processes left half-written in `home` is removed. Where a step fails, those under
    way are finished and no other begins. An interrupt stops them; the next call resumes from their last state.
    """
    steps = with_needs(steps)
    if "WORLD_SIZE" in os.environ:
        _compute_together(steps, Machine(Throttled(report), jobs or 1, allow_change))
        return
    waiting = [step for step in steps if not step.finished]
    if not waiting:
        return
    sweep(home)
    _check_memory(waiting)
    _check_needs(waiting, Throttled(report))
    machine = Machine(Throttled(report), jobs or os.cpu_count() or 1, allow_change)
    with stoppable() as stopped:
        try:
            room = room or card_room()
            many = min(side_by_side(waiting, jobs, room), sum(not step.spreads for step in waiting))
            if many > 1:
                _Pool(many, machine, room).compute(waiting)
            else:
                for step in waiting:
                    do(step, machine)
        except BrokenExecutor:
            if stopped.is_set():  # the interrupt killed the workers too
                raise KeyboardInterrupt from None
            raise
        except BaseException:
            sweep(home)  # after workers that were stopped in the middle
            raise
        if stopped.is_set():
            raise KeyboardInterrupt


def do(step: Step, machine: Machine) -> None:
    """Compute one step in this process, unless it is finished by now; no other process works on it meanwhile."""
    from pretrain.train import NonFinite

    shared = step.shared and machine.world.size > 1
    try:
        with claimed(step.folder) if not shared or machine.world.first else nullcontext():
            if step.finished and not shared:
                return
            if not step.spreads:
                import torch

                torch.set_num_threads(step.threads)
            step(machine)
    except NonFinite as error:
        raise NonFinite(f"{step.title}: {error}") from error


def side_by_side(steps: Sequence[Step], jobs: int | None, room: Room | None) -> int:
    """How many of the steps may run at a time: `jobs`, or as many as fit the cores by their threads, and the card."""
    most = jobs or max(1, (os.cpu_count() or 1) // max(step.threads for step in steps))
    return most if room is None else max(1, min(most, room.at_once([step.card_bytes() for step in steps])))


def first_process() -> bool:
    """Whether this is the process that writes, of those that torchrun started."""
    return os.environ.get("RANK", "0") == "0"


def _check_memory(waiting: Sequence[Step], processes: int = 1) -> None:
    import torch

    from pretrain.cost import machine_bytes

    card = torch.cuda.is_available()
    there = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory if card else machine_bytes()
    for step in waiting:
        step.check_memory(float(there), processes)


def _check_needs(waiting: Sequence[Step], report: Report) -> None:
    for need in {need.folder: need for step in waiting for need in step.needs}.values():
        if need.finished:
            need.check(report)


def _compute_together(steps: Sequence[Step], machine: Machine) -> None:
    """Compute the steps as one of torchrun's processes, which all go through them in the same order.

    The first process computes the steps that are not shared. The others look for the folder until it is there, because
    a barrier of torch would time out, and for signs of life of the first.
    """
    from pretrain import distributed

    first, world = first_process(), machine.world  # all meet before the first one is busy
    if first:
        _check_memory([step for step in steps if not step.finished], world.size)
        _check_needs([step for step in steps if not step.finished], machine.report)
    else:
        machine = replace(machine, report=silent)
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
    """`many` processes that compute steps in their order, as soon as those that they need are finished.

    With `room` a step waits for those before it until it fits beside those under way, and no later one passes it.
    """

    def __init__(self, many: int, machine: Machine, room: Room | None) -> None:
        self.many, self.machine, self.room = many, machine, room
        self.context = multiprocessing.get_context("spawn")  # a forked child of a process with threads may hang
        self.queue: Any = self.context.Queue()
        self.under_way: dict[Future[None], Step] = {}
        self.errors: list[BaseException] = []

    def compute(self, steps: Sequence[Step]) -> None:
        waiting, changing = list(steps), self.machine.allow_change
        with ProcessPoolExecutor(self.many, self.context, _prepare, (self.queue, changing)) as pool:
            try:
                while self.under_way or (waiting and not self.errors):
                    while not self.errors and (step := self._next(waiting)):
                        waiting.remove(step)
                        if step.spreads:
                            do(step, self.machine)
                        else:
                            with uninterrupted():
                                self.under_way[pool.submit(_compute_alone, step, own_code(step))] = step
                    drain(self.queue, self.machine.report)
                    self._collect()
            except BaseException:
                for process in multiprocessing.active_children():  # their steps resume from the last state
                    process.terminate()
                raise
        if self.errors:
            raise self.errors[0]
        drain(self.queue, self.machine.report)

    def _next(self, waiting: Sequence[Step]) -> Step | None:
        """The first step that may begin; one that spreads begins when nothing is under way."""
        if len(self.under_way) >= self.many:
            return None
        ahead = {step.folder for step in (*waiting, *self.under_way.values())}
        for step in waiting:
            if ahead.isdisjoint(need.folder for need in step.needs):
                return step if self._fits(step) else None
        return None

    def _fits(self, step: Step) -> bool:
        if step.spreads:
            return not self.under_way
        sizes = [other.card_bytes() for other in self.under_way.values()] if self.room else []
        return self.room is None or self.room.admits(sizes, step.card_bytes())

    def _collect(self) -> None:
        for future in [future for future in self.under_way if future.done()]:
            del self.under_way[future]
            if error := future.exception():
                self.errors.append(error)


_worker = Machine()
"""The machine of a worker process, which reports through a queue."""


def _prepare(queue: Any, allow_change: bool) -> None:
    global _worker

    def report(what: str, done: int, of: int) -> None:
        queue.put((what, done, of))

    follow_parent()
    queue.cancel_join_thread()  # the parent may have ended without reading the rest
    _worker = Machine(Throttled(report), allow_change=allow_change)


def _compute_alone(step: Step, code: Mapping[str, str]) -> None:
    check_same(step, code)
    do(step, _worker)
