"""Rows of JSON: what is written is read again, and nothing else is accepted."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.records.json_rows import as_json, read, write
from calque.analysis.records.record import Items, LinkCounts, Record
from calque.analysis.records.run import Described, Run, Start
from calque.derive.errors import BadInput

RECORD = Record("run-0", "ZS", "accuracy", 0.5, 100, language="trans", task="pos", step=3000)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
counts = st.integers(0, 10**9)
records = st.builds(
    Record,
    run=words,
    measure=words,
    metric=words,
    value=st.floats(-1, 1),
    count=counts,
    language=words,
    task=words,
    layer=st.none() | st.integers(0, 99),
    joint=st.booleans(),
    step=counts,
    gold_set=words,
    links=st.none() | st.builds(LinkCounts, *[counts] * 5),
    items=st.none() | st.lists(st.integers(0, 9), max_size=9).map(lambda hits: Items.over(hits, [9] * len(hits))),
)
plain = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1, 1) | words
described = st.builds(
    Described, words, words, st.lists(st.dictionaries(words, plain, max_size=3), max_size=3).map(tuple)
)
runs = st.builds(
    Run,
    id=words,
    study=words,
    seed=counts,
    languages=st.lists(described, max_size=3).map(tuple),
    objective=st.none() | described,
    start=st.none() | st.builds(Start, described, st.floats(0, 1)),
    layers=counts,
    main_layer=counts,
    settings=st.dictionaries(words, words, max_size=2),
)


def test_what_has_its_default_is_not_written_and_need_not_be_there() -> None:
    """Records are older than some of their fields."""
    bare = Run("a", "pocket", 0, ())
    assert as_json(bare) == {"id": "a", "study": "pocket", "seed": 0, "languages": []}
    assert as_json(replace(bare, settings={"train.steps": "4"}))["settings"] == {"train.steps": "4"}


@given(st.lists(records, max_size=4), st.lists(runs, max_size=3))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, some: list[Record], made: list[Run]) -> None:
    folder = tmp_path_factory.mktemp("records") / "deep"
    write(folder / "records.jsonl", some)
    write(folder / "runs.jsonl", made)
    assert read(folder / "records.jsonl", Record) == some
    assert read(folder / "runs.jsonl", Run) == made


def test_what_has_its_default_is_not_written() -> None:
    assert as_json(RECORD).keys() == {"run", "measure", "metric", "value", "count", "language", "task", "step"}
    assert as_json(replace(RECORD, layer=0))["layer"] == 0


def test_what_a_row_leaves_out_does_not_apply(tmp_path: Path) -> None:
    """Files have no field that has its default: another default would change what they say."""
    record, run = (
        {"run": "r", "measure": "ZS", "metric": "f1", "value": 1, "count": 2},
        {"id": "r", "study": "s", "seed": 0},
    )
    for name, row in (("records", record), ("runs", run | {"languages": []})):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    (found,), (made,) = read(tmp_path / "records.jsonl", Record), read(tmp_path / "runs.jsonl", Run)
    assert (found.language, found.task, found.layer, found.joint, found.step) == ("", "", None, False, 0)
    assert (found.links, found.items) == (None, None)
    assert (made.objective, made.start, made.layers, made.main_layer) == (None, None, 0, 0)


def test_letters_are_written_as_they_are(tmp_path: Path) -> None:
    write(tmp_path / "r.jsonl", [replace(RECORD, task="Türkçe−Δ")])
    assert "Türkçe−Δ" in (tmp_path / "r.jsonl").read_text(encoding="utf-8")


def test_a_value_that_is_no_number_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="a number is not finite, so nothing was written"):
        write(tmp_path / "r.jsonl", [RECORD, replace(RECORD, value=float("nan"))])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "0.5"}, "value should be a finite float"),
        ({"value": True}, "value should be a finite float"),
        ({"count": 0.0}, "count should be a int"),
        ({"layer": "1"}, "layer should be a int"),
        ({"joint": 1}, "joint should be a bool"),
        ({"task": None}, "task should be a str"),
        ({"links": {"pairs": 1, "predicted": 1, "sure": 1, "found_sure": 1, "found_possible": "x"}}, "found_possible"),
        ({"links": [1]}, "expected a JSON object, found list"),
        ({"items": {"hits": "1"}}, "the fields of a Items: missing of"),
        ({"extra": 1}, "unknown extra"),
    ],
)
def test_a_wrong_field_is_refused_with_its_line(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "r.jsonl"
    write(path, [RECORD])
    with path.open("a") as file:
        file.write(json.dumps(as_json(RECORD) | change) + "\n")
    with pytest.raises(BadInput, match=f"r.jsonl:2: .*{message}"):
        read(path, Record)


def test_a_wrong_language_of_a_run_is_refused(tmp_path: Path) -> None:
    row = {"id": "a", "study": "b", "seed": 0, "languages": [{"name": "c", "title": 1}]}
    (tmp_path / "r.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(BadInput, match=r"r\.jsonl:1: .*: title should be a str"):
        read(tmp_path / "r.jsonl", Run)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("[1]", "found list"),
        ('{"value": 1', "one JSON object per line"),
        ("{}", "missing count"),
        ("", "one JSON object per line"),
        ('{"value": Infinity}', "not a JSON number"),
        ('{"count": ' + "9" * 5000 + "}", "one JSON object per line"),
        ("[" * 100_000, "nested too deeply"),
        ('{"value": 1, "value": 2}', "twice"),
    ],
)
def test_a_row_that_is_no_record_is_refused(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "r.jsonl").write_text(row + "\n")
    with pytest.raises(BadInput, match=f"r.jsonl:1: .*{message}"):
        read(tmp_path / "r.jsonl", Record)


def test_missing_and_binary_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        read(tmp_path / "none.jsonl", Record)
    (tmp_path / "b.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="UTF-8"):
        read(tmp_path / "b.jsonl", Record)
    with pytest.raises(BadInput, match="expected a file of JSON lines"):
        read(tmp_path, Record)


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "r.jsonl", [RECORD, RECORD])
    (tmp_path / "r.jsonl").write_bytes((tmp_path / "r.jsonl").read_bytes()[:-1])
    with pytest.raises(BadInput, match=r"r.jsonl:2: .*truncated"):
        read(tmp_path / "r.jsonl", Record)
