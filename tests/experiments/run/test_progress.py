import json
import re
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from calque.experiments.run import progress
from calque.experiments.run.progress import Remaining, board
from calque.experiments.settings.catalogue import study
from calque.experiments.settings.override import override


@dataclass(frozen=True)
class Work:
    title: str
    stage: str = "evaluate"
    kind: str = "measure"
    finished: bool = False
    work: float = 0.0

    @property
    def folder(self):
        return Path(self.title)

    place = folder

    @property
    def config(self):
        return self


def test_time_left_follows_steps_of_the_same_kind(monkeypatch):
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
    assert run.left is None  # no model has been trained
    run.begin(steps[1])
    run.finish(steps[1])
    # Other steps are estimated at 3 s until one is measured.
    assert (run.done, run.of, run.left) == (2, 4, 23.0)
    assert str(run) == "2 of 4 steps, about 23 s left"


def test_threads_leave_interrupts_to_the_main_thread():
    threads = Path("/proc/self/task")
    before = {*threads.iterdir()}
    with board([Work("a")]):
        statuses = [(thread / "status").read_text() for thread in {*threads.iterdir()} - before]
    masks = [int(mask[1], 16) for status in statuses if (mask := re.search(r"SigBlk:\s*(\w+)", status))]
    assert masks and all(mask & 1 << signal.SIGINT - 1 for mask in masks)


@pytest.mark.parametrize("longer", [1.0, 12.0, 0.2])
@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_time_left_is_within_a_factor_of_three(jobs, longer, tmp_path, monkeypatch):
    """The recorded seconds are from a run with 300 steps of pretraining on a busy machine."""
    seconds = json.loads(Path(__file__).with_name("pocket_seconds.json").read_text())
    steps = override(study("pocket"), [f"train.steps={round(300 * longer)}", "train.warmup=30"]).steps(
        tmp_path
    )
    assert {step.title for step in steps} == seconds.keys()
    times = {step.title: seconds[step.title] * (longer if step.stage == "pretrain" else 1) for step in steps}
    now, run, waiting, running = [0.0], Remaining(steps), [*steps], {}
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    estimates, models = [], 0
    while waiting or running:
        while waiting and len(running) < jobs:
            step = waiting.pop(0)
            run.begin(step)
            running[now[0] + times[step.title] + len(waiting) / 1e6] = step
        now[0] = min(running)
        step = running.pop(now[0])
        run.finish(step)
        models += step.stage == "pretrain"
        assert run.left is not None or not models
        if run.left is not None:
            estimates.append((now[0], run.left))
    assert len(estimates) > 60
    for then, left in estimates:
        if now[0] - then > 30:
            assert 1 / 3 < left / (now[0] - then) < 3, (then, left, now[0] - then)
