import json
import shutil
from dataclasses import replace
from math import nextafter

import pytest

from calque.analysis.records.json_rows import as_json
from calque.analysis.records.record import Items
from calque.experiments.report.comparison import compare_reports
from calque.experiments.report.folder import read_table
from tests.analysis.runs import number
from tests.analysis.runs import runs as runs_of
from tests.experiments.committed import ROOT
from tests.experiments.conftest import calque, refused


def write(folder, records, runs):
    folder.mkdir(exist_ok=True)
    for name, rows in (("records", records), ("runs", runs)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def read(folder, name):
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]


def made(fingerprint="0123"):
    made = [
        replace(number("trans", "MLM", n, "ZS", "pos", metric, 0.5, 2), items=Items("0 1", "1 1"))
        for n in (0, 1)
        for metric in ("accuracy", "f1")
    ]
    records, runs = map(as_json, made), map(as_json, runs_of(made))
    return (
        [{**row, "run": f"{row['run']} {fingerprint}"} for row in records],
        [{**row, "id": f"{row['id']} {fingerprint}"} for row in runs],
    )


def invoke(*words):
    code, out, err = calque("compare", *words)
    return code, (out + err).splitlines()


def compare(tmp_path, change, fingerprint="0123"):
    records, runs = made(fingerprint)
    change(records, runs)
    return invoke(write(tmp_path / "a", *made()), write(tmp_path / "b", records, runs))


@pytest.mark.parametrize(
    ("change", "equal", "said"),
    [
        (lambda records, runs: records.reverse(), 4, None),
        (
            lambda records, runs: records[0].update(value=nextafter(0.5, 1)),
            3,
            "seed 0, measure ZS, metric accuracy, language trans, task pos: 0.5 and 0.5000000000000001",
        ),
        (
            lambda records, runs: records[1].update(count=11),
            3,
            "metric f1, language trans, task pos: 0.5 in both, but different count",
        ),
        (
            lambda records, runs: records[1].update(items={"hits": "1 0", "of": "1 1"}),
            3,
            "0.5 in both, but different items",
        ),
        (lambda records, runs: records.pop(), 3, "metric f1"),
        (lambda records, runs: records[3].update(metric="recall"), 3, "metric recall"),
        (lambda records, runs: runs[1].update(layers=3), 2, "only in "),
    ],
)
def test_every_difference_is_named(tmp_path, change, equal, said):
    code, lines = compare(tmp_path, change, "4567" if said is None else "0123")
    assert code == (said is not None)
    assert said is None or any(said in line for line in lines)
    assert f"Records: {equal} equal, " in "\n".join(lines)


def test_repeated_records_and_unknown_kinds_of_report_are_errors(tmp_path):
    code, lines = compare(tmp_path, lambda records, runs: records.append(records[0]))
    assert code == 2 and lines[0].startswith(f"calque: error: {tmp_path / 'b'}: ")
    (tmp_path / "a" / "about.json").write_text('{"report": "nature"}')
    assert "no kind of report is called 'nature'" in refused("compare", tmp_path / "a", tmp_path / "a")


STUDY = ROOT / "xlm_align_pocket"


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(STUDY, tmp_path / "copy", ignore=shutil.ignore_patterns("figures"))


def test_record_equals_itself_with_the_printed_claims():
    found = compare_reports(STUDY, STUDY)
    assert len(found.claims) == len(read_table(STUDY, "claims").rows)
    assert invoke(STUDY, STUDY)[0] == 0 and not found.changed and not found.different


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
    found, (code, lines) = compare_reports(STUDY, copy), invoke(STUDY, copy)
    assert code == 1 and found.changed
    assert f"{len(found.changed)} of {len(found.claims)} " in lines[0]
    printed = {row[0]: row[1] for row in read_table(STUDY, "claims").rows}
    for claim, (here, there) in found.changed.items():
        assert here == printed[claim] != there


@pytest.mark.parametrize("path", sorted(ROOT.glob("control/*.md")), ids=lambda path: path.stem)
def test_every_table_is_saved_as_latex(path, tmp_path):
    rows = sum(line.startswith("|") for line in path.read_text().split("\n")) - 2
    read_table(path.parent, path.stem).save(tmp_path, "table")
    latex = (tmp_path / "table.tex").read_text()
    assert sum(line.endswith(r"\\") for line in latex.splitlines()) == rows + 1
    assert latex.isascii() or not set(latex) & set("±Δ−–ρ")
