import gzip
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.readers.lines import (
    cut_file,
    ends_line,
    read_lines,
)


def lines(path: Path, data: bytes, **options: bool) -> list[tuple[int, str]]:
    path.write_bytes(data)
    return list(read_lines(path, **options))


def test_a_cut_last_line_is_refused_where_it_must_end(tmp_path: Path) -> None:
    assert lines(tmp_path / "a", b"one\n", ended=True) == [(1, "one")]
    with pytest.raises(BadInput, match=r"a:2: .*truncated"):
        lines(tmp_path / "a", b"one\ntw", ended=True)


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
    made = list(cut_file(plain, "text", ends_line, "line end", size))
    assert sum(chunk.length for chunk in made) == len(data)
    found = [numbered for chunk in made for numbered in chunk.numbered(Counter())]
    assert found == list(read_lines(plain))
    again = list(cut_file(packed, "text", ends_line, "line end", size))
    assert [numbered for chunk in again for numbered in chunk.numbered(Counter())] == found
