"""Values of a study that a user wrote, held against the annotations of its fields: Python itself asks nobody."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from derive.errors import shown


def mistyped(value: Any, hint: Any, name: str = "") -> Iterator[str]:
    """What is of another type than its field says, each in words, with the path to it.

    Fields of dataclasses, entries of tuples and of mappings are asked one by one. A hint of another kind asks nothing.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if not any(next(mistyped(value, one), None) is None for one in arguments):
            yield _mismatch(name, value, " or ".join(map(_words_for, arguments)))
    elif origin is typing.Literal:
        if value not in arguments:
            yield _mismatch(name, value, f"one of {', '.join(map(str, arguments))}")
    elif origin is tuple:
        if not isinstance(value, tuple):
            yield _mismatch(name, value, "a tuple: ('a', 'b'), or ('a',) of one")
            return
        each = arguments[:1] * len(value) if arguments[-1:] == (Ellipsis,) else arguments
        for place, (one, kind) in enumerate(zip(value, each, strict=False)):
            yield from mistyped(one, kind, f"{name}[{place}]")
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            yield _mismatch(name, value, "a dict")
            return
        for key, one in value.items():
            yield from mistyped(key, arguments[0], f"a key of {name}")
            yield from mistyped(one, arguments[1], f"{name}.{key}")
    elif isinstance(hint, type):
        if not _fits(value, hint):
            yield _mismatch(name, value, _words_for(hint))
        elif dataclasses.is_dataclass(value):
            yield from _fields(value, name)


def _fields(value: Any, name: str) -> Iterator[str]:
    try:
        hints = typing.get_type_hints(type(value))
    except NameError:  # of what is imported for type checkers alone
        return
    for field in dataclasses.fields(value):
        yield from mistyped(getattr(value, field.name), hints[field.name], f"{name}.{field.name}".lstrip("."))


def _fits(value: Any, kind: type) -> bool:
    if kind in (int, float):
        return isinstance(value, kind | int) and not isinstance(value, bool)
    return isinstance(value, kind)


def _mismatch(name: str, value: Any, expected: str) -> str:
    return f"{name} is {shown(repr(value))}; expected {expected}"


def _words_for(kind: Any) -> str:
    named = {int: "a whole number", float: "a number", str: "text", bool: "True or False", type(None): "None"}
    return named.get(kind) or str(getattr(kind, "__name__", kind))
