import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from calque.derive.files import claimed, files_of, sweep, whole_folder
from calque.derive.fingerprint import ADDED, plain


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
    kept = dict.fromkeys(["notes.txt", "deep/mine"], "old") | dict.fromkeys(
        ["deep/c", "manifest.json"], "new"
    )
    assert {name: (folder / name).read_text() for name in files_of(folder) if name != "link"} == kept
    assert (folder / "link").is_symlink() and list(tmp_path.iterdir()) == [folder]


@dataclass(frozen=True)
class Later:
    __module__ = "calque.derive"  # Calque's own, whose code is no part of a fingerprint
    rate: float = 0.1
    order: str = field(default="old", metadata=ADDED)


def test_an_added_field_counts_unless_it_has_its_default() -> None:
    assert plain(Later()) == {"kind": "Later", "rate": 0.1}
    assert plain(Later(order="new")) == {"kind": "Later", "rate": 0.1, "order": "new"}


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


def test_a_sweep_removes_dead_leftovers_only(tmp_path: Path) -> None:
    dead = parts_of_a_killed_process(tmp_path)
    with whole_folder(tmp_path / "deep" / "folder") as folder, claimed(tmp_path / "deep" / "claimed"):
        (folder / "a").write_text("whole")
        alive = {*tmp_path.rglob("*")} - {*dead, *(path / "half" for path in dead)}
        sweep(tmp_path)
        assert {*tmp_path.rglob("*")} == alive
    assert (tmp_path / "deep" / "folder" / "a").read_text() == "whole"
