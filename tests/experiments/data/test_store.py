"""What is there of a recipe, by its digests and by those of the lock file."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from derive.errors import BadInput
from experiments.data.recipe import LOCK, Download, Output
from experiments.data.store import Placed, State, Store

TEXT = b"some text\n"
DIGEST = hashlib.sha256(TEXT).hexdigest()
DOWNLOAD = Download("https://x.org/f", (Output("a"),), "none", "https://x.org", "this test")


@pytest.mark.parametrize(
    ("output", "state"),
    [
        (Output("a"), State.UNKNOWN),
        (Output("a", bytes=len(TEXT)), State.UNKNOWN),
        (Output("a", bytes=len(TEXT) + 1), State.ALTERED),
        (Output("a", sha256=DIGEST), State.THERE),
        (Output("a", bytes=len(TEXT), sha256=DIGEST), State.THERE),
        (Output("a", sha256=DIGEST[::-1]), State.ALTERED),
        (Output("b"), State.MISSING),
        (Output("a/b"), State.MISSING),
        (Output("folder"), State.ALTERED),
        (Output("folder/a"), State.MISSING),
    ],
)
def test_a_file_is_held_against_the_recipe(output: Output, state: State, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(TEXT)
    (tmp_path / "folder").mkdir()
    assert Store(tmp_path).state(output) is state


def test_a_file_is_held_against_the_lock_file(tmp_path: Path) -> None:
    path, output = tmp_path / "a", Output("a")
    path.write_bytes(TEXT)
    Store(tmp_path).remember(DOWNLOAD, DIGEST, {"a": Placed.of(path)})
    assert Store(tmp_path).state(output) is State.THERE
    assert Store(tmp_path).seen(DOWNLOAD) == DIGEST
    path.touch()  # another time, the same bytes
    assert Store(tmp_path).state(output) is State.THERE
    path.write_bytes(TEXT.upper())
    assert Store(tmp_path).state(output) is State.ALTERED
    assert Store(tmp_path).state(Output("a", sha256=hashlib.sha256(TEXT.upper()).hexdigest())) is State.THERE
    path.unlink()
    assert Store(tmp_path).state(output) is State.MISSING


def test_size_and_time_stand_for_a_digest_that_was_seen(tmp_path: Path) -> None:
    """A file is not read again while they stay; another digest in the recipe is believed over that."""
    path = tmp_path / "a"
    path.write_bytes(TEXT)
    known = Placed.of(path)
    Store(tmp_path).remember(DOWNLOAD, DIGEST, {"a": known})
    path.write_bytes(TEXT.upper())
    os.utime(path, ns=(known.changed, known.changed))
    assert Store(tmp_path).state(Output("a")) is State.THERE
    assert Store(tmp_path).state(Output("a", sha256=DIGEST[::-1])) is State.ALTERED


def test_a_damaged_lock_file_is_refused(tmp_path: Path) -> None:
    Store(tmp_path).remember(DOWNLOAD, DIGEST, {})
    text = (tmp_path / LOCK).read_text(encoding="utf-8")
    for damaged in (text.replace(DIGEST, DIGEST[::-1]), text[:-5], "{}\n"):
        (tmp_path / LOCK).write_text(damaged, encoding="utf-8")
        with pytest.raises(BadInput, match=LOCK):
            Store(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("", encoding="utf-8")
    with pytest.raises(BadInput, match="is a file; expected the data folder"):
        Store(tmp_path / "data")
