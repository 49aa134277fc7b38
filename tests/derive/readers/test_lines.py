import gzip
import lzma
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.readers.lines import (
    cut_file,
    ends_line,
    open_bytes,
    read_lines,
    tokens,
)


def lines(path: Path, data: bytes, **options: bool) -> list[tuple[int, str]]:
    path.write_bytes(data)
    return list(read_lines(path, **options))


def test_lines_are_numbered_from_one_and_lose_their_ends(tmp_path: Path) -> None:
    assert lines(tmp_path / "a", b"one\n\ntwo") == [(1, "one"), (2, ""), (3, "two")]


def test_crlf_and_a_byte_order_mark_leave_nothing_behind(tmp_path: Path) -> None:
    assert lines(tmp_path / "a", b"\xef\xbb\xbfone\r\ntwo\r\n") == [(1, "one"), (2, "two")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"fine\nbad \xff\n", r"a:2: byte 0xff is not UTF-8"),
        ("naïve\n".encode("latin-1"), r"a:1: byte 0xef is not UTF-8"),
        (b"cut in a letter\n\xc3", r"a:2: .*unexpected end of data"),
        ("text\n".encode("utf-16"), r"a:1: UTF-16"),
        (b"one\ntwo\n\x89PNG\0\n", r"a:3: a NUL byte"),
        (b"one\ntwo\rthree\n", r"a:2: a carriage return inside a line"),
        (b"", r"a: is empty"),
    ],
)
def test_what_is_not_text_is_refused_with_its_line(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        lines(tmp_path / "a", data)


def test_a_cut_last_line_is_refused_where_it_must_end(tmp_path: Path) -> None:
    assert lines(tmp_path / "a", b"one\n", ended=True) == [(1, "one")]
    with pytest.raises(BadInput, match=r"a:2: .*truncated"):
        lines(tmp_path / "a", b"one\ntw", ended=True)


def test_only_spaces_and_tabs_part_tokens() -> None:
    assert tokens(" a  b\tc\t ") == ["a", "b", "c"]
    assert tokens("\u3000 1\u00a0000 \u2009x") == ["\u3000", "1\u00a0000", "\u2009x"]
    assert tokens(" \t ") == []


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


TEXT = "".join(f"línea {i}\n" for i in range(20_000)).encode()

COMPRESS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("name", ["text{}", "text.txt"])
def test_a_compressed_file_is_read_as_what_is_in_it(suffix: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name.format(suffix)  # what is in it tells, too
    data = COMPRESS[suffix](TEXT[:1000]) + COMPRESS[suffix](TEXT[1000:])  # one after the other, as bgzip has them
    path.write_bytes(data)
    with open_bytes(path) as file:
        assert file.readline() + file.read() == TEXT


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_cut_or_damaged_file_is_told(suffix: str, tmp_path: Path) -> None:
    path, data = tmp_path / f"text{suffix}", COMPRESS[suffix](TEXT)
    for cut in (len(data) - 1, len(data) // 2, 20):
        path.write_bytes(data[:cut])
        with pytest.raises(BadInput, match=rf"text{suffix}: truncated "), open_bytes(path) as file:
            file.read()
    path.write_bytes(data[: len(data) // 2] + b"\xff" * 64 + data[len(data) // 2 + 64 :])
    with pytest.raises(BadInput, match=rf"text{suffix}: damaged "), open_bytes(path) as file:
        file.read()
