"""A TOML table read strictly: every key has a type, and one that nobody asks for is an error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from derive.errors import BadInput, nearest

_KINDS = {str: "a text", int: "a whole number", list: "a list", dict: "a table"}
"""What values are called in errors. A kind is exact: true is no whole number."""


class Table:
    """The values of a table of the file `path`; `place` says in errors which table, as in `file 3`."""

    def __init__(self, values: Mapping[str, Any], path: Path, place: str = "") -> None:
        self._values, self.path, self.place = values, path, place
        self._asked: set[str] = set()

    def text(self, name: str, default: str | None = None) -> str:
        """A text that is not empty; `default` where the key is missing, and without one the key must be there."""
        value = self._value(name, str, default)
        if not value.strip() and value != default:
            self.refuse(f"{name} is empty")
        return str(value)

    def number(self, name: str, default: int = 0) -> int:
        """A whole number from 0 on."""
        value = self._value(name, int, default)
        if value < 0:
            self.refuse(f"{name} is {value}; expected 0 or more")
        return int(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, each once; none where the key is missing."""
        values = self._value(name, list, [])
        if any(type(value) is not str or not value for value in values) or len(set(values)) < len(values):
            self.refuse(f"{name} is a list of texts, each once, not {values!r}")
        return tuple(values)

    def pairs(self, name: str) -> dict[str, str]:
        """A table of texts; an empty one where the key is missing."""
        values = self._value(name, dict, {})
        if any(type(value) is not str for value in values.values()):
            self.refuse(f"{name} is a table of texts, not {values!r}")
        return dict(values)

    def tables(self, name: str) -> list[Table]:
        """A list of tables, `[[name]]`; none where the key is missing."""
        values = self._value(name, list, [])
        if any(type(value) is not dict for value in values):
            self.refuse(f"{name} is a list of tables, [[{name}]]")
        above = f"{self.place}, " if self.place else ""
        return [Table(value, self.path, f"{above}{name} {number}") for number, value in enumerate(values, start=1)]

    def table(self, name: str) -> Table | None:
        """A table, `[name]`; None where the key is missing."""
        values = self._value(name, dict, {})
        return Table(values, self.path, f"{self.place}, {name}" if self.place else name) if values else None

    def done(self) -> None:
        """Refuse keys that nobody asked for."""
        for name in sorted(self._values.keys() - self._asked):
            known = ", ".join(sorted(self._asked))
            self.refuse(f"no key {name[:60]!r} is known here; {nearest(name, self._asked) or f'there are {known}'}")

    def refuse(self, message: str) -> NoReturn:
        """Say what is wrong with the table.

        Raises:
            BadInput: always.
        """
        raise BadInput(f"{self.place}: {message}" if self.place else message, self.path)

    def _value(self, name: str, kind: type, default: Any) -> Any:
        self._asked.add(name)
        value = self._values.get(name, default)
        if value is None:
            self.refuse(f"{name} is missing; expected {_KINDS[kind]}")
        if type(value) is not kind:
            self.refuse(f"{name} is {_KINDS[kind]}, not {str(value)[:60]!r}")
        return value
