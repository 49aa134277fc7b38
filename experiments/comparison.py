"""Two folders of records, held against each other field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.records.record import RECORDS
from analysis.records.run import RUNS
from derive import strict_json
from derive.errors import BadInput

ITEMS = "items"
MEASURED = ("value", "count", "null", ITEMS)
"""The fields of a record that were measured; the others say what of which run. Older records have no items."""


@dataclass(frozen=True)
class Comparison:
    """How many records of two folders are equal in every field, and a line for each that is not, or that one lacks.

    Of `alone` records only one folder has items, which are not compared.
    """

    equal: int
    different: list[str]
    alone: int

    @property
    def summary(self) -> str:
        """`1,644 equal, 0 not`."""
        return f"{self.equal:,} equal, {len(self.different):,} not"


def compare(first: Path, second: Path) -> Comparison:
    """Hold the records of two report folders against each other; a number is equal only to the last digit.

    Runs are known by everything that they were made of, not by their names, which hold fingerprints.

    Raises:
        BadInput: there are no records, they are damaged, two records of a folder are of one number, or none in one
            is of what one in the other is of.
    """
    ours, theirs = _read(first), _read(second)
    if not ours.keys() & theirs.keys():
        raise BadInput(f"no record in it is of a run that {second} has too: nothing can be compared", first)
    different = []
    for key in ours.keys() | theirs.keys():
        if key not in theirs:
            different.append(f"{_told(ours[key])}: not in {second}")
        elif key not in ours:
            different.append(f"{_told(theirs[key])}: not in {first}")
        else:
            a, b = ours[key], theirs[key]
            fields = [f"{field} {a.get(field)!r}, not {b.get(field)!r}" for field in _differing(a, b)]
            different += [f"{_told(a)}: {'; '.join(fields)}"] if fields else []
    both = [(row, theirs[key]) for key, row in ours.items() if key in theirs]
    equal = sum(not _differing(*rows) for rows in both)
    alone = sum((a.get(ITEMS) is None) != (b.get(ITEMS) is None) for a, b in both)
    return Comparison(equal, sorted(different), alone)


def _differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    fields = [field for field in MEASURED if a.get(field) != b.get(field)]
    return [field for field in fields if field != ITEMS or None not in (a.get(field), b.get(field))]


def _read(folder: Path) -> dict[str, dict[str, Any]]:
    """The records by everything that says what they are of."""
    made_of = {}
    for line, run in enumerate(_rows(folder / RUNS), start=1):
        if not isinstance(run.get("id"), str):
            raise BadInput("a run without an id", folder / RUNS, line)
        if run["id"] in made_of:
            raise BadInput(f"two runs are called {run['id']!r}", folder / RUNS, line)
        made_of[run["id"]] = {name: value for name, value in run.items() if name != "id"}
    records: dict[str, dict[str, Any]] = {}
    for line, record in enumerate(_rows(folder / RECORDS), start=1):
        if not isinstance(record.get("run"), str) or record["run"] not in made_of:
            raise BadInput(f"no run in {RUNS} is called {record.get('run')!r}", folder / RECORDS, line)
        of = {name: value for name, value in record.items() if name not in (*MEASURED, "run")}
        key = json.dumps([made_of[record["run"]], of], sort_keys=True)
        if key in records:
            raise BadInput(f"two records of one number: {_told(record)}", folder / RECORDS, line)
        records[key] = record
    if not records:
        raise BadInput("no record in it; expected those of a report", folder / RECORDS)
    return records


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise BadInput("no such file; expected the folder of a report, as `calque run` writes it", path) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"expected the records of a report: {error}", path) from error
    if lines.pop():
        raise BadInput("the last row has no end: the file is truncated", path, len(lines) + 1)
    for number, line in enumerate(lines, start=1):
        try:
            row = strict_json.loads(line)
        except ValueError as error:
            raise BadInput(f"expected one JSON object a line: {error}", path, number) from None
        if not isinstance(row, dict):
            raise BadInput(f"expected a JSON object, found {type(row).__name__}", path, number)
        yield row


def _told(record: Mapping[str, Any]) -> str:
    """What a record is of, for people."""
    return ", ".join(f"{name} {value}" for name, value in record.items() if name not in MEASURED)
