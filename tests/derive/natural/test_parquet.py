"""Text in Parquet files."""

import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.derive.natural.files import TextFiles

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pyarrow")


def written(path: Path, columns: dict[str, object], rows: int = 3) -> Path:
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), path, row_group_size=rows)
    return path


def test_a_column_is_text_in_the_order_of_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"Sentence {i}.\nAnd one more." for i in range(10)]
    column = pa.array([*texts, None, " ", "私"]).dictionary_encode()
    files = TextFiles((written(tmp_path / "a.parquet", {"id": range(13), "body": column}),), "body")
    monkeypatch.setattr(import_module("calque.derive.natural.parquet"), "ROWS", 2)
    for size in (1 << 22, 40):
        monkeypatch.setattr(import_module("calque.derive.natural.parquet"), "SIZE", size)
        pieces, left_out = list(files.pieces()), Counter[str]()
        lines = [line for piece in pieces for line in piece.columns(left_out)[0]]
        assert lines == [*"\n".join(texts).split("\n"), "私"]
        assert +left_out == {"rows without text": 1, "blank lines": 1}
        assert sum(piece.size for piece in pieces) == files.size and pieces[0].offset == 0
    offsets = [piece.offset for piece in pieces]
    assert len(pieces) > 4 and offsets == sorted(set(offsets))


def test_a_column_that_is_not_there_or_no_text_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", {"id": [1, 2], "body": ["a", "b"]})
    with pytest.raises(BadInput, match=r"a\.parquet: no column 'text'; there are id, body"):
        list(TextFiles((path,)).pieces())
    with pytest.raises(BadInput, match=r"column 'id' holds int64; expected text"):
        list(TextFiles((path,), "id").pieces())
    from pyarrow import parquet

    once = parquet.read_table(path)
    parquet.write_table(once.rename_columns(["body", "body"]), path)
    with pytest.raises(BadInput, match=r"several columns 'body'; expected one"):
        list(TextFiles((path,), "body").pieces())
    parquet.write_table(once, path, compression="none", use_dictionary=False)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"\1\0\0\0b", b"\1\0\0\0\xff"))
    with pytest.raises(BadInput, match=r"a\.parquet: damaged Parquet: 'utf-8' codec"):
        list(TextFiles((path,), "body").pieces())
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(BadInput, match=r"a\.parquet: damaged Parquet"):
        list(TextFiles((path,), "body").pieces())
    path.write_text("plain text", encoding="utf-8")
    with pytest.raises(BadInput, match=r"has the suffix \.parquet of Parquet but starts like plain text"):
        list(TextFiles((path,), "body").pieces())


def test_text_with_a_nul_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", {"text": ["a", None, "b\0c"]})
    with pytest.raises(BadInput, match=r"a\.parquet: 'text' contains a NUL"):
        list(TextFiles((path,)).pieces())


def test_every_type_of_text_is_read(tmp_path: Path) -> None:
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        path = written(tmp_path / "a.parquet", {"text": pa.array(["a", "b"], kind)})
        assert [piece.columns(Counter())[0] for piece in TextFiles((path,)).pieces()] == [["a", "b"]]


def test_without_pyarrow_the_command_that_installs_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.parquet", {"text": ["a", "b"]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput, match=r"needs pyarrow: pip install pyarrow"):
        list(TextFiles((path,)).pieces())
