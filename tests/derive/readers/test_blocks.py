"""Blocks of whole records, wherever a file is cut."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import BadInput
from derive.readers.lines import blocks, ends_line


@given(
    lines=st.lists(st.text("ab ", max_size=9), min_size=1, max_size=30), size=st.integers(1, 60), whole=st.booleans()
)
def test_blocks_are_the_file_and_end_with_a_record(
    lines: list[str], size: int, whole: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = "\n".join([*lines, ""] if whole else [*lines, "end"]).encode()
    folder = tmp_path_factory.mktemp("blocks")
    plain, packed = folder / "text", folder / "text.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    made = list(blocks(plain, ends_line, "line end", size))
    assert b"".join(block.data for block in made) == data
    assert all(block.data.endswith(b"\n") for block in made[:-1])
    for block in made:
        assert block.line == 1 + data[: block.offset].count(b"\n")
        assert data[block.offset :].startswith(block.data)
    assert sum(block.size for block in made) == len(data)
    again = list(blocks(packed, ends_line, "line end", size))
    assert [(b.line, b.offset, b.data) for b in again] == [(b.line, b.offset, b.data) for b in made]


def test_a_record_without_an_end_is_told(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"one\n" + b"x" * (3 << 20))
    with pytest.raises(BadInput, match=r"text:1: no line end within 1 MiB"):
        list(blocks(path, ends_line, "line end", 10, 1 << 20))
