"""Tables and records of a report in the formats of other programs."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path
from typing import Any

from calque.analysis.records.record import LinkCounts, Record
from calque.analysis.report.numeric import inert
from calque.analysis.report.table import Table
from calque.derive.errors import BadInput, unknown
from calque.derive.files import whole_file

_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Record)}
_PARTS = {"links": dataclasses.asdict(LinkCounts())}


def table_of(folder: Path, name: str | None) -> Table:
    """The table of a report that its file NAME.md holds."""
    names = sorted(path.stem for path in folder.glob("*.md") if path.stem != "README")
    if name is None:
        raise BadInput(f"which table? --table takes one of {', '.join(names) or 'none: there are no tables'}", folder)
    if name not in names:
        raise BadInput(unknown("table", name, names), folder)
    try:
        return Table.of_markdown((folder / f"{name}.md").read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"expected a table: {error}", folder / f"{name}.md") from None


def flat(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Records as columns of plain values. Fields of a field, as `null.low`, are columns; defaults are filled in."""
    flattened = []
    for row in rows:
        plain: dict[str, Any] = {}
        for name, value in row.items():
            if isinstance(value, dict):
                plain |= {f"{name}.{part}": one for part, one in (_PARTS.get(name, {}) | value).items()}
            else:
                plain[name] = value
        flattened.append(plain)
    names = dict.fromkeys(name for row in flattened for name in row)
    return {name: [row.get(name, _DEFAULTS.get(name)) for row in flattened] for name in names}


def records_csv(columns: dict[str, list[Any]]) -> str:
    """Columns as comma-separated values; text is never a formula to a spreadsheet."""
    text = io.StringIO()
    rows = ([inert(one) if isinstance(one, str) else one for one in row] for row in zip(*columns.values(), strict=True))
    csv.writer(text, lineterminator="\n").writerows([list(columns), *rows])
    return text.getvalue()


def write_parquet(columns: dict[str, list[Any]], out: Path) -> None:
    """Write columns as Parquet, whole or not at all. Raises BadInput without pyarrow."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise BadInput("Parquet needs pyarrow: pip install 'calque[parquet]'") from None
    with whole_file(out) as part:
        parquet.write_table(pyarrow.table(columns), part)
