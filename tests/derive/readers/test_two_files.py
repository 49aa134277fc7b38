"""Sentence pairs of two files."""

from __future__ import annotations

from pathlib import Path

import pytest

from derive.errors import BadInput
from derive.readers.parallel import TwoFiles


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("one two\n\nthree\n", encoding="utf-8")
    target.write_text("eins\tzwei\nleer\ndrei\u00a0drei\n", encoding="utf-8")
    return source, target


def test_pairs_are_there_as_often_as_they_are_asked_for(files: tuple[Path, Path]) -> None:
    pairs = TwoFiles(*files)
    expected = [(("one", "two"), ("eins", "zwei")), ((), ("leer",)), (("three",), ("drei\u00a0drei",))]
    assert list(pairs) == list(pairs) == [pairs[1], pairs[2], pairs[3]] == expected
    assert pairs.size == 3


def test_a_file_with_more_lines_is_refused(files: tuple[Path, Path]) -> None:
    source, target = files
    target.write_text("eins\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"1 lines for the 3 of .*source"):
        TwoFiles(source, target)
