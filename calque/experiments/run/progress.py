"""Progress reports: the number of finished steps, the remaining time, and what is running."""

import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from statistics import mean

from calque.derive.errors import printable
from calque.experiments.run.step import Step, first_process

TERMINAL, LOG = 1.0, 30.0  # minimum seconds between updates on a terminal and in a log
WIDTH = 80


def duration(seconds: float) -> str:
    """Format a time, as in `40 s`, `12 min` or `1.5 h`."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


class Board:
    """Prints a line for each finished step or, without steps, task, and shows running ones."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.waiting = {step.folder: step for step in steps if not step.finished}
        self.of, self.start = len(self.waiting), time.monotonic()
        self.shown = self.start  # when the line about running tasks was last written
        self.running: dict[str, tuple[float, float]] = {}  # each task's start and finished fraction
        self.seconds = defaultdict[str, list[float]](list)  # of finished steps, by their titles' first word

    def report(self, what: str, done: int, of: int) -> None:
        now = time.monotonic()
        start, _ = self.running.get(what, (now, 0.0))
        self.running[what] = start, done / max(1, of)
        steps = [step for step in self.waiting.values() if step.title == what]
        finished = [step for step in steps if step.finished] if done >= of else []
        if finished or (done >= of and not steps):
            for title in [title for title in self.running if f"{title}:".startswith(f"{what}:")]:
                del self.running[title]  # the task, and its messages about waiting
        if finished:
            del self.waiting[finished[0].folder]
            self.seconds[what.split()[0]].append(now - start)
            self.say(f"{self.state}: {what}, {duration(now - start)}")
        elif done >= of and not self.of:
            self.say(f"{what}: {now - start:.1f} s")
        elif now - self.shown >= (TERMINAL if sys.stdout.isatty() else LOG):
            self._show_running(now)

    @property
    def state(self) -> str:
        """The number of finished steps and, after one step of each remaining kind, the expected time left."""
        elapsed = time.monotonic() - self.start
        kinds = [step.title.split()[0] for step in self.waiting.values()]
        state = f"{self.of - len(kinds)} of {self.of} steps in {duration(elapsed)}"
        if not kinds or not all(self.seconds.get(kind) for kind in kinds):
            return state
        parallel = sum(map(sum, self.seconds.values())) / elapsed
        left = sum(mean(self.seconds[kind]) for kind in kinds) / parallel
        return f"{state}, about {duration(left)} left"

    def _show_running(self, now: float) -> None:
        self.shown = now
        tasks = ", ".join(f"{title} {part:.0%}" for title, (_, part) in self.running.items())
        line = printable(f"{self.state}: {tasks}" if self.of else tasks)
        if sys.stdout.isatty():
            _write(f"\r{line[: WIDTH - 1]:<{WIDTH - 1}}")
        elif self.of:
            self.say(line)

    def say(self, line: str) -> None:
        self.clear()
        _write(f"{printable(line)}\n")

    def clear(self) -> None:
        if sys.stdout.isatty():
            _write(f"\r{'':{WIDTH - 1}}\r")


def _write(text: str) -> None:
    if first_process():
        sys.stdout.write(text)
        sys.stdout.flush()


@contextmanager
def board(steps: Iterable[Step] = (), title: str = "") -> Iterator[Board]:
    """Show the progress of unfinished steps, or of tasks, while the block runs."""
    progress = Board(steps)
    if progress.of:
        progress.say(f"{title}: {progress.of} step{'s' * (progress.of > 1)}")
    try:
        yield progress
    finally:
        progress.clear()
