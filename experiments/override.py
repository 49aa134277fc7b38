"""`--set a.b=value`: a study with some of its values changed, and every mistake reported at once."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Sequence
from typing import Any

from derive.errors import BadInput
from derive.transform import Transform
from experiments import names
from experiments.study import Study
from pretrain.objective import Objective


def override(study: Study, settings: Sequence[str]) -> Study:
    """The study with `key=value` settings applied, the last of a key winning.

    Raises:
        BadInput: listing every unknown key, every value of the wrong kind and every mistake of the outcome.
    """
    mistakes: list[str] = []
    for setting in settings:
        key, equals, text = setting.partition("=")
        try:
            if not equals:
                raise ValueError("expected key=value")
            study = _replace(study, key.strip().split("."), text.strip())
        except (ValueError, BadInput) as error:
            mistakes.append(f"--set {setting}: {error}")
    mistakes += study.mistakes()
    if mistakes:
        raise BadInput(f"study {study.name}: " + "; ".join(mistakes))
    return study


def _replace(value: Any, path: list[str], text: str) -> Any:
    """`value` with the field at `path` read from `text`."""
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        known = sorted(value)
        if key in value and rest:
            return value | {key: _replace(value[key], rest, text)}
    else:
        known = [field.name for field in dataclasses.fields(value) if field.name != "name"]
        if key in known:
            inner = getattr(value, key)
            nested = dataclasses.is_dataclass(inner) or isinstance(inner, dict)
            if nested != bool(rest):
                raise ValueError(f"{key} has parts of its own; set one of them" if nested else f"{key} has no parts")
            hint = typing.get_type_hints(type(value))[key]
            return dataclasses.replace(value, **{key: _replace(inner, rest, text) if rest else _read(text, hint)})
    near = difflib.get_close_matches(key, known, n=1)
    raise ValueError(
        f"there is no {key!r}" + (f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}")
    )


def _read(text: str, hint: Any) -> Any:
    """A value of the type that the field is declared with."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return tuple(_read(part.strip(), arguments[0]) for part in text.split(",") if part.strip())
    if origin in (typing.Union, types.UnionType):
        if text.lower() == "none" and type(None) in arguments:
            return None
        return _read(text, next(argument for argument in arguments if argument is not type(None)))
    if origin is typing.Literal:
        if text not in arguments:
            raise ValueError(f"expected one of {', '.join(map(str, arguments))}, not {text!r}")
        return text
    if hint is Transform:
        return names.transform(text)
    if hint is Objective:
        return names.objective(text)
    if hint is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError(f"expected true or false, not {text!r}")
        return text.lower() == "true"
    try:
        return hint(text)
    except ValueError:
        raise ValueError(f"expected {hint.__name__}, not {text!r}") from None
