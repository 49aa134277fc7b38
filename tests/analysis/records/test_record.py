"""Records: what is written is read again, and nothing else is accepted."""

from __future__ import annotations

import json
import resource
import signal
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records.record import Record, append, read
from derive.errors import BadInput

RECORD = Record("pocket", "trans-MLM-0-abc", "trans", "MLM", 0, "ZS", "pos", "accuracy", 0.5, 100, 3000)
records = st.builds(
    Record,
    *[st.text(st.characters(exclude_categories=["Cs"]), max_size=5)] * 4,
    st.integers(0, 99),
    *[st.text("abc", max_size=3)] * 3,
    st.floats(-1, 1),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
)


@given(st.lists(records, max_size=4), st.lists(records, max_size=4))
def test_what_is_appended_is_read(
    tmp_path_factory: pytest.TempPathFactory, first: list[Record], more: list[Record]
) -> None:
    path = tmp_path_factory.mktemp("records") / "deep" / "records.jsonl"
    append(path, first)
    append(path, more)
    assert read(path) == first + more


def test_a_value_that_is_no_number_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        append(tmp_path / "r.jsonl", [RECORD, replace(RECORD, value=float("nan"))])
    assert not (tmp_path / "r.jsonl").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "0.5"}, "value should be a finite float"),
        ({"value": True}, "value should be a finite float"),
        ({"value": float("inf")}, "value should be a finite float"),
        ({"seed": 0.0}, "seed should be a int"),
        ({"task": None}, "task should be a str"),
        ({"extra": 1}, "unknown extra"),
    ],
)
def test_a_wrong_field_is_refused_with_its_line(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "r.jsonl"
    append(path, [RECORD])
    with path.open("a") as file:
        file.write(json.dumps(asdict(RECORD) | change) + "\n")
    with pytest.raises(BadInput, match=f"r.jsonl:2: .*{message}"):
        read(path)


@pytest.mark.parametrize(
    ("row", "message"),
    [("[1]", "found list"), ('{"value": 1', "one JSON object a line"), ("{}", "missing count"), ("", "JSON object")],
)
def test_a_row_that_is_no_record_is_refused(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "r.jsonl").write_text(row + "\n")
    with pytest.raises(BadInput, match=f"r.jsonl:1: .*{message}"):
        read(tmp_path / "r.jsonl")


def test_missing_and_binary_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        read(tmp_path / "none.jsonl")
    (tmp_path / "b.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="UTF-8"):
        read(tmp_path / "b.jsonl")


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    append(tmp_path / "r.jsonl", [RECORD, RECORD])
    (tmp_path / "r.jsonl").write_bytes((tmp_path / "r.jsonl").read_bytes()[:-1])
    with pytest.raises(BadInput, match=r"r.jsonl:2: .*truncated"):
        read(tmp_path / "r.jsonl")


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    append(path, [RECORD])
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 50, limits[1]))
        with pytest.raises(OSError, match="File too large"):
            append(path, [RECORD] * 3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
