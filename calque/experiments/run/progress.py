"""Progress reports: the number of finished steps and the remaining time."""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from threading import Event, RLock, Thread
from typing import Any

from calque.derive.errors import printable
from calque.derive.workers import Progress as Report
from calque.derive.workers import uninterrupted
from calque.experiments.run.step import Step, first_process

INTERVAL = 0.2
WIDTH = 80
SILENCE = 30.0  # maximum seconds between lines if the output is not a terminal
FIRST = 0.05  # fraction of a step after which its speed is estimated
OVERHEAD = 3.0  # assumed seconds per step for everything except training


@dataclass
class Task:
    """A running step or another task. `first` and `last` are finished fractions; a resumed step begins in the
    middle."""

    title: str
    start: float
    first: float | None = None
    last: float = 0.0

    @property
    def part(self) -> float:
        return self.last - (self.first or 0.0)


class Remaining:
    """The number of finished steps, and the remaining time. A step's expected time is its planned time,
    multiplied by the ratio of actual to planned time, separately for steps that train a model and for others.
    `parallel` is the number of parallel steps, and `speed` the number of operations per second in one step
    (default: as in `calque plan`)."""

    def __init__(self, steps: Iterable[Step], parallel: int, speed: float | None = None) -> None:
        self.waiting = {step.folder: step for step in steps}
        self.of, self.parallel, self.speed = len(self.waiting), parallel, speed
        self.tasks: dict[Path | str, Task] = {}  # by a step's folder, or by title
        self.actual, self.expected = defaultdict[bool, float](float), defaultdict[bool, float](float)
        self.planned: dict[Path, float] = {}
        self.plan()

    def plan(self) -> None:
        """Plan each step's seconds; the number of operations may depend on the number of derived examples."""
        for step in self.waiting.values():
            work = step.work
            if self.speed is None and work:
                from calque.pretrain.model import EFFICIENCY, run_flops

                self.speed = EFFICIENCY * run_flops(step.threads)
            self.planned[step.folder] = OVERHEAD + (work / self.speed if self.speed else 0.0)

    def begin(self, step: Step) -> None:
        self.tasks[step.folder] = Task(step.title, time.perf_counter())

    def advance(self, title: str, part: float) -> Task:
        """Record a task's finished fraction, and return the task."""
        task = next((task for task in self.tasks.values() if task.title == title), None)
        if task is None:
            task = self.tasks[title] = Task(title, time.perf_counter())
        task.first, task.last = part if task.first is None else task.first, part
        return task

    def finish(self, step: Step) -> float:
        """Mark a step as finished, and return how long it took, in seconds."""
        task = self.tasks.pop(step.folder)
        seconds = time.perf_counter() - task.start
        if self.waiting.pop(step.folder, None):
            planned = self.planned[step.folder]
            self.actual[planned > OVERHEAD] += seconds
            self.expected[planned > OVERHEAD] += planned * (1 - (task.first or 0.0))
            if step.stage == "derive":
                self.plan()
        return seconds

    @property
    def left(self) -> float:
        """The estimated number of seconds left."""
        now, waiting = time.perf_counter(), list(self.waiting.values())  # another thread may change it
        actual, expected, seconds_left = self.actual.copy(), self.expected.copy(), list[float]()
        steps = [(self.planned[step.folder], self.tasks.get(step.folder)) for step in waiting]
        for planned, task in steps:
            if task and task.part >= FIRST:
                actual[planned > OVERHEAD] += now - task.start
                expected[planned > OVERHEAD] += planned * task.part
        for planned, task in steps:
            trains = planned > OVERHEAD
            seconds = planned * (actual[trains] / expected[trains] if expected[trains] else 1.0)
            if task:
                seconds = seconds * (1 - task.last) if task.last else max(0.0, seconds - (now - task.start))
            seconds_left.append(seconds)
        return max(sum(seconds_left) / self.parallel, *seconds_left, 0.0)

    def __str__(self) -> str:
        done = f"{self.of - len(self.waiting)} of {self.of} steps"
        return f"{done}, about {duration(self.left)} left" if self.waiting else done


def duration(seconds: float) -> str:
    """Format a time, as in `40 s`, `12 min` or `1.5 h`."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


class Board:
    """Prints a line for each finished step or, without steps, for each finished task, and shows what is
    running."""

    def __init__(self, steps: Sequence[Step], parallel: int) -> None:
        self.run, self.printed = Remaining(steps, parallel), time.monotonic()
        self.terminal, self.lock = sys.stdout.isatty(), RLock()

    def report(self, what: str, done: int, of: int) -> None:
        task = self.run.advance(what, done / max(1, of))
        if done >= of and what in self.run.tasks:  # not a step
            del self.run.tasks[what]
            if not self.run.of:
                self.say(f"{what}: {time.perf_counter() - task.start:.1f} s")

    def watch(self, step: Step, finished: bool) -> None:
        if finished:
            seconds = self.run.finish(step)
            self.say(f"{self.run}: {step.title}, {duration(seconds)}")
        else:
            self.run.begin(step)

    def show_running(self) -> None:
        head = f"{self.run}: " if self.run.of else ""
        if self.terminal:
            tasks = ", ".join(f"{task.title} {task.last:.0%}" for task in list(self.run.tasks.values()))
            self._write(f"\r{printable(head + tasks)[: WIDTH - 1]:<{WIDTH - 1}}")
        elif self.run.of and time.monotonic() - self.printed >= SILENCE:
            titles = [task.title for task in list(self.run.tasks.values())]
            self.say(f"{head}running {', '.join(titles) or 'nothing yet'}")

    def say(self, line: str) -> None:
        with self.lock:
            self.printed = time.monotonic()
            self.clear()
            self._write(f"{printable(line)}\n")

    def clear(self) -> None:
        if self.terminal:
            self._write(f"\r{'':{WIDTH - 1}}\r")

    def _write(self, text: str) -> None:
        if first_process():
            with self.lock:
                sys.stdout.write(text)
                sys.stdout.flush()


@contextmanager
def board(steps: Iterable[Step] = (), parallel: int = 1, title: str = "") -> Iterator[Board]:
    """Show the progress of unfinished steps, or of tasks, while the block runs."""
    waiting = [step for step in steps if not step.finished]
    progress = Board(waiting, parallel)
    if waiting:
        stages = Counter(step.stage for step in waiting)
        number = "1 step" if len(waiting) == 1 else f"{len(waiting)} steps"
        progress.say(
            f"{title}: {number} ({', '.join(f'{count} {stage}' for stage, count in stages.items())})"
        )
    ended = Event()

    def repeat() -> None:
        while not ended.wait(1.0):
            progress.show_running()

    thread = Thread(target=repeat, daemon=True)
    with uninterrupted():  # otherwise an interrupt may reach the thread while a worker process starts
        thread.start()
    try:
        yield progress
    finally:
        ended.set()
        thread.join()
        progress.clear()


def drain(queue: Any, report: Report) -> None:
    """For one interval, forward reports that other processes put into a queue."""
    end = time.monotonic() + INTERVAL
    while (seconds := end - time.monotonic()) > 0:
        try:
            report(*queue.get(timeout=seconds))
        except Empty:
            return
