import json
import re
import signal
import time
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from calque.derive.errors import BadInput
from calque.derive.files import claim_of
from calque.experiments.run import progress
from calque.experiments.run.progress import Remaining, board
from calque.experiments.run.schedule import compute, do
from calque.experiments.run.step import Machine, Step, with_needs
from calque.experiments.settings.catalogue import named_study
from calque.experiments.settings.override import override
from tests.experiments.conftest import Heard
from tests.experiments.run.words import Word, text


def word(home, word, before=(), seconds=0.0, **config):
    return Step(Word(word, before, seconds, **config), home / word, f"word {word}", "derive", "word")


def alone(*arguments):
    return replace(word(*arguments), spreads=True)


def times(step):
    began, ended = step.open().path("times").read_text().split()
    return float(began), float(ended)


def test_steps_run_once_after_their_needs(tmp_path):
    a, b = word(tmp_path, "a"), word(tmp_path, "b")
    c = word(tmp_path, "c", (a, b))
    d = word(tmp_path, "d", (c, a))
    assert [step.title for step in with_needs([d, b, d])] == ["word a", "word b", "word c", "word d"]
    compute([d], tmp_path, 1)
    assert text(d) == "a b c a d "


def test_parallel_and_sequential_steps_are_equal(tmp_path):
    made = []
    for jobs in (1, 2):
        home = tmp_path / str(jobs)
        first = alone(home, "first")
        a = word(home, "a", (first,), meets="b" if jobs == 2 else "")
        b = word(home, "b", (first,), meets="a" if jobs == 2 else "")
        last = alone(home, "last", (a,))
        compute([last, b], home, jobs)
        made.append([text(step) for step in (first, a, b, last)])
        assert times(first)[1] <= times(a)[0] and times(a)[1] <= times(last)[0]
    assert times(b)[1] <= times(last)[0]  # a step that spreads runs alone
    assert made[0] == made[1] == ["first ", "first a ", "first b ", "first a last "]


@pytest.mark.parametrize("jobs", [1, 2])
def test_after_a_failure_running_steps_end_and_none_start(tmp_path, jobs):
    before = word(tmp_path, "before")
    bad = word(tmp_path, "bad")
    needs = word(tmp_path, "needs", (bad,))
    later = word(tmp_path, "later")
    with pytest.raises(BadInput, match="a bad word"):
        compute([before, bad, needs, later], tmp_path, jobs)
    assert before.finished and not bad.finished and not needs.finished
    assert jobs == 2 or not later.finished
    assert all(path.name.endswith(".compute") for path in tmp_path.rglob(".*"))


@pytest.mark.parametrize("shared", [False, True])
def test_steps_of_other_commands_are_awaited(shared, tmp_path):
    a = replace(word(tmp_path, "a", (), 1.0), shared=shared)
    heard = Heard()
    first = Thread(target=do, args=(a, Machine()))
    first.start()
    while not claim_of(a.folder).exists() and first.is_alive():
        time.sleep(0.01)
    compute([a], tmp_path, 1, heard)
    first.join()
    assert text(a) == "a " and times(a)[1] < time.time() and not list(tmp_path.glob(".*"))
    before = times(a)
    do(a, Machine())  # like a command that looked before the other finished
    assert times(a) == before


def test_threads_leave_interrupts_to_the_main_thread(tmp_path):
    threads = Path("/proc/self/task")
    before = {*threads.iterdir()}
    with board([word(tmp_path, "a")]):
        statuses = [(thread / "status").read_text() for thread in {*threads.iterdir()} - before]
    masks = [int(mask[1], 16) for status in statuses if (mask := re.search(r"SigBlk:\s*(\w+)", status))]
    assert masks and all(mask & 1 << signal.SIGINT - 1 for mask in masks)


def test_time_left_of_a_step_without_operations_is_the_overhead(tmp_path):
    assert Remaining([word(tmp_path, "a")], 1, 1.0).left == progress.OVERHEAD


@pytest.mark.parametrize(("recorded", "longer"), [("300", 1.0), ("300", 12.0), ("300", 0.2), ("20", 1.0)])
@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_time_left_is_within_a_factor_of_three(jobs, recorded, longer, tmp_path, monkeypatch):
    """The recorded seconds are from runs with 300 and 20 steps of pretraining on a busy machine, some times
    slower than planned; before a model is trained, only the plan is known."""
    seconds = json.loads(Path(__file__).with_name("pocket_seconds.json").read_text())[recorded]
    train = round(int(recorded) * longer)
    steps = override(named_study("pocket"), [f"train.steps={train}", "train.warmup=2"]).steps(tmp_path)
    assert {step.title for step in steps} == seconds.keys()
    times = {step.title: seconds[step.title] * (longer if step.stage == "pretrain" else 1) for step in steps}
    now, run, waiting, running = [0.0], Remaining(steps, jobs, 3e10), [*steps], {}
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    estimates, models = [(0.0, run.left, 0)], 0
    while waiting or running:
        while waiting and len(running) < jobs:
            step = waiting.pop(0)
            run.begin(step)
            running[now[0] + times[step.title] + len(waiting) / 1e6] = step
        now[0] = min(running)
        step = running.pop(now[0])
        run.finish(step)
        models += step.stage == "pretrain"
        estimates.append((now[0], run.left, models))
    for then, left, models in estimates:
        within = 3 if models else 10
        if now[0] - then > 30:
            assert 1 / within < left / (now[0] - then) < within, (then, left, now[0] - then)
