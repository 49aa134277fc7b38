"""Records: one JSON row for each number that was measured, and one object for each that a paper printed."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from derive.errors import BadInput

ALIGNMENT = "alignment"
"""The measure of alignment@1."""
ORDER = "order distance"
"""The measure of how far a derived language's word order is from its source's."""
AER = "AER"
"""The measure of word links against gold ones: alignment error rate."""
LABELS = "self-labels"
"""The measure of what XLM-Align labels itself with during pretraining, against the gold alignment."""


@dataclass(frozen=True)
class Record:
    """One number and where it came from.

    `value` is a share from 0 to 1, never percent, and `count` the number of items that it is over.
    `measure` is one of those of `analysis.tasks.transfer` (SUP, ZS, DELTA, SRC, DEV, CUT), alignment, order distance,
    AER or self-labels;
    `metric` says which kind of it: accuracy, f1, f1_bare_tags; for alignment all, dictionary, held-out,
    frequency-weighted, back, back-held-out; for order distance kendall (mean normalised tau over `count` sentences);
    for CUT the split; for AER the layer, and joint where a pair is one row (over `count` gold links); for self-labels
    precision, recall or share, a mean over `count` steps up to `step`. `task` is empty for alignment, order distance,
    AER and self-labels, `step` is the step of pretraining (0 where it does not apply).
    """

    study: str
    run: str
    transform: str
    objective: str
    seed: int
    measure: str
    task: str
    metric: str
    value: float
    count: int
    step: int = 0


@dataclass(frozen=True)
class Published:
    """One number that a paper prints, as a share from 0 to 1.

    `setting` is empty for the paper's default setup, else what was varied, as "parallel 1%".
    """

    paper: str
    table: int
    objective: str
    transform: str
    measure: str
    task: str
    metric: str
    value: float
    setting: str = ""


_KINDS: dict[str, type | tuple[type, ...]] = {"str": str, "int": int, "float": (int, float)}
_FIELDS = {field.name: (str(field.type), _KINDS[str(field.type)]) for field in dataclasses.fields(Record)}


def append(path: Path, records: Iterable[Record]) -> None:
    """Add rows at the end of a JSON Lines file, all of them or none, one writer at a time.

    Raises:
        ValueError: a value is not finite.
        OSError: the rows could not be written; the file is as it was.
    """
    rows = "".join(
        json.dumps(dataclasses.asdict(record), ensure_ascii=False, allow_nan=False) + "\n" for record in records
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        size = os.fstat(file.fileno()).st_size
        try:
            left = memoryview(rows.encode())
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except OSError:
            file.truncate(size)
            raise


def read(path: Path) -> list[Record]:
    """Every record of a JSON Lines file.

    Raises:
        BadInput: the file is missing or is no text, or a row is no JSON object, lacks a field, has an unknown one, or
            one of the wrong kind; with the file and the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadInput("there is no such file of records", path) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"expected JSON lines in UTF-8, found {error.reason} at byte {error.start}", path) from None
    rows = text.split("\n")  # and not at the other characters that splitlines takes for line ends
    if rows.pop():
        raise BadInput("the last row has no end: the file is truncated", path, len(rows) + 1)
    return [_record(row, path, number) for number, row in enumerate(rows, 1)]


def _record(row: str, path: Path, line: int) -> Record:
    fields: Any
    try:
        fields = json.loads(row)
    except json.JSONDecodeError as error:
        raise BadInput(f"expected one JSON object a line: {error}", path, line) from None
    if not isinstance(fields, dict):
        raise BadInput(f"expected a JSON object, found {type(fields).__name__}", path, line)
    if fields.keys() != _FIELDS.keys():
        missing = ", ".join(sorted(_FIELDS.keys() - fields.keys())) or "none"
        unknown = ", ".join(sorted(fields.keys() - _FIELDS.keys())) or "none"
        raise BadInput(f"a record's fields: missing {missing}; unknown {unknown}", path, line)
    for name, (kind, types) in _FIELDS.items():
        value: Any = fields[name]
        wrong = isinstance(value, bool) or not isinstance(value, types)
        if wrong or (kind == "float" and not math.isfinite(value)):
            raise BadInput(f"{name} should be a {'finite ' if kind == 'float' else ''}{kind}: {value!r}", path, line)
    return Record(**fields)
