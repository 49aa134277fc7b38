"""Write dataclasses as JSON Lines, without fields equal to their defaults, and read them strictly."""

import dataclasses
import json
import sys
import types
import typing
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from calque.derive.errors import BadInput
from calque.derive.files import parse_json, whole_file

T = TypeVar("T")


def write(path: Path, rows: Iterable[Any]) -> None:
    """Write rows to a JSON Lines file atomically. Raises BadInput if a value is not finite."""
    texts = []
    for row in rows:
        try:
            texts.append(json.dumps(as_json(row), ensure_ascii=False, allow_nan=False) + "\n")
        except ValueError as error:
            raise BadInput(f"a number is not finite, so nothing was written: {row!r}"[:500], path) from error
    with whole_file(path) as part:
        part.write_text("".join(texts), encoding="utf-8", newline="\n")


def read(path: Path, kind: type[T]) -> list[T]:
    """Read each row as the dataclass `kind`. Raises BadInput for the first malformed line."""
    rows = list[T]()
    try:
        *lines, remainder = path.read_bytes().split(b"\n")
        for line in lines:
            rows.append(parsed(kind, parse_json(line.decode())))
        if remainder:
            raise ValueError("it has no line ending, so the file is truncated")
    except OSError as error:
        raise BadInput(f"cannot read the JSON lines: {error.strerror}", path) from None
    except ValueError as error:  # includes UnicodeDecodeError
        raise BadInput(f"the line is not a {kind.__name__} in JSON: {error}", path, len(rows) + 1) from None
    return rows


def as_json(value: Any) -> Any:
    """Return a value as JSON; dataclasses lack the fields that equal their defaults."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {field.name: as_json(item) for field, item in fields if item != _default(field)}
    return [as_json(item) for item in value] if isinstance(value, tuple) else value


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


_hints = cache(typing.get_type_hints)


def parsed(kind: type[T], value: Any) -> T:
    """Convert a JSON or TOML object into a dataclass. Raises ValueError for wrong fields."""
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, found {type(value).__name__}")
    hints: dict[str, Any] = _hints(cast(Any, kind))
    if unknown := value.keys() - hints.keys():
        raise ValueError(f"unknown fields: {', '.join(sorted(name[:80] for name in unknown))}")
    fields = {name: field_value(hints[name], item, name) for name, item in value.items()}
    try:
        return kind(**fields)
    except TypeError as error:
        raise ValueError(f"missing fields: {str(error).partition(': ')[2]}".replace("'", "")) from None


def field_value(kind: Any, value: Any, name: str) -> Any:
    """Convert a JSON value to the type of the field `name`. Raises ValueError for another type."""
    if type(value) is kind and kind is not float:  # the usual case
        return value
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType and type(None) in inner:
        return None if value is None else field_value(inner[0], value, name)
    if origin is tuple and isinstance(value, list):
        return tuple(field_value(inner[0], item, name) for item in value)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return parsed(kind, value)
    if origin is Mapping and isinstance(value, dict):
        return value
    if kind is float and type(value) in (int, float) and abs(value) <= sys.float_info.max:
        return value
    expected = "finite float" if kind is float else getattr(kind, "__name__", str(kind))
    raise ValueError(f"{name} should be a {expected}, not {str(value)[:80]!r}")
