"""Progress display: how many steps are finished and the time that is left; bars at a terminal."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column

from calque.derive.workers import Progress as Report
from calque.experiments.step import Step

console = Console()
INTERVAL = 0.2
WIDTH = 80
RUN = "steps"  # the bar of the whole run


class Remaining:
    """How many steps are finished, and an estimate of the time for the others.

    A step is expected to take as long as the finished ones of its kind, or else of the slowest kind.
    """

    def __init__(self, steps: Iterable[Step]) -> None:
        self.waiting = {step.folder: step for step in steps}
        self.of = len(self.waiting)
        self.begun: dict[Path, float] = {}
        self.seconds: dict[tuple[str, str], list[float]] = {}

    def begin(self, step: Step) -> None:
        self.begun[step.folder] = time.perf_counter()

    def finish(self, step: Step) -> float:
        """Count a step as finished; returns the seconds that it took."""
        seconds = time.perf_counter() - self.begun.pop(step.folder)
        self.waiting.pop(step.folder, None)
        self.seconds.setdefault(_kind(step), []).append(seconds)
        return seconds

    @property
    def done(self) -> int:
        return self.of - len(self.waiting)

    @property
    def left(self) -> float | None:
        """Seconds; None before a model is trained, if any is waiting: the steps before it tell nothing."""
        stages = {stage for stage, _ in self.seconds}
        if not stages or ("pretrain" not in stages and any(step.stage == "pretrain" for step in self.waiting.values())):
            return None
        now = time.perf_counter()
        spent = {folder: now - begun for folder, begun in self.begun.items()}
        rest = sum(max(0.0, self._expected(step) - spent.get(step.folder, 0.0)) for step in self.waiting.values())
        return rest / max(1, len(self.begun))

    def _expected(self, step: Step) -> float:
        means = {kind: fmean(seconds) for kind, seconds in self.seconds.items()}
        return means.get(_kind(step), max(means.values()))

    def __str__(self) -> str:
        left = self.left if self.waiting else None
        return f"{self.done} of {self.of} steps" + (f", about {duration(left)} left" if left is not None else "")


def _kind(step: Step) -> tuple[str, str]:
    """The stage of a step, and its kind: of a measure its name, of a model its objective."""
    name = step.place.parent.name if step.stage == "pretrain" else step.place.name
    return step.stage, f"{step.kind} {name}"


def duration(seconds: float) -> str:
    """Seconds in words, in the largest unit that fits."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


class Board:
    """A bar for each running task and, of steps, for the whole run; a line for each that is finished."""

    def __init__(self, bars: bool, steps: Iterable[Step] = (), quiet: bool = False) -> None:
        self.quiet, self.run = quiet, Remaining(steps)
        self.started: dict[str, float] = {}
        column = Column(no_wrap=True, overflow="ellipsis", ratio=1)
        title = TextColumn("{task.description}", markup=False, table_column=column)  # a sweep's values are in brackets
        console.width = min(console.width, WIDTH)
        self.bars = Progress(
            title,
            BarColumn(20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not bars or quiet,
            expand=True,
        )
        self._tasks: dict[str, Any] = {}
        if self.run.of:
            self._tasks[RUN] = self.bars.add_task(str(self.run), total=self.run.of)

    def report(self, what: str, done: int, of: int) -> None:
        """Move a bar; outside of steps, a thing that is done leaves a line with its time."""
        self.started.setdefault(what, time.perf_counter())
        if what not in self._tasks:
            self._tasks[what] = self.bars.add_task(what, total=of)
        self.bars.update(self._tasks[what], completed=done, total=of)
        if done >= of:
            self.bars.remove_task(self._tasks.pop(what))
            seconds = time.perf_counter() - self.started.pop(what)
            if not self.run.of:
                self._print(f"{what}: {seconds:.1f} s")
        self._count()

    def watch(self, step: Step, finished: bool) -> None:
        """Take note that a step begins or is finished, which leaves a line."""
        if not finished:
            self.run.begin(step)
            return
        seconds = self.run.finish(step)
        self._count()
        self._print(f"{self.run}: {step.title}, {duration(seconds)}")

    def _count(self) -> None:
        if RUN in self._tasks:
            self.bars.update(self._tasks[RUN], description=str(self.run), completed=self.run.done)

    def _print(self, line: str) -> None:
        if not self.quiet:
            line = line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."
            console.print(line, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def board(steps: Iterable[Step] = (), quiet: bool = False, title: str = "") -> Iterator[Board]:
    """Progress while the block runs: bars at a terminal, or a first line with the title and the number of steps, and
    everywhere a line for each finished step, or for each finished task without steps. If `quiet`, no output."""
    waiting = [step for step in steps if not step.finished]
    shown = Board(console.is_terminal, waiting, quiet)
    if waiting and not (quiet or console.is_terminal):
        stages = Counter(step.stage for step in waiting)
        parts = ", ".join(f"{number} {stage}" for stage, number in stages.items())
        number = "1 step" if len(waiting) == 1 else f"{len(waiting)} steps"
        console.print(f"{title}: {number} ({parts})", highlight=False, markup=False, soft_wrap=True)
    with shown.bars:
        yield shown


class Throttled:
    """A `Report` that passes on at most one call an interval for each thing, and always the first and the last."""

    def __init__(self, report: Report) -> None:
        self.report, self.last = report, dict[str, float]()

    def __call__(self, what: str, done: int, of: int) -> None:
        now = time.perf_counter()
        if done >= of or now - self.last.get(what, 0.0) > INTERVAL:
            self.last[what] = now
            self.report(what, done, of)


def drain(queue: Any, report: Report) -> None:
    """Pass on what other processes put into a queue, for an interval: they may never stop."""
    end = time.monotonic() + INTERVAL
    while (left := end - time.monotonic()) > 0:
        try:
            report(*queue.get(timeout=left))
        except Empty:
            return
