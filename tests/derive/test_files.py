import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calque.derive.files import (
    MANIFEST,
    Artefact,
    check_part,
    claimed,
    files_of,
    finished,
    making,
    sweep,
    whole_file,
    whole_folder,
)
from calque.derive.fingerprint import ADDED, plain
from tests.refusals import refusal

ROOT = Path(__file__).parents[2]
NAMES = ("numbers.jsonl", "deep/weights.bin")


@pytest.fixture(scope="module")
def artefact(tmp_path_factory):
    artefact = tmp_path_factory.mktemp("made") / "of-numbers"
    facts = {"format": 1, "value": 0.25}
    with making(artefact, "numbers", facts) as part:
        (part / NAMES[0]).write_text('{"value": 0.125}\n')
        (part / "deep").mkdir()
        (part / NAMES[1]).write_bytes(bytes(range(64)))
        facts["said at the end"] = True
    return artefact


def read(artefact):
    artefact = Artefact.open(artefact, "numbers")
    return artefact.facts, [artefact.path(name).read_bytes() for name in NAMES]


def test_written_files_are_read_back(artefact):
    facts, files = read(artefact)
    assert facts == {"format": 1, "value": 0.25, "said at the end": True}
    assert files[1] == bytes(range(64))
    assert finished(artefact)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_flipped_bits_and_truncation_are_detected(artefact, data):
    path = artefact / data.draw(st.sampled_from((*NAMES, MANIFEST)))
    before = path.read_bytes()
    at = data.draw(st.integers(0, len(before) - 1))
    if data.draw(st.booleans()):
        after = before[:at]
    else:
        after = before[:at] + bytes([before[at] ^ 1 << data.draw(st.integers(0, 7))]) + before[at + 1 :]
    try:
        path.write_bytes(after)
        assert str(artefact) in refusal(read, artefact)
    finally:
        path.write_bytes(before)


PLACES = ("seed-0-0123456789ab", "seed-1-0123456789ab", "seed-0-ba9876543210", "0123456789ab.trees.json")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("other", [*PLACES, "seed-0"])
def test_folder_with_a_wrong_name_is_rejected(place, other, tmp_path):
    for name in (place, other):
        with making(tmp_path / "made" / name, "numbers", {"name": name}) as part:
            (part / "deep").mkdir()
            (part / "deep" / "file").write_text(name)
    moved = shutil.copytree(tmp_path / "made" / other, tmp_path / place)
    for way in (
        finished,
        lambda artefact: Artefact.open(artefact, "numbers"),
        lambda artefact: check_part(artefact / "deep", "numbers"),
    ):
        assert way(tmp_path / "made" / place) is not False
        if place == other:
            assert way(moved) is not False
        else:
            assert refusal(way, moved).startswith(str(moved / MANIFEST))
    renamed = shutil.copytree(tmp_path / "made" / place, tmp_path / "mine")
    assert Artefact.open(renamed, "numbers").facts == {"name": place}


def test_folder_is_replaced_only_when_complete(tmp_path):
    folder = tmp_path / "folder"
    with whole_folder(folder) as part:
        (part / "a").write_text("old")
        assert not folder.exists()
    with pytest.raises(RuntimeError), whole_folder(folder) as part:
        (part / "b").write_text("half")
        raise RuntimeError
    assert [path.name for path in folder.iterdir()] == ["a"]
    with whole_folder(folder, outdated=["a"]) as part:
        (part / "deep").mkdir()
        (part / "deep" / "c").write_text("new")
    assert [path.name for path in folder.iterdir()] == ["deep"]
    assert list(tmp_path.iterdir()) == [folder]


def test_users_files_survive_a_replaced_folder(tmp_path):
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    for name in ("notes.txt", "deep/mine", "deep/c", "outdated"):
        (folder / name).write_text("old")
    (folder / "link").symlink_to("deep", target_is_directory=True)
    with whole_folder(folder, outdated=["outdated", "../elsewhere"]) as part:
        (part / "deep").mkdir()
        for name in ("deep/c", "manifest.json"):
            (part / name).write_text("new")
    kept = {"notes.txt": "old", "deep/mine": "old", "deep/c": "new", "manifest.json": "new"}
    assert {name: (folder / name).read_text() for name in files_of(folder) if name != "link"} == kept
    assert (folder / "link").is_symlink() and list(tmp_path.iterdir()) == [folder]


@dataclass(frozen=True)
class Later:
    __module__ = "calque.derive"  # Calque's own code is not part of a fingerprint
    rate: float = 0.1
    order: str = field(default="old", metadata=ADDED)


def test_added_fields_count_unless_default():
    assert plain(Later()) == {"kind": "Later", "rate": 0.1}
    assert plain(Later(order="new")) == {"kind": "Later", "rate": 0.1, "order": "new"}


KILLED_WRITING = """
import os, signal, sys
from pathlib import Path
from calque.derive.files import whole_file, whole_folder
with whole_folder(Path(sys.argv[1]) / "folder") as folder, whole_file(Path(sys.argv[1]) / "file") as file:
    (folder / "half").write_text("half")
    file.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_sweep_removes_only_dead_leftovers(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED_WRITING, tmp_path], cwd=ROOT, check=False)
    dead = sorted(tmp_path.iterdir())
    assert len(dead) == 2
    with whole_folder(tmp_path / "deep" / "folder") as folder, claimed(tmp_path / "deep" / "claimed"):
        (folder / "a").write_text("whole")
        alive = {*tmp_path.rglob("*")} - {*dead, *(path / "half" for path in dead)}
        sweep(tmp_path)
        assert {*tmp_path.rglob("*")} == alive
    assert (tmp_path / "deep" / "folder" / "a").read_text() == "whole"


def test_writing_again_removes_dead_leftovers(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED_WRITING, tmp_path], cwd=ROOT, check=False)
    (tmp_path / ".file.backup.part").touch()
    with whole_folder(tmp_path / "folder"), whole_file(tmp_path / "file"):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "file", ".file.backup.part"}


def place(job):
    return job, os.getpid()


KILLED = """
import os, signal
from calque.derive.workers import Workers
from tests.derive.test_files import place
with Workers(2) as workers:
    next(workers.map(place, lambda: range(5), ""))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_with_their_parent():
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
