"""Digests of large files are computed once, and never for a file that has changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from derive import digests
from derive.digests import LARGE, REMEMBERED, digest, remembering
from derive.files import sha256


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file whose digest is really computed."""
    seen: list[Path] = []

    def counting(path: Path) -> str:
        seen.append(path)
        return sha256(path)

    monkeypatch.setattr(digests, "sha256", counting)
    return seen


def write(path: Path, text: bytes, age: float = 60.0) -> Path:
    path.write_bytes(text * (LARGE // len(text) + 1))
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_a_large_file_is_read_once(tmp_path: Path, computed: list[Path]) -> None:
    path = write(tmp_path / "a", b"calque")
    for _ in range(3):
        with remembering(tmp_path / "cache"):
            assert digest(path) == sha256(path)
    assert computed == [path]
    assert digest(path) == sha256(path)  # outside nothing is remembered
    assert len(computed) == 2


def test_a_changed_file_is_read_again(tmp_path: Path, computed: list[Path]) -> None:
    path = write(tmp_path / "a", b"calque")
    with remembering(tmp_path / "cache"):
        digest(path)
        for number, change in enumerate((b"kalque", b"calque!"), start=1):
            write(path, change, age=60 - number)
            assert digest(path) == sha256(path)
    assert len(computed) == 3


def test_a_file_that_was_changed_just_now_is_not_trusted(tmp_path: Path, computed: list[Path]) -> None:
    path = write(tmp_path / "a", b"calque", age=0)
    with remembering(tmp_path / "cache"):
        assert digest(path) == digest(path) == sha256(path)
    assert len(computed) == 2


def test_small_files_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("small")
    with remembering(tmp_path / "cache"):
        assert digest(tmp_path / "a") == sha256(tmp_path / "a")
    assert not (tmp_path / "cache").exists()


def test_a_damaged_memory_is_made_again(tmp_path: Path, computed: list[Path]) -> None:
    path = write(tmp_path / "a", b"calque")
    with remembering(tmp_path / "cache"):
        digest(path)
        memory = tmp_path / "cache" / REMEMBERED
        memory.write_text(memory.read_text().replace(sha256(path)[:8], "00000000"))
        assert digest(path) == sha256(path)
    assert len(computed) == 2
