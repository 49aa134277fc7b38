"""Progress reports: the number of finished steps and the remaining time."""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from threading import Event, RLock, Thread
from typing import Any

from calque.derive.errors import printable
from calque.derive.workers import Progress as Report
from calque.derive.workers import uninterrupted
from calque.experiments.run.step import Step

INTERVAL = 0.2
WIDTH = 80
SILENCE = 30.0  # maximum seconds between lines if the output is not a terminal
FIRST = 0.05  # fraction of a step after which its speed is estimated
OVERHEAD = 3.0  # assumed seconds per step for everything except training


class Remaining:
    """The number of finished steps, and the remaining time. A step's expected time is its planned time,
    multiplied by the ratio of actual to planned time, separately for steps that train a model and for others.
    `parallel` is the number of parallel steps (None: unknown until steps begin), and `speed` the number of
    operations per second in one step (default: as in `calque plan`)."""

    def __init__(
        self, steps: Iterable[Step], parallel: int | None = None, speed: float | None = None
    ) -> None:
        self.waiting = {step.folder: step for step in steps}
        self.of, self.parallel, self.speed = len(self.waiting), parallel or 1, speed
        self.known = parallel is not None
        self.begun: dict[Path, float] = {}
        # The first and last fractions reported; resumed steps begin in the middle.
        self.parts: dict[str, tuple[float, float]] = {}
        self.finished: list[tuple[Step, float]] = []  # each finished step, and its seconds
        self.work: dict[Path, float] = {}

    def begin(self, step: Step) -> None:
        self.begun[step.folder] = time.perf_counter()
        self.parallel = max(self.parallel, len(self.begun))

    def advance(self, title: str, part: float) -> None:
        self.parts[title] = self.parts.get(title, (part,))[0], part

    def finish(self, step: Step) -> float:
        """Mark a step as finished, and return how long it took, in seconds."""
        seconds = time.perf_counter() - self.begun.pop(step.folder)
        self.waiting.pop(step.folder, None)
        first, last = self.parts.pop(step.title, (0.0, 1.0))
        self.finished.append((step, seconds / (last - first) if last > first else seconds))
        self.known = self.known or self._planned(step) > OVERHEAD
        if step.stage == "derive":
            self.work = {}  # the number of operations may depend on the number of examples
        return seconds

    @property
    def done(self) -> int:
        return self.of - len(self.waiting)

    @property
    def left(self) -> float | None:
        """The estimated number of seconds left, if known."""
        if not self.known:
            return None
        now, durations, seconds_left = time.perf_counter(), list(self.finished), list[float]()
        waiting, start_times = list(self.waiting.values()), dict(self.begun)  # another thread may change them
        unmeasured = []
        for step in waiting:
            first, last = self.parts.get(step.title, (0.0, 0.0))
            if step.folder in start_times and last - first >= FIRST:
                total = (now - start_times[step.folder]) / (last - first)
                durations.append((step, total))
                seconds_left.append(total * (1 - last))
            else:
                unmeasured.append(step)
        seconds, planned = defaultdict[bool, float](float), defaultdict[bool, float](float)
        for step, total in durations:
            seconds[self._trains(step)] += total
            planned[self._trains(step)] += self._planned(step)
        for step in unmeasured:
            trains = self._trains(step)
            expected = self._planned(step) * (seconds[trains] / planned[trains] if planned[trains] else 1.0)
            seconds_left.append(max(0.0, expected - (now - start_times.get(step.folder, now))))
        return max(sum(seconds_left) / self.parallel, *seconds_left, 0.0)

    def _planned(self, step: Step) -> float:
        work = self.work.get(step.folder)
        if work is None:  # not read again from the dictionary, which another thread may empty
            work = self.work[step.folder] = step.work
        if self.speed is None and work:
            from calque.pretrain.model import EFFICIENCY, run_flops

            self.speed = EFFICIENCY * run_flops(step.threads)
        return OVERHEAD + (work / self.speed if self.speed else 0.0)

    def _trains(self, step: Step) -> bool:
        return self._planned(step) > OVERHEAD

    def __str__(self) -> str:
        seconds_left = self.left if self.waiting else None
        done = f"{self.done} of {self.of} steps"
        return done if seconds_left is None else f"{done}, about {duration(seconds_left)} left"


def duration(seconds: float) -> str:
    """Format a time, as in `40 s`, `12 min` or `1.5 h`."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


class Board:
    """Prints a line for each finished step or, without steps, for each finished task, and shows what is
    running."""

    def __init__(self, steps: Iterable[Step], quiet: bool, parallel: int | None = None) -> None:
        self.quiet, self.run, self.printed = quiet, Remaining(steps, parallel), time.monotonic()
        self.terminal, self.lock = sys.stdout.isatty(), RLock()
        self.tasks: dict[str, tuple[float, float]] = {}  # start time and finished fraction

    def report(self, what: str, done: int, of: int) -> None:
        start, _ = self.tasks.pop(what, (time.perf_counter(), 0.0))
        self.run.advance(what, done / max(1, of))
        if done < of:
            self.tasks[what] = start, done / of
        elif not self.run.of:
            self.say(f"{what}: {time.perf_counter() - start:.1f} s")

    def watch(self, step: Step, finished: bool) -> None:
        if not finished:
            self.run.begin(step)
            self.tasks[step.title] = time.perf_counter(), 0.0
            return
        self.tasks.pop(step.title, None)
        seconds = self.run.finish(step)
        self.say(f"{self.run}: {step.title}, {duration(seconds)}")

    def show_running(self) -> None:
        head = f"{self.run}: " if self.run.of else ""
        if self.terminal:
            tasks = ", ".join(f"{what} {part:.0%}" for what, (_, part) in list(self.tasks.items()))
            self._write(f"\r{printable(head + tasks)[: WIDTH - 1]:<{WIDTH - 1}}")
        elif self.run.of and time.monotonic() - self.printed >= SILENCE:
            titles = [step.title for step in list(self.run.waiting.values()) if step.folder in self.run.begun]
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
        if not self.quiet:
            with self.lock:
                sys.stdout.write(text)
                sys.stdout.flush()


@contextmanager
def board(
    steps: Iterable[Step] = (), quiet: bool = False, title: str = "", parallel: int | None = None
) -> Iterator[Board]:
    """Show the progress of unfinished steps, or of tasks, while the block runs."""
    waiting = [step for step in steps if not step.finished]
    progress = Board(waiting, quiet, parallel)
    if waiting:
        stages = Counter(step.stage for step in waiting)
        number = "1 step" if len(waiting) == 1 else f"{len(waiting)} steps"
        progress.say(
            f"{title}: {number} ({', '.join(f'{count} {stage}' for stage, count in stages.items())})"
        )
        progress.show_running()  # measures this machine's speed while nothing else runs
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
