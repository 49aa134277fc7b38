import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.records.aer import LinkCounts
from calque.analysis.records.json_rows import as_json, read, write
from calque.analysis.records.record import DELTA, Described, Items, Record, Run, Start
from calque.derive.errors import BadInput

RECORD = Record("run-0", "ZS", "accuracy", 0.5, 100, language="trans", task="pos", step=3000)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
counts = st.integers(0, 10**9)
items = st.lists(st.integers(0, 9), max_size=9).map(lambda hits: Items.over(hits, [9] * len(hits)))
records = st.builds(
    Record,
    run=words,
    measure=words,
    metric=words,
    value=st.floats(-1, 1),
    count=counts,
    language=words,
    layer=st.none() | st.integers(0, 99),
    joint=st.booleans(),
    links=st.none() | st.builds(LinkCounts, *[counts] * 5),
    items=st.none() | items,
)
plain = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1, 1) | words
parts = st.lists(st.dictionaries(words, plain, max_size=3), max_size=3).map(tuple)
described = st.builds(Described, words, words, parts)
runs = st.builds(
    Run,
    id=words,
    study=words,
    seed=counts,
    languages=st.lists(described, max_size=3).map(tuple),
    objective=st.none() | described,
    start=st.none() | st.builds(Start, described, st.floats(0, 1)),
    settings=st.dictionaries(words, words, max_size=2),
)


@given(st.lists(records, max_size=4), st.lists(runs, max_size=3))
def test_rows_are_read_as_written(tmp_path_factory, some, others):
    folder = tmp_path_factory.mktemp("records") / "deep"
    write(folder / "records.jsonl", some)
    write(folder / "runs.jsonl", others)
    assert read(folder / "records.jsonl", Record) == some
    assert read(folder / "runs.jsonl", Run) == others


def changed(**fields):
    return json.dumps(as_json(RECORD) | fields)


@pytest.mark.parametrize(
    ("row", "names"),
    [
        (changed(value="0.5"), "value"),
        (changed(value=10**400), "value should be a finite float"),
        (changed(count=0.0), "count"),
        (changed(layer="1"), "layer"),
        (changed(links={"pairs": 1, "found_possible": "x"}), "found_possible"),
        (changed(items={"hits": "1"}), "missing fields: of"),
        (changed(items={"hits": "1*2", "of": "1"}), "2 items"),
        (changed(items={"hits": "1 x", "of": "1 2"}), "'x'"),
        (changed(items={"hits": "9" * 5_000, "of": "1"}), "999"),
        (changed(items={"hits": "1*10000001", "of": "1*10000001"}), "not '1.10000001'"),
        (changed(extra=1), "extra"),
        ("", "JSON"),
        ('{"value": Infinity}', "JSON"),
        ('{"count": ' + "9" * 5000 + "}", "JSON"),
        ("[" * 100_000, "nested"),
    ],
)
def test_wrong_rows_are_rejected_with_their_line(tmp_path, row, names):
    (tmp_path / "r.jsonl").write_text(f"{changed()}\n{row}\n")
    with pytest.raises(BadInput, match=f"r.jsonl:2: .*{names}"):
        read(tmp_path / "r.jsonl", Record)


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=40))
def test_items_are_read_as_written(pairs):
    hits, of = [a for a, _ in pairs], [b for _, b in pairs]
    found = Items.over(hits, of)
    assert found.numbers == (hits, of) and found.ratio == (sum(hits) / sum(of) if sum(of) else None)
    assert Items.over([3, 4, 4], [9, 9, 9]) == Items("3 4*2", "9*3")


@pytest.mark.parametrize(
    ("measure", "within", "outside"), [("ZS", (0.0, 1.0), (-0.01, 1.01)), (DELTA, (-1.0, 1.0), (-1.01, 1.01))]
)
def test_values_outside_a_measures_limits_are_rejected(measure, within, outside):
    for value in within:
        Record("run", measure, "metric", value, count=1).check()
    for value in outside:
        with pytest.raises(ValueError, match="should be from"):
            Record("run", measure, "metric", value, count=1).check()


def test_impossible_units_are_rejected():
    with pytest.raises(ValueError, match="should"):
        Record("run", "ZS", "accuracy", 0.5, count=1, units="lines").check()
