import time
from dataclasses import replace
from threading import Thread

import pytest

from calque.derive.errors import BadInput
from calque.experiments.run.progress import board
from calque.experiments.run.schedule import compute, do
from calque.experiments.run.step import Machine, Step, with_needs
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
        last = word(home, "last", (a,))
        compute([last, b], home, jobs)
        made.append([text(step) for step in (first, a, b, last)])
        assert times(first)[1] <= times(a)[0] and times(a)[1] <= times(last)[0]
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
    assert not list(tmp_path.rglob(".*"))


@pytest.mark.parametrize("shared", [False, True])
def test_steps_of_other_commands_are_awaited(shared, tmp_path):
    a = replace(word(tmp_path, "a", (), 1.0), shared=shared)
    heard = Heard()
    first = Thread(target=do, args=(a, Machine()))
    first.start()
    while not a.folder.with_name(f".{a.folder.name}.claim").exists() and first.is_alive():
        time.sleep(0.01)
    compute([a], tmp_path, 1, heard)
    first.join()
    assert text(a) == "a " and times(a)[1] < time.time() and not list(tmp_path.glob(".*"))
    before = times(a)
    do(a, Machine())  # like a command that looked before the other finished
    assert times(a) == before


def test_every_finished_step_is_printed(tmp_path, capsys):
    done = word(tmp_path, "done")
    compute([done], tmp_path, 1)
    last = word(tmp_path, "last", (done, word(tmp_path, "first")))
    steps = with_needs([last])
    with board(steps, "toy") as progress:
        compute(steps, tmp_path, 1, progress.report)
    title, *lines = capsys.readouterr().out.splitlines()
    assert "2 steps" in title and len(lines) == 2
    for line, parts in zip(lines, (("1 of 2", "word first"), ("2 of 2", "word last")), strict=True):
        assert all(part in line for part in parts)
    assert [" left" in line for line in lines] == [True, False]


def test_finished_tasks_are_printed_without_steps(capsys):
    with board() as progress:
        progress.report("sorting", 0, 4)
        progress.report("sorting", 2, 4)
        progress.report("sorting", 4, 4)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("sorting: ")
