"""JSON as it may come from outside: whatever is wrong with it is a ValueError, and never another exception."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def loads(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: it is no JSON, nests too deeply, holds a number too long to read, a key twice, or NaN or Infinity,
            which JSON does not have.
    """
    try:
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)[:80]!r} twice")
    return made
