"""Recognise headers and the quotation marks that software adds to tab-separated tables."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from calque.derive.files import read_toml
from calque.derive.readers.english import mark
from calque.derive.readers.lines import Lines, Numbered, Place

_WORDS = read_toml(Path(__file__).with_name("tables.toml"))
_TABLE = {name: frozenset(text.split()) for name, text in _WORDS.items()}
HEADERS = "headers, left out"
QUOTED = "fields from which added quotation marks were removed"
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


class Table(Lines):
    """The lines of a table, without quotation marks that software added (see `is_quoted`)."""

    def __iter__(self) -> Iterator[Numbered]:
        quoted = is_quoted(self.path)
        for place, line in super().__iter__():
            yield place, unquoted(line, self.counts) if quoted else line


@cache
def _name() -> re.Pattern[str]:
    return re.compile(rf"[^\W\d](?:\w|{mark()}){{0,29}}")


def is_quoted(path: Path) -> bool:
    """Whether software added quotation marks: they enclose every field that contains any, those inside fields
    are doubled, and either a field has some inside or all fields of the same columns are enclosed."""
    rows, fields, doubled = 0, Counter[int](), False
    for _, line in Lines(path):
        rows += bool(line.strip())
        for column, field in enumerate(line.split("\t")) if '"' in line else ():
            if '"' in field:
                if not _QUOTED.fullmatch(field):
                    return False
                fields[column] += 1
                doubled = doubled or '""' in field[1:-1]
    return doubled or (rows > 1 and set(fields.values()) == {rows})


def unquoted(line: str, counts: Counter[str]) -> str:
    """Remove the quotation marks around a line's fields."""
    if '"' not in line:
        return line
    fields = line.split("\t")
    counts[QUOTED] += sum('"' in field for field in fields)
    return "\t".join(field[1:-1].replace('""', '"') if '"' in field else field for field in fields)


def is_header(fields: Sequence[str], labelled: bool = False) -> bool:
    """Whether a first row's fields are distinct names of columns or, unless `labelled`, of languages."""
    names = [field.strip().casefold() for field in fields]
    if len({*names}) < len(names) or len(names) < 2:
        return False
    if labelled:
        return names[-1] in _TABLE["labels"] and _TABLE["names"].issuperset(names[:-1])
    return (_TABLE["names"] | _TABLE["languages"]).issuperset(names)


class FirstRow:
    """Decides whether a file's first row is a header, once all rows have been read."""

    def __init__(self) -> None:
        self._first: tuple[Place, Sequence[str]] | None = None
        self.labels: Counter[str] = Counter()
        self._longer = 0  # the number of rows whose first field cannot be a column name

    def add(self, place: Place, fields: Sequence[str]) -> None:
        self._first = self._first or (place, fields)
        self.labels[fields[-1]] += 1
        self._longer += not _name().fullmatch(fields[0])

    def check(self) -> None:
        """Raise BadInput if the first row looks like a header: its fields could be column names, and its
        label is unique."""
        if self._first is None or not all(map(_name().fullmatch, self._first[1])):
            return
        place, fields = self._first
        label, names = fields[-1], {field.casefold() for field in fields}
        others = self.labels - Counter([label])
        usual = label.casefold() in _TABLE["labels"] or names <= _TABLE["names"]
        unlike = min(others.values(), default=0) > 1 and 2 * self._longer > others.total()
        if label not in others and (usual or unlike):
            found = f"the first row, {', '.join(map(repr, fields))}, seems to be a header"
            why = f"because no other row has the label {label!r}"
            expected = "expected the names in docs/own-data.md, also above a first row of data"
            raise place.fault(f"{found}, {why}; {expected}")
