"""Progress display: bars at a terminal, elsewhere a line for each finished stage."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Report = Callable[[str, int, int], None]  # `report(what, done, of)`: called often, from wherever work is done


def silent(what: str, done: int, of: int) -> None:
    """Show no progress."""


console = Console()
INTERVAL = 0.2


class Board:
    """One bar for each running task."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.started: dict[str, float] = {}
        self.bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=quiet,
        )
        self._tasks: dict[str, Any] = {}

    def report(self, what: str, done: int, of: int) -> None:
        """Move a bar; a thing that is done leaves a line with its time."""
        self.started.setdefault(what, time.perf_counter())
        if what not in self._tasks:
            self._tasks[what] = self.bars.add_task(what, total=of)
        self.bars.update(self._tasks[what], completed=done, total=of)
        if done >= of:
            self.bars.remove_task(self._tasks.pop(what))
            console.print(f"{what}: {time.perf_counter() - self.started.pop(what):.1f} s", highlight=False)


@contextmanager
def board() -> Iterator[Board]:
    """Progress bars at a terminal while the block runs; elsewhere finished stages are printed."""
    bars = Board(quiet=not console.is_terminal)
    with bars.bars:
        yield bars


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
