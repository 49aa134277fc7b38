"""Files and folders are whole or absent, and fingerprints follow values."""

import errno
import fcntl
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque.derive.errors import BadInput
from calque.derive.files import claim_of, claimed, files_of, sweep, whole_file, whole_folder, write_json
from calque.derive.fingerprint import ADDED, fingerprint, plain, sha256


def test_a_file_appears_when_the_block_ends_well(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "file.txt"
    with whole_file(path) as part:
        part.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), whole_file(path) as part:
        part.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_replaces_the_old_one_only_when_it_is_whole(tmp_path: Path) -> None:
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


def test_files_of_the_user_in_a_replaced_folder_stay(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    for name in ("notes.txt", "deep/mine", "deep/c", "outdated"):
        (folder / name).write_text("old")
    (folder / "link").symlink_to("deep", target_is_directory=True)
    with whole_folder(folder, outdated=["outdated", "../elsewhere"]) as part:
        (part / "deep").mkdir()
        for name in ("deep/c", "manifest.json"):
            (part / name).write_text("new")
    kept = dict.fromkeys(["notes.txt", "deep/mine"], "old") | dict.fromkeys(["deep/c", "manifest.json"], "new")
    assert {name: (folder / name).read_text() for name in files_of(folder) if name != "link"} == kept
    assert (folder / "link").is_symlink() and list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize(("mine", "new"), [("b", "b/c"), ("b/c/notes", "b/c"), ("link/c", "link/c")])
def test_files_of_the_user_in_the_way_are_neither_replaced_nor_followed(mine: str, new: str, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "link").symlink_to(elsewhere, target_is_directory=True)
    for name in (mine, "a", "manifest.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("old")
    with pytest.raises(BadInput) as refused, whole_folder(folder) as part:
        for name in (new, "a", "manifest.json"):
            (part / name).parent.mkdir(exist_ok=True)
            (part / name).write_text("new")
    assert str(folder / new.partition("/")[0]) in str(refused.value)
    assert all((folder / name).read_text() == "old" for name in (mine, "a", "manifest.json"))


def test_a_folder_that_is_replaced_in_part_has_no_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, replace = tmp_path / "folder", Path.replace
    folder.mkdir()
    for name in ("notes", "a", "b", "manifest.json"):
        (folder / name).write_text("old")

    def fails_at_b(path: Path, target: Path) -> Path:
        if path.name == "b":
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", fails_at_b)
    with pytest.raises(KeyboardInterrupt), whole_folder(folder) as part:
        for name in ("a", "b", "manifest.json"):
            (part / name).write_text("new")
    assert {name: (folder / name).read_text() for name in files_of(folder)} == {"notes": "old", "a": "new", "b": "old"}


def test_a_sweep_leaves_hidden_files_of_the_user(tmp_path: Path) -> None:
    for name in (".thesis.part", ".own.claim", ".video.mine.part"):
        (tmp_path / name).write_text("mine")
    sweep(tmp_path)
    with whole_file(tmp_path / "video"):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {".thesis.part", ".own.claim", ".video.mine.part", "video"}


def _text(path: Path) -> None:
    path.write_text("x" * 9_000, encoding="utf-8")


def _array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros(9_000))


def _copy(path: Path) -> None:
    shutil.copy(__file__, path)


@pytest.mark.parametrize("write", [_text, _array, _copy])
@pytest.mark.parametrize("whole", [whole_file, whole_folder])
def test_a_full_disk_names_what_is_written(write: Callable[[Path], None], whole: Any, tmp_path: Path) -> None:
    """The system names no file where a write fails, numpy no error either, and a copy names what it reads."""
    path, limits = tmp_path / "new", resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(OSError) as full, whole(path) as part:
            resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, limits[1]))
            write(part if whole is whole_file else part / "file")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert full.value.errno in (errno.EFBIG, errno.ENOSPC)
    assert full.value.filename in (str(path), str(path / "file"))
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_leaves_no_folder(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from calque.derive.files import whole_folder\n"
        "with whole_folder(Path(sys.argv[1])) as part:\n"
        "    (part / 'a').write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "folder")], cwd=root, check=False)
    assert done.returncode == -9
    assert not (tmp_path / "folder").exists()


def test_all_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that loses its power after the rename has the file with what is in it."""
    flushed: list[tuple[str, bool]] = []
    fsync = os.fsync

    def note(handle: int) -> None:
        fsync(handle)
        path = Path(f"/proc/self/fd/{handle}").readlink()
        flushed.append((path.name, (tmp_path / "file").exists() or (tmp_path / "folder").exists()))

    monkeypatch.setattr(os, "fsync", note)
    with whole_folder(tmp_path / "folder") as part:
        (part / "deep").mkdir()
        (part / "deep" / "a").write_text("whole")
    assert sorted(flushed) == [("a", False), ("deep", False), (tmp_path.name, True)]
    shutil.rmtree(tmp_path / "folder")
    flushed.clear()
    with whole_file(tmp_path / "file") as part:
        part.write_text("whole")
    assert [named for _, named in flushed] == [False]


def test_sha256_is_hashlibs(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"calque" * 100_000)
    assert sha256(tmp_path / "a") == hashlib.sha256(b"calque" * 100_000).hexdigest()


@dataclass(frozen=True)
class Config:
    __module__ = "calque.derive"  # Calque's own, whose code is no part of a fingerprint
    paths: tuple[Path, ...]
    rate: float = 0.1


@dataclass(frozen=True)
class Other:
    paths: tuple[Path, ...]
    rate: float = 0.1


def test_fingerprints_tell_values_and_classes_apart() -> None:
    base = fingerprint(Config((Path("a"),)))
    assert base == fingerprint(Config((Path("a"),)))
    assert len(base) == 12
    others = [Config((Path("b"),)), Config((Path("a"),), 0.2), Config(()), Other((Path("a"),))]
    assert len({base, *map(fingerprint, others)}) == 5


def test_a_fingerprint_is_the_one_that_names_folders_already() -> None:
    text = '[{"kind": "Config", "paths": ["français"], "rate": 0.1}, 3]'
    assert fingerprint(Config((Path("français"),)), 3) == hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Later:
    __module__ = "calque.derive"  # Calque's own, whose code is no part of a fingerprint
    rate: float = 0.1
    order: str = field(default="old", metadata=ADDED)


def test_a_field_that_came_later_counts_when_it_says_something_new() -> None:
    assert plain(Later()) == {"kind": "Later", "rate": 0.1}
    assert plain(Later(order="new")) == {"kind": "Later", "rate": 0.1, "order": "new"}


def test_json_is_plain_and_keeps_letters(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"config": Config((Path("é"),)), 3: [1.5, None]})
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"config": {"kind": "Config", "paths": ["é"], "rate": 0.1}, "3": [1.5, None]}
    assert text.startswith('{\n  "config": {\n    "kind": "Config",') and '["é"]' in "".join(text.split())
    assert plain((1, "a")) == [1, "a"]


def test_a_claimed_folder_is_refused_to_others_until_it_is_free(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    for _ in range(2):
        with claimed(folder):
            with pytest.raises(BadInput, match="another process is using this folder"), claimed(folder):
                pass
            with claimed(tmp_path / "runs" / "two"):
                pass
    assert list((tmp_path / "runs").iterdir()) == []


CLAIM = """
import os, signal, sys
from pathlib import Path
from calque.derive.files import claimed
with claimed(Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_claim_that_was_released_while_it_was_asked_for_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, lock = tmp_path / "one", fcntl.flock

    def after_its_holder_left(file: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        claim_of(folder).unlink()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", after_its_holder_left)
    with claimed(folder), pytest.raises(BadInput, match="another process"), claimed(folder):
        pass
    assert not claim_of(folder).exists()


def test_the_claim_of_a_killed_process_dies_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    killed = subprocess.run([sys.executable, "-c", CLAIM, str(folder)], cwd=Path(__file__).parents[2], check=False)
    assert killed.returncode == -9 and list(tmp_path.iterdir())  # the file stays, and says nothing
    with claimed(folder):
        pass
    assert list(tmp_path.iterdir()) == []


def test_where_no_folder_can_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for place in (whole_file, whole_folder, claimed):
        with pytest.raises(BadInput, match="cannot make this folder"), place(tmp_path / "file" / "below" / "name"):
            pass
    assert (tmp_path / "file").read_text() == "in the way"


KILLED = """
import os, signal, sys
from pathlib import Path
from calque.derive.files import whole_file, whole_folder
with whole_folder(Path(sys.argv[1]) / "folder") as folder, whole_file(Path(sys.argv[1]) / "file") as file:
    (folder / "half").write_text("half")
    file.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def parts_of_a_killed_process(tmp_path: Path) -> list[Path]:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=Path(__file__).parents[2], check=False)
    return sorted(tmp_path.iterdir())


def test_parts_of_a_killed_process_go_when_the_place_is_written_again(tmp_path: Path) -> None:
    assert len(parts_of_a_killed_process(tmp_path)) == 2
    with whole_folder(tmp_path / "folder") as folder:
        (folder / "a").write_text("whole")
    with whole_file(tmp_path / "file") as file:
        file.write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_sweep_takes_what_is_dead_and_leaves_what_is_being_written(tmp_path: Path) -> None:
    dead = parts_of_a_killed_process(tmp_path)
    with whole_folder(tmp_path / "deep" / "folder") as folder, claimed(tmp_path / "deep" / "claimed"):
        (folder / "a").write_text("whole")
        alive = {*tmp_path.rglob("*")} - {*dead, *(path / "half" for path in dead)}
        sweep(tmp_path)
        assert {*tmp_path.rglob("*")} == alive
    assert (tmp_path / "deep" / "folder" / "a").read_text() == "whole"


def test_a_claim_that_was_left_is_swept(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", CLAIM, str(tmp_path / "one")], cwd=Path(__file__).parents[2], check=False)
    assert list(tmp_path.iterdir())
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [lambda path: path.write_text("a file"), lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_folder_is_not_replaced_by_one(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "folder")
    with pytest.raises(BadInput, match="where a folder is expected"), whole_folder(tmp_path / "folder"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_pipe_in_the_place_of_a_file_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(BadInput, match="a folder, a device or a pipe where a file is expected"), whole_file(place):
            pass
    assert (tmp_path / "pipe").is_fifo() and len(list(tmp_path.iterdir())) == 1


def test_a_link_in_the_place_of_a_part_is_left_alone(tmp_path: Path) -> None:
    """Nobody here makes links: what it leads to may be anybody's."""
    (tmp_path / "elsewhere").write_text("of somebody else")
    (tmp_path / ".file.1-1.part").symlink_to("elsewhere")
    sweep(tmp_path)
    write_json(tmp_path / "file", {})
    assert sorted(path.name for path in tmp_path.iterdir()) == [".file.1-1.part", "elsewhere", "file"]


def test_no_file_stays_open(tmp_path: Path) -> None:
    def opened() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    parts_of_a_killed_process(tmp_path)
    before = opened()
    with whole_folder(tmp_path / "folder") as folder, claimed(tmp_path / "claimed"):
        write_json(folder / "a.json", {})
    sweep(tmp_path)
    assert opened() == before


def test_a_sweep_passes_over_folders_that_another_process_moves_meanwhile(tmp_path: Path) -> None:
    """As whole folders are: filled beside their place, then renamed."""
    (tmp_path / ".a.1-1.part").mkdir()
    stop = threading.Event()

    def move() -> None:
        while not stop.is_set():
            for k in range(20):
                (tmp_path / f"x{k}" / "y" / "z").mkdir(parents=True)
            for k in range(20):
                shutil.rmtree(tmp_path / f"x{k}")

    mover = threading.Thread(target=move)
    mover.start()
    try:
        for _ in range(300):
            sweep(tmp_path)
    finally:
        stop.set()
        mover.join()
    assert not (tmp_path / ".a.1-1.part").exists()
