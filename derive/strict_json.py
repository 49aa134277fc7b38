"""Strict parsing of JSON from external files; all errors are ValueErrors."""

import json
from typing import Any, NoReturn


def loads(text: str) -> Any:
    """Parse JSON; also raise ValueError for deep nesting, overlong numbers, repeated keys and NaN."""
    try:
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def is_text(value: Any) -> bool:
    """Whether a value is text that can be written to a file, without NUL or unpaired surrogates."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)[:80]!r} occurs twice")
    return value
