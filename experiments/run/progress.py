"""Progress reports: the number of finished steps and the remaining time."""

import sys
import time
from collections import Counter
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
Group = tuple[Any, ...]  # properties that similar steps share
Measured = dict[Group, tuple[float, float]]  # a group's measured and planned seconds


class Remaining:
    """The number of finished steps, and the remaining time. A step's expected time is its planned time,
    multiplied by the ratio of actual to planned time for finished steps of the same kind. `parallel` is the
    number of parallel steps (None: unknown until steps begin), and `speed` the number of operations per
    second in one step (default: as in `calque plan`)."""

    def __init__(
        self, steps: Iterable[Step], parallel: int | None = None, speed: float | None = None
    ) -> None:
        self.waiting = {step.folder: step for step in steps}
        self.of, self.parallel, self._speed = len(self.waiting), parallel or 1, speed
        self._unknown = parallel is None
        self.begun: dict[Path, float] = {}
        # The first and last fractions reported; resumed steps begin in the middle.
        self.parts: dict[str, tuple[float, float]] = {}
        self.measured: Measured = {}
        self._work: dict[Path, float] = {}

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
        self._measure(self.measured, step, seconds / (last - first) if last > first else seconds)
        if step.stage == "derive":
            self._work = {}  # the number of operations may depend on the number of examples
        return seconds

    @property
    def done(self) -> int:
        return self.of - len(self.waiting)

    @property
    def left(self) -> float | None:
        """The estimated number of seconds left, if known."""
        if self._unknown and (True,) not in self.measured:
            return None
        now, measured, rest = time.perf_counter(), dict(self.measured), dict[Path, float]()
        waiting, begun = list(self.waiting.values()), dict(self.begun)  # another thread may change them
        for step in waiting:
            first, last = self.parts.get(step.title, (0.0, 0.0))
            if step.folder in begun and last - first >= FIRST:
                whole = (now - begun[step.folder]) / (last - first)
                self._measure(measured, step, whole)
                rest[step.folder] = whole * (1 - last)
        for step in waiting:
            if step.folder not in rest:
                spent = now - begun.get(step.folder, now)
                rest[step.folder] = max(0.0, self._expected(measured, step) - spent)
        return max(sum(rest.values()) / self.parallel, *rest.values(), 0.0)

    def _work_of(self, step: Step) -> float:
        work, folder = self._work, step.folder
        if folder not in work:
            work[folder] = step.work
        return work[folder]

    def _planned(self, step: Step) -> float:
        work = self._work_of(step)
        if self._speed is None and work:
            from calque.pretrain.cost import EFFICIENCY, run_flops

            self._speed = EFFICIENCY * run_flops(step.threads)
        return OVERHEAD + (work / self._speed if self._speed else 0.0)

    def _groups(self, step: Step) -> list[Group]:
        """Return the groups of similar steps that contain a step, the narrowest first."""
        name = step.place.parent.name if step.stage == "pretrain" else step.place.name
        trains = self._work_of(step) > 0
        return [(trains, step.stage, step.kind, name), (trains, step.stage), *([(True,)] if trains else [])]

    def _measure(self, measured: Measured, step: Step, seconds: float) -> None:
        for group in self._groups(step):
            before = measured.get(group, (0.0, 0.0))
            measured[group] = before[0] + seconds, before[1] + self._planned(step)

    def _expected(self, measured: Measured, step: Step) -> float:
        for group in self._groups(step):
            if group in measured:
                seconds, planned = measured[group]
                return self._planned(step) * seconds / planned
        return self._planned(step)

    def __str__(self) -> str:
        left = self.left if self.waiting else None
        done = f"{self.done} of {self.of} steps"
        return done if left is None else f"{done}, about {duration(left)} left"


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
        begun, _ = self.tasks.pop(what, (time.perf_counter(), 0.0))
        self.run.advance(what, done / max(1, of))
        if done < of:
            self.tasks[what] = begun, done / of
        elif not self.run.of:
            self.say(f"{what}: {time.perf_counter() - begun:.1f} s")

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
    shown = Board(waiting, quiet, parallel)
    if waiting:
        stages = Counter(step.stage for step in waiting)
        number = "1 step" if len(waiting) == 1 else f"{len(waiting)} steps"
        shown.say(f"{title}: {number} ({', '.join(f'{count} {stage}' for stage, count in stages.items())})")
        shown.show_running()  # measures this machine's speed while nothing else runs
    ended = Event()

    def repeat() -> None:
        while not ended.wait(1.0):
            shown.show_running()

    thread = Thread(target=repeat, daemon=True)
    with uninterrupted():  # otherwise an interrupt may reach the thread while a worker process starts
        thread.start()
    try:
        yield shown
    finally:
        ended.set()
        thread.join()
        shown.clear()


class Throttled:
    """A `Report` that forwards at most one call per title and interval, but always forwards the first and
    last call."""

    def __init__(self, report: Report) -> None:
        self.report, self.last = report, dict[str, float]()

    def __call__(self, what: str, done: int, of: int) -> None:
        now = time.perf_counter()
        if done >= of or now - self.last.get(what, 0.0) > INTERVAL:
            self.last[what] = now
            self.report(what, done, of)


def drain(queue: Any, report: Report) -> None:
    """For one interval, forward reports that other processes put into a queue."""
    end = time.monotonic() + INTERVAL
    while (left := end - time.monotonic()) > 0:
        try:
            report(*queue.get(timeout=left))
        except Empty:
            return
