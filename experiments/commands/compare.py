"""`calque compare`: whether two reports have the same records, to the last digit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from calque.analysis.records import json_rows
from calque.analysis.records.record import RECORDS
from calque.analysis.records.run import RUNS
from calque.derive import strict_json
from calque.derive.errors import BadInput

SHOWN = 20  # differences that are listed; the others are counted
ITEMS = "items"
MEASURED = ("value", "count", "null", ITEMS)
"""The measured fields of a record; the others say what of which run. Older records have no items."""


def compare(
    first: Annotated[Path, typer.Argument(help="A folder with records.jsonl and runs.jsonl: a report, or a record.")],
    second: Annotated[Path, typer.Argument(help="The folder to compare it with.")],
) -> None:
    """Compare the records of two reports, field by field; exit code 1 if any differs or is missing."""
    equal, different, without_items = agreement(first, second)
    for line in different[:SHOWN]:
        typer.echo(line)
    if len(different) > SHOWN:
        typer.echo(f"... and {len(different) - SHOWN:,} more")
    if without_items:
        typer.echo(f"items of {without_items:,} records are in one of the two only, and are not compared")
    typer.echo(f"{equal:,} equal, {len(different):,} not")
    if different:
        raise typer.Exit(1)


def agreement(first: Path, second: Path) -> tuple[int, list[str], int]:
    """How many records of two folders are equal in every field, a line for each other, and how many lack items in one.

    A number is equal only to the last digit. Runs are identified by their configuration, not by their names, which hold
    fingerprints.
    """
    ours, theirs = _read(first), _read(second)
    common = ours.keys() & theirs.keys()
    if not common:
        raise BadInput(f"no record in it is of a run that {second} has too: nothing can be compared", first)
    different = [f"{_title(ours[key])}: not in {second}" for key in ours.keys() - common]
    different += [f"{_title(theirs[key])}: not in {first}" for key in theirs.keys() - common]
    equal = without_items = 0
    for a, b in ((ours[key], theirs[key]) for key in common):
        unequal = [field for field in MEASURED if a.get(field) != b.get(field)]
        one_has_items = (a.get(ITEMS) is None) != (b.get(ITEMS) is None)
        fields = [field for field in unequal if field != ITEMS or not one_has_items]
        values = "; ".join(f"{field} {a.get(field)!r}, not {b.get(field)!r}" for field in fields)
        different += [f"{_title(a)}: {values}"] if fields else []
        equal, without_items = equal + (not fields), without_items + one_has_items
    return equal, sorted(different), without_items


def _read(folder: Path) -> dict[str, dict[str, Any]]:
    """The records by everything that says what they are of."""
    if not (folder / RECORDS).is_file():
        raise BadInput(f"no {RECORDS}; expected the folder of a report, as `calque run` writes it", folder)
    runs = {}
    for line, run in enumerate(_rows(folder / RUNS), start=1):
        if not isinstance(run.get("id"), str):
            raise BadInput("a run without an id", folder / RUNS, line)
        if run["id"] in runs:
            raise BadInput(f"two runs are called {run['id']!r}", folder / RUNS, line)
        runs[run["id"]] = {name: value for name, value in run.items() if name != "id"}
    records: dict[str, dict[str, Any]] = {}
    for line, record in enumerate(_rows(folder / RECORDS), start=1):
        if not isinstance(record.get("run"), str) or record["run"] not in runs:
            raise BadInput(f"no run in {RUNS} is called {record.get('run')!r}", folder / RECORDS, line)
        of = {name: value for name, value in record.items() if name not in (*MEASURED, "run")}
        key = json.dumps([runs[record["run"]], of], sort_keys=True)
        if key in records:
            raise BadInput(f"two records of one number: {_title(record)}", folder / RECORDS, line)
        records[key] = record
    if not records:
        raise BadInput("no record in it; expected those of a report", folder / RECORDS)
    return records


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(json_rows.lines(path), start=1):
        try:
            row = strict_json.loads(line)
        except ValueError as error:
            raise BadInput(f"expected one JSON object a line: {error}", path, number) from None
        if not isinstance(row, dict):
            raise BadInput(f"expected a JSON object, found {type(row).__name__}", path, number)
        yield row


def _title(record: Mapping[str, Any]) -> str:
    """What a record is of, for people."""
    return ", ".join(f"{name} {value}" for name, value in record.items() if name not in MEASURED)
