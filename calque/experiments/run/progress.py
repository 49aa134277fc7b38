"""Progress reports: the number of finished steps, the remaining time, and what is running."""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from statistics import mean
from threading import Event, RLock, Thread

from calque.derive.errors import printable
from calque.derive.workers import uninterrupted
from calque.experiments.run.step import Step, first_process

TERMINAL, LOG = 1.0, 30.0  # seconds between updates on a terminal and in a log
WIDTH = 80


def duration(seconds: float) -> str:
    """Format a time, as in `40 s`, `12 min` or `1.5 h`."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


class Board:
    """Prints a line for each finished step or, without steps, for each finished task, and shows what is
    running."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.waiting, self.of = {step.folder: step for step in steps}, len(steps)
        self.start, self.lock, self.terminal = time.monotonic(), RLock(), sys.stdout.isatty()
        self.running: dict[str, tuple[float, float]] = {}  # each task's start and finished fraction
        self.seconds = defaultdict[str, list[float]](list)  # of finished steps, by their titles' first word

    def report(self, what: str, done: int, of: int) -> None:
        start, _ = self.running.get(what, (time.monotonic(), 0.0))
        self.running[what] = start, done / max(1, of)
        steps = [step for step in self.waiting.values() if step.title == what]
        finished = [step for step in steps if step.finished] if done >= of else []
        if done < of or (steps and not finished):
            return
        for title in [title for title in self.running if f"{title}:".startswith(f"{what}:")]:
            del self.running[title]  # the task, and its messages about waiting
        seconds = time.monotonic() - start
        if finished:
            del self.waiting[finished[0].folder]
            self.seconds[what.split()[0]].append(seconds)
            self.say(f"{self.state}: {what}, {duration(seconds)}")
        elif not self.of:
            self.say(f"{what}: {seconds:.1f} s")

    @property
    def state(self) -> str:
        """The number of finished steps and, once one step of each remaining kind is finished, the expected
        time left."""
        elapsed = time.monotonic() - self.start
        kinds = [step.title.split()[0] for step in [*self.waiting.values()]]
        state = f"{self.of - len(kinds)} of {self.of} steps in {duration(elapsed)}"
        if not kinds or not all(self.seconds.get(kind) for kind in kinds):
            return state
        parallel = sum(map(sum, self.seconds.values())) / elapsed
        left = sum(mean(self.seconds[kind]) for kind in kinds) / parallel
        return f"{state}, about {duration(left)} left"

    def show_running(self) -> None:
        tasks = ", ".join(f"{title} {part:.0%}" for title, (_, part) in list(self.running.items()))
        line = printable(": ".join(filter(None, [self.state if self.of else "", tasks])))
        if self.terminal:
            self._write(f"\r{line[: WIDTH - 1]:<{WIDTH - 1}}")
        elif self.of:
            self.say(line)

    def say(self, line: str) -> None:
        with self.lock:
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
def board(steps: Iterable[Step] = (), title: str = "") -> Iterator[Board]:
    """Show the progress of unfinished steps, or of tasks, while the block runs."""
    waiting = [step for step in steps if not step.finished]
    progress, ended = Board(waiting), Event()
    if waiting:
        stages = Counter(step.stage for step in waiting)
        listed = ", ".join(f"{count} {stage}" for stage, count in stages.items())
        progress.say(f"{title}: {len(waiting)} step{'s' * (len(waiting) > 1)} ({listed})")

    def repeat() -> None:
        while not ended.wait(TERMINAL if progress.terminal else LOG):
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
