import gzip
import lzma
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.readers.lines import (
    WithheldWords,
    bare_name,
    blocks,
    bytes_read,
    decode,
    ends_line,
    one_word,
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


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    assert lines(tmp_path / "a", "a\u2028b\x0bc\x85d\n".encode()) == [(1, "a\u2028b\x0bc\x85d")]


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


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        list(read_lines(tmp_path / "absent"))
    with pytest.raises(BadInput, match="is a directory"):
        list(read_lines(tmp_path))


def test_what_is_no_regular_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name, message in (
        ("pipe", "is a pipe or a device"),
        ("loop", "cannot be read: Too many levels of symbolic links"),
        ("n" * 300, "cannot be read: File name too long"),
        ("n\0n", "cannot be read: embedded null byte"),
    ):
        with pytest.raises(BadInput, match=message):
            list(read_lines(tmp_path / name))


def test_a_cut_last_line_is_refused_where_it_must_end(tmp_path: Path) -> None:
    assert lines(tmp_path / "a", b"one\n", ended=True) == [(1, "one")]
    with pytest.raises(BadInput, match=r"a:2: .*truncated"):
        lines(tmp_path / "a", b"one\ntw", ended=True)


def test_a_piece_of_a_file_reports_lines_of_the_file() -> None:
    for end, message in ((b"\xff", "byte 0xff"), (b"a\0", "a NUL byte"), (b"a\rb", "a carriage return inside a line")):
        with pytest.raises(BadInput, match=f"f:12: {message}"):
            decode(b"x\ny\n" + end, Path("f"), 10)


def test_white_space_leaves_a_word_and_is_counted() -> None:
    counts: Counter[str] = Counter()
    assert [one_word(form, counts) for form in ("20 000", "5\u00a0%", "plain")] == ["20000", "5%", "plain"]
    assert counts == {"words that lost white space": 2}


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
        assert bytes_read(file) == len(data)


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


def test_a_name_that_says_another_kind_is_told(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(TEXT)
    with pytest.raises(BadInput, match=r"has the suffix \.gz but does not start like gzip"):
        open_bytes(path)
    with pytest.raises(BadInput, match="no such file"):
        open_bytes(tmp_path / "none.gz")


def test_the_name_below_a_compression() -> None:
    assert [bare_name(Path(name)) for name in ("a.txt.gz", "a.jsonl.bz2", "a.conllu")] == [
        "a.txt",
        "a.jsonl",
        "a.conllu",
    ]


def test_a_compression_that_is_not_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "text.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x24\x05")
    with pytest.raises(BadInput, match=r"text\.zst: compressed with zstandard; expected text: decompress it first"):
        list(read_lines(path))


@pytest.mark.parametrize(("withheld", "refused"), [(0, False), (3, False), (4, True), (6, True)])
def test_a_file_with_most_of_its_words_withheld_is_refused(withheld: int, refused: bool) -> None:
    """Of six words; the first line of such words is named."""
    words = WithheldWords()
    for place in range(6):
        words.add(["_" * (1 + place) if place < withheld else "a_b"], 10 + place)
    assert (words.words, words.withheld, words.line) == (6, withheld, 10 * bool(withheld))
    if not refused:
        words.check(Path("a"))
    else:
        with pytest.raises(BadInput, match=rf"a:10: {withheld} of 6 words are _"):
            words.check(Path("a"))
