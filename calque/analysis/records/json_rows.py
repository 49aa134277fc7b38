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
    except OSError as error:
        raise BadInput(f"cannot read the JSON lines: {error.strerror}", path) from None
    except ValueError as error:  # includes UnicodeDecodeError
        raise BadInput(f"the line is not a {kind.__name__} in JSON: {error}", path, len(rows) + 1) from None
    if remainder:
        raise BadInput("the last row has no line ending: the file is truncated", path, len(rows) + 1)
    return rows


def as_json(row: Any) -> dict[str, Any]:
    """Return a dataclass as plain values, without fields equal to their defaults."""
    fields = ((field, getattr(row, field.name)) for field in dataclasses.fields(row))
    return {field.name: _plain(value) for field, value in fields if value != _default(field)}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return as_json(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


_hints = cache(typing.get_type_hints)


def parsed(kind: type[T], value: Any) -> T:
    """Convert a JSON or TOML object into a dataclass. Raises ValueError for missing, unknown or wrong
    fields."""
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, found {type(value).__name__}")
    hints: dict[str, Any] = _hints(cast(Any, kind))
    if unknown := value.keys() - hints.keys():
        raise ValueError(f"unknown fields: {', '.join(sorted(name[:80] for name in unknown))}")
    fields = {name: _value(hints[name], item, name) for name, item in value.items()}
    try:
        return kind(**fields)
    except TypeError as error:
        raise ValueError(f"missing fields: {str(error).partition(': ')[2]}".replace("'", "")) from None


def _value(kind: Any, value: Any, name: str) -> Any:
    """Convert a JSON value to the type `kind`; `name` is the field, for errors."""
    if type(value) is kind and kind is not float:  # the usual case
        return value
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        (inner,) = (inner for inner in typing.get_args(kind) if inner is not type(None))
        return None if value is None else _value(inner, value, name)
    if origin is tuple and isinstance(value, list):
        return tuple(_value(typing.get_args(kind)[0], item, name) for item in value)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return parsed(kind, value)
    if origin is Mapping and isinstance(value, dict):
        return value
    if kind is float and type(value) in (int, float) and abs(value) <= sys.float_info.max:
        return value
    expected = "finite float" if kind is float else getattr(kind, "__name__", str(kind))
    raise ValueError(f"{name} should be a {expected}, not {str(value)[:80]!r}")
