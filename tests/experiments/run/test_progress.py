import re
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from calque.experiments.run import progress
from calque.experiments.run.progress import Remaining, board


@dataclass(frozen=True)
class Work:
    """A step as far as progress knows it."""

    title: str
    stage: str = "evaluate"
    kind: str = "measure"
    finished: bool = False
    work: float = 0.0

    @property
    def folder(self) -> Path:
        return Path(self.title)

    place = folder

    @property
    def config(self) -> "Work":
        return self


def test_the_time_left_is_that_of_steps_of_the_same_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr(progress.time, "perf_counter", lambda: float(next(clock)))
    steps = [
        Work("data", "derive"),
        *(Work(f"{name}/seed-0", "pretrain", "run", work=work) for name, work in (("a", 2.0), ("b", 4.0))),
        Work("x"),
    ]
    run = Remaining(steps)
    run.begin(steps[0])
    run.finish(steps[0])
    assert run.left is None  # no model was trained yet
    run.begin(steps[1])
    run.finish(steps[1])
    # A step that trains nothing takes 3 s until one was measured.
    assert (run.done, run.of, run.left) == (2, 4, 23.0)
    assert str(run) == "2 of 4 steps, about 23 s left"


def test_threads_leave_interrupts_to_the_main_thread() -> None:
    threads = Path("/proc/self/task")
    before = {*threads.iterdir()}
    with board([Work("a")]):
        statuses = [(thread / "status").read_text() for thread in {*threads.iterdir()} - before]
    masks = [int(mask[1], 16) for status in statuses if (mask := re.search(r"SigBlk:\s*(\w+)", status))]
    assert masks and all(mask & 1 << signal.SIGINT - 1 for mask in masks)
