"""`calque compare`: equal to the last digit, or what is not, and in which field."""

import json
from collections.abc import Callable
from math import nextafter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from calque.experiments.cli import app

Rows = list[dict[str, Any]]


def write(folder: Path, records: Rows, runs: Rows) -> Path:
    folder.mkdir()
    for name, rows in (("records", records), ("runs", runs)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def made(fingerprint: str = "0123") -> tuple[Rows, Rows]:
    runs = [{"id": f"seed-{seed}-{fingerprint}", "seed": seed, "objective": {"name": "MLM"}} for seed in (0, 1)]
    records = [
        {
            "run": run["id"],
            "measure": "ZS",
            "metric": metric,
            "value": 0.1 + 0.2 * run["seed"],
            "count": 10,
            "items": {"hits": "0 1", "of": "1 1"},
        }
        for run in runs
        for metric in ("accuracy", "f1")
    ]
    return records, runs


def compare(tmp_path: Path, change: Callable[[Rows, Rows], object], fingerprint: str = "0123") -> tuple[int, list[str]]:
    """Exit code and lines, for records and the same ones after a change."""
    records, runs = made(fingerprint)
    change(records, runs)
    first, second = write(tmp_path / "a", *made()), write(tmp_path / "b", records, runs)
    ran = CliRunner().invoke(app, ["compare", str(first), str(second)])
    return ran.exit_code, (ran.stdout + ran.stderr).splitlines()


def test_the_order_of_rows_and_the_names_of_runs_do_not_matter(tmp_path: Path) -> None:
    assert compare(tmp_path, lambda records, runs: records.reverse(), "4567") == (0, ["4 equal, 0 not"])


@pytest.mark.parametrize(
    ("change", "equal", "said"),
    [
        (lambda records, runs: None, 4, None),
        (lambda records, runs: records[0].update(value=nextafter(0.1, 1)), 3, "value 0.1, not 0.1000000000000000"),
        (lambda records, runs: records[2].update(value=0.3), 3, "value 0.30000000000000004, not 0.3"),
        (lambda records, runs: records[1].update(count=11), 3, "count 10, not 11"),
        (lambda records, runs: records[1].update(items={"hits": "1 0", "of": "1 1"}), 3, "items {'hits': '0 1'"),
        (lambda records, runs: records.pop(), 3, "metric f1: not in "),
        (lambda records, runs: records[3].update(metric="recall"), 3, "metric recall: not in "),
        (lambda records, runs: runs[1]["objective"].update(name="XLM"), 2, "not in "),
    ],
)
def test_every_difference_is_named(
    tmp_path: Path, change: Callable[[Rows, Rows], object], equal: int, said: str | None
) -> None:
    code, lines = compare(tmp_path, change)
    assert lines[-1].startswith(f"{equal} equal, ")
    assert code == (said is not None) == ("0 not" not in lines[-1])
    assert said is None or any(said in line for line in lines[:-1])


def test_records_of_a_version_without_items_are_compared_by_their_numbers(tmp_path: Path) -> None:
    def drop(records: Rows, runs: Rows) -> None:
        for record in records[1:]:
            del record["items"]

    code, lines = compare(tmp_path, drop)
    assert (code, lines[1]) == (0, "4 equal, 0 not")
    assert lines[0] == "items of 3 records are in one of the two only, and are not compared"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda records, runs: records.append(records[0]), "records.jsonl:5: two records of one number"),
        (lambda records, runs: runs.pop(), "records.jsonl:3: no run in runs.jsonl is called 'seed-1-0123'"),
        (lambda records, runs: records.append([]), "records.jsonl:5: expected a JSON object"),
        (lambda records, runs: records.clear(), "records.jsonl: no record in it"),
        (lambda records, runs: records[1].update(run=["seed-0-0123"]), "records.jsonl:2: no run in runs.jsonl is"),
        (lambda records, runs: runs.append({}), "runs.jsonl:3: a run without an id"),
        (lambda records, runs: runs.append({"id": {}}), "runs.jsonl:3: a run without an id"),
        (lambda records, runs: runs.append({"id": "seed-0-0123"}), "runs.jsonl:3: two runs are called 'seed-0-0123'"),
    ],
)
def test_what_is_no_report_is_one_line(tmp_path: Path, change: Callable[[Rows, Rows], object], said: str) -> None:
    code, lines = compare(tmp_path, change)
    assert (code, len(lines)) == (2, 1)
    assert said in lines[0]


def test_without_records_one_line(tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, ["compare", str(tmp_path), str(tmp_path / "none")])
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    assert "expected the folder of a report" in ran.stderr


def test_reports_that_have_no_record_in_common_are_not_listed_against_each_other(tmp_path: Path) -> None:
    def another_study(records: Rows, runs: Rows) -> None:
        for run in runs:
            run["study"] = "another"

    code, lines = compare(tmp_path, another_study)
    assert (code, len(lines)) == (2, 1)
    assert lines[0].endswith("too: nothing can be compared")
