"""Two commands on one folder, processes of one command that are lost, and data that changed on the disk."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.experiments.conftest import Done, weights
from tests.experiments.test_cli import ROOT, SETTINGS, calque
from tests.processes import below, free_port, wait_for

LONG = ["--set", "train.steps=1000000"]
BUSY = "another process is using this folder; wait for it or stop it"
Command = subprocess.Popen[str]


@contextmanager
def begun(words: list[str], **environment: str) -> Iterator[Command]:
    """A command in a process of its own."""
    ran = subprocess.Popen(
        [sys.executable, "-m", "experiments", *words],
        cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield ran
    finally:
        ran.kill()
        with ran:
            pass


def stop_at(folder: Path, claim: str, command: Command) -> None:
    """Stop a command while it works on a step, so that the step is not finished whatever else happens."""
    while True:
        path = wait_for(lambda: below(folder, claim), command)[0]
        command.send_signal(signal.SIGSTOP)
        if is_held(path):
            return
        command.send_signal(signal.SIGCONT)  # it was quicker


def is_held(claim: Path) -> bool:
    try:
        with claim.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False  # its step has ended
    return False


@pytest.mark.slow
def test_of_two_commands_on_one_folder_the_second_is_told_and_the_first_ends_right(done: Done, tmp_path: Path) -> None:
    place = ["pocket", "--runs", str(tmp_path), "--jobs", "1", *SETTINGS]
    with begun(["run", *place]) as first:
        for stage, claim in (
            ("derive", ".languages-*.claim"),
            ("pretrain", ".seed-0-*.claim"),
            ("evaluate", ".seed-0-*.claim"),
            ("evaluate", ".pos-*.claim"),
        ):
            stop_at(tmp_path, claim, first)
            code, _, err = calque(stage, *place)
            assert (code, err.count("\n")) == (2, 1)
            assert err.startswith(f"calque: error: {tmp_path}") and err.endswith(f": {BUSY}\n")
            first.send_signal(signal.SIGCONT)
        _, err = first.communicate()
    assert (first.returncode, err) == (0, "")
    places = Done(tmp_path, done.study)
    assert list(map(weights, places.models())) == list(map(weights, done.models()))
    assert not list(tmp_path.rglob(".*.part")) and not list(tmp_path.rglob(".*.claim"))


@pytest.mark.slow
def test_a_process_that_is_left_alone_is_one_line_and_others_leave_its_folder_alone(derived: Done) -> None:
    """Two processes that a batch system started, without torchrun, which would end the second itself."""
    words = ["pretrain", "pocket", "--runs", str(derived.root), "--jobs", "1", *SETTINGS, *LONG]
    meeting = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    with begun(words, RANK="0", **meeting) as first, begun(words, RANK="1", **meeting) as second:
        wait_for(lambda: below(derived.home, "step-*"), first)
        code, _, err = calque(*words)
        assert code == 2 and err.endswith(f": {BUSY}\n")
        second.kill()
        _, err = first.communicate()
    assert first.returncode == 1
    assert err.startswith("calque: error: another of 2 processes is lost; rank 0 cannot continue alone (")
    assert err.endswith("); the same command resumes\n") and err.count("\n") == 1


@pytest.mark.parametrize("name", ["tokens.bin", "lines.bin", "source_line.bin"])
def test_a_shard_of_which_one_bit_changed_is_refused_before_training(derived: Done, name: str) -> None:
    path = derived.data / "trans.inv" / name
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)
    code, _, err = calque("pretrain", "pocket", "--runs", str(derived.root), "--jobs", "1", *SETTINGS)
    wrong = f"calque: error: {path}: changed since it was written; remove {derived.data} and run the command again\n"
    assert (code, err) == (2, wrong)
    path.unlink()
    code, _, err = calque("pretrain", "pocket", "--runs", str(derived.root), "--jobs", "1", *SETTINGS)
    assert (code, err) == (2, wrong)
    assert not list(derived.home.rglob("seed-*"))
