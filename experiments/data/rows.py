"""Rows and columns of a tab-separated table, as they are in it: what a recipe takes of a file with all languages."""

from __future__ import annotations

from pathlib import Path

from derive.errors import BadInput
from derive.files import writing
from experiments.data.recipe import Output

_LONGEST = 1 << 24
"""Bytes of a line at most."""


def write_chosen(table: Path, output: Output, to: Path, name: str) -> None:
    """Write of a table what `output.where` and `output.columns` choose; with `where`, the header stays.

    Raises:
        BadInput: there is no such column, a row has too few, or none has the values.
    """
    where = {column.encode(): value.encode() for column, value in output.where.items()}
    with writing(to), table.open("rb") as file, to.open("wb") as chosen:
        places: dict[int, bytes] = {}
        least, written = output.columns, 0
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST), b""), start=1):
            row = line.rstrip(b"\r\n").split(b"\t")
            if where and number == 1:
                if missing := where.keys() - set(row):
                    raise BadInput(f"no column {min(missing).decode()!r} in it", name, number)
                places = {row.index(column): value for column, value in where.items()}
                least = max(least, *(place + 1 for place in places))
            elif len(row) < least:
                raise BadInput(f"{len(row)} columns; expected {least} or more", name, number)
            elif any(row[place] != value for place, value in places.items()):
                continue
            else:
                written += 1
            chosen.write(b"\t".join(row[: output.columns]) + b"\n" if output.columns else line)
    if not written:
        raise BadInput(f"no row of it has {output.where}", name)
