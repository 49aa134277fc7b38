import json
import re
import shutil
from math import nextafter

import pytest

from calque.analysis.report.table import Table
from tests.experiments.committed import ROOT
from tests.experiments.conftest import calque


def write(folder, records, runs):
    folder.mkdir(exist_ok=True)
    for name, rows in (("records", records), ("runs", runs)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def read(folder, name):
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]


def made(fingerprint="0123"):
    objective = {"name": "MLM", "title": "MLM"}
    languages = [{"name": "source", "title": "Source"}]
    runs = [
        {
            "id": f"seed-{n}-{fingerprint}",
            "study": "own",
            "seed": n,
            "objective": objective,
            "languages": languages,
        }
        for n in (0, 1)
    ]
    records = [
        {
            "run": run["id"],
            "measure": "ZS",
            "metric": metric,
            "value": 0.5,
            "count": 2,
            "items": {"hits": "0 1", "of": "1 1"},
        }
        for run in runs
        for metric in ("accuracy", "f1")
    ]
    return records, runs


def invoke(*words):
    code, out, err = calque("compare", *words)
    return code, (out + err).splitlines()


def compare(tmp_path, change, fingerprint="0123"):
    records, runs = made(fingerprint)
    change(records, runs)
    return invoke(write(tmp_path / "a", *made()), write(tmp_path / "b", records, runs))


def counts(*words):
    code, lines = invoke(*words, "--json")
    return code, json.loads("\n".join(lines))


@pytest.mark.parametrize(
    ("change", "equal", "said"),
    [
        (lambda records, runs: records.reverse(), 4, None),
        (
            lambda records, runs: records[0].update(value=nextafter(0.5, 1)),
            3,
            "value 0.5, not 0.5000000000000001",
        ),
        (lambda records, runs: records[1].update(count=11), 3, "count 2, not 11"),
        (
            lambda records, runs: records[1].update(items={"hits": "1 0", "of": "1 1"}),
            3,
            "items {'hits': '0 1'",
        ),
        (lambda records, runs: records.pop(), 3, "metric f1: not in "),
        (lambda records, runs: records[3].update(metric="recall"), 3, "metric recall: not in "),
        (lambda records, runs: runs[1].update(layers=3), 2, "not in "),
    ],
)
def test_every_difference_is_named(tmp_path, change, equal, said):
    code, lines = compare(tmp_path, change, "4567" if said is None else "0123")
    assert code == (said is not None)
    assert said is None or any(said in line for line in lines)
    assert counts(tmp_path / "a", tmp_path / "b")[1]["equal"] == equal


STUDY = ROOT / "xlm_align_pocket"


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(STUDY, tmp_path / "copy", ignore=shutil.ignore_patterns("figures"))


def test_record_equals_itself_with_the_printed_claims():
    code, found = counts(STUDY, STUDY)
    table = Table.of_markdown((STUDY / "claims.md").read_text())
    assert (
        code == 0 and found["claims"] == len(table.rows) and not found["changed"] and not found["not_equal"]
    )


@pytest.mark.slow
def test_swapped_objectives_change_conclusions(copy):
    runs, records = read(copy, "runs"), read(copy, "records")
    names = sorted({run["objective"]["name"] for run in runs})
    place = {(run["objective"]["name"], run["languages"][1]["name"], run["seed"]): run["id"] for run in runs}
    other = {names[0]: names[-1], names[-1]: names[0]}
    moved = {its: place[other.get(name, name), *rest] for (name, *rest), its in place.items()}
    for record in records:
        record["run"] = moved[record["run"]]
    write(copy, records, runs)
    code, found = counts(STUDY, copy)
    assert code == 1 and found["changed"] and found["differ_corrected"]
    assert any(f"{len(found['changed'])} of {found['claims']} " in line for line in invoke(STUDY, copy)[1])
    printed = {row[0]: row[1] for row in Table.of_markdown((STUDY / "claims.md").read_text()).rows}
    for claim in found["changed"]:
        assert claim["first"] == printed[claim["claim"]] != claim["second"]


def test_reused_runs_are_compared_with_themselves():
    for pair in (
        ("align_mlm_dictionary", "align_mlm_parallel"),
        ("align_mlm_parallel", "align_mlm_dictionary"),
    ):
        code, lines = invoke(*(ROOT / name for name in pair))
        assert code == 1 and ", 0 after it" in lines[1]
        assert re.search(r"Records: 258 equal", "\n".join(lines))  # ALIGN-MLM with three seeds
        assert not any("dictionary.fraction=0.25" in line and "ALIGN-MLM" in line for line in lines)
