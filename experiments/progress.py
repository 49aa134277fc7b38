"""Progress display: how many steps are finished and the time that is left; bars at a terminal."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from threading import Event, Thread
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column

from calque.derive.workers import Progress as Report
from calque.derive.workers import uninterrupted
from calque.experiments.step import Step

console = Console()
INTERVAL = 0.2
WIDTH = 80
SILENCE = 30.0  # maximum seconds between lines when there are no bars
FIRST = 0.05  # the part of a step after which its speed is known
UNTRAINED = 3.0  # usual seconds of a step that trains nothing, until one of its stage was measured
RUN = "steps"  # the bar of the whole run
Measured = dict[tuple[Any, ...], tuple[float, float]]  # the seconds of a group of steps, and their operations or number


class Remaining:
    """How many steps are finished, and an estimate of the time for the others.

    A model's time is in proportion to the operations that `calque plan` counts, at the speed of the steps of its kind,
    of its stage, or of all that were measured, whole or in part. Other steps take as long as others of their kind.
    """

    def __init__(self, steps: Iterable[Step]) -> None:
        self.waiting = {step.folder: step for step in steps}
        self.of, self.parallel = len(self.waiting), 1
        self.begun: dict[Path, float] = {}
        self.parts: dict[str, tuple[float, float]] = {}  # of running steps: a resumed one begins in the middle
        self.measured: Measured = {}
        self._work: dict[Path, float] = {}

    def begin(self, step: Step) -> None:
        self.begun[step.folder] = time.perf_counter()
        self.parallel = max(self.parallel, len(self.begun))

    def advance(self, title: str, part: float) -> None:
        """Note which part of the step with that title is done, if there is one."""
        self.parts[title] = self.parts.get(title, (part,))[0], part

    def finish(self, step: Step) -> float:
        """Count a step as finished; returns the seconds that it took."""
        seconds = time.perf_counter() - self.begun.pop(step.folder)
        self.waiting.pop(step.folder, None)
        first, last = self.parts.pop(step.title, (0.0, 1.0))
        _measure(self.measured, step, self.work(step), seconds / (last - first) if last > first else seconds)
        if step.stage == "derive":
            self._work.clear()  # it may depend on the number of examples
        return seconds

    def work(self, step: Step) -> float:
        """The operations of a step that trains a model, or 0."""
        if (known := self._work.get(step.folder)) is None:  # another thread may clear it at any time
            known = self._work[step.folder] = getattr(step.config, "work", 0.0)
        return float(known)

    @property
    def done(self) -> int:
        return self.of - len(self.waiting)

    @property
    def left(self) -> float | None:
        """Seconds; None before a part of any model is trained, if any is waiting: earlier steps are uninformative."""
        now, waiting, measured = time.perf_counter(), list(self.waiting.values()), dict(self.measured)
        spent = {folder: now - begun for folder, begun in list(self.begun.items())}
        rest: dict[Path, float] = {}
        for step in (step for step in waiting if step.folder in spent):
            first, last = self.parts.get(step.title, (0.0, 0.0))
            if last - first >= FIRST:
                whole = spent[step.folder] / (last - first)
                _measure(measured, step, self.work(step), whole)
                rest[step.folder] = whole * (1 - last)
        if not measured or (any(map(self.work, waiting)) and (True,) not in measured):
            return None
        for step in (step for step in waiting if step.folder not in rest):
            expected = _expected(measured, step, self.work(step))
            rest[step.folder] = max(0.0, expected - spent.get(step.folder, 0.0))
        return max(sum(rest.values()) / self.parallel, *rest.values(), 0.0)

    def __str__(self) -> str:
        left = self.left if self.waiting else None
        return f"{self.done} of {self.of} steps" + (f", about {duration(left)} left" if left is not None else "")


def _keys(step: Step, work: float) -> list[tuple[Any, ...]]:
    """The groups of steps that a step belongs to, the narrowest first."""
    return [(work > 0, *_kind(step)), (work > 0, step.stage), *([(True,)] if work else [])]


def _measure(measured: Measured, step: Step, work: float, seconds: float) -> None:
    for key in _keys(step, work):
        before = measured.get(key, (0.0, 0.0))
        measured[key] = before[0] + seconds, before[1] + (work or 1.0)


def _expected(measured: Measured, step: Step, work: float) -> float:
    """The seconds of a step, from the narrowest group that was measured; `UNTRAINED` if it trains nothing."""
    seconds, amount = next((measured[key] for key in _keys(step, work) if key in measured), (UNTRAINED, 1.0))
    return seconds * (work or 1.0) / amount


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
        self.quiet, self.run, self.printed = quiet, Remaining(steps), time.monotonic()
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
        self.run.advance(what, done / max(1, of))
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
        if RUN in self._tasks and not self.bars.disable:
            self.bars.update(self._tasks[RUN], description=str(self.run), completed=self.run.done)

    def pulse(self) -> None:
        """Leave a line with the running steps, if there was none for a while."""
        if time.monotonic() - self.printed >= SILENCE:
            titles = [step.title for step in list(self.run.waiting.values()) if step.folder in self.run.begun]
            self._print(f"{self.run}: running {', '.join(titles) or 'nothing yet'}")

    def _print(self, line: str) -> None:
        self.printed = time.monotonic()
        if not self.quiet:
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
    with uninterrupted():  # or an interrupt reaches a thread of theirs while a worker process starts
        shown.bars.start()
    with shown.bars, _repeated(shown.pulse, bool(waiting) and not (quiet or console.is_terminal)):
        yield shown


@contextmanager
def _repeated(call: Callable[[], None], wanted: bool) -> Iterator[None]:
    """If `wanted`, call a function every second while the block runs, in a thread."""
    ended = Event()

    def repeat() -> None:
        while not ended.wait(1.0):
            call()

    thread = Thread(target=repeat, daemon=True)
    if wanted:
        with uninterrupted():
            thread.start()
    try:
        yield
    finally:
        ended.set()
        if wanted:
            thread.join()


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
