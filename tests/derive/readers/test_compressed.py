"""Compressed files read like plain ones, and refused where they are cut short or no such files."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from derive.errors import BadInput
from derive.readers.compressed import bare_name, bytes_read, open_bytes
from derive.readers.lines import read_lines

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
        with pytest.raises(BadInput, match=rf"text{suffix}: .* that is cut short"), open_bytes(path) as file:
            file.read()
    path.write_bytes(data[: len(data) // 2] + b"\xff" * 64 + data[len(data) // 2 + 64 :])
    with pytest.raises(BadInput, match=rf"text{suffix}: damaged "), open_bytes(path) as file:
        file.read()


def test_a_name_that_says_another_kind_is_told(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(TEXT)
    with pytest.raises(BadInput, match=r"named \.gz, but it does not begin as gzip does"):
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
