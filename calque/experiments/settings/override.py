"""`--set KEY=VALUE` changes a study's values, which are parsed according to the types of their fields;
`--sweep KEY=V1,V2` runs a study with several values of a setting."""

import dataclasses
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import isfinite, prod
from pathlib import Path
from typing import Any

from calque.analysis.tasks.catalogue import TASKS
from calque.derive.errors import LONGEST_NAME, BadInput, nearest, shown, unknown
from calque.derive.source import Source
from calque.derive.sources.files import EasyText, Files, TaskFiles
from calque.derive.transform import Transform
from calque.derive.transforms import transform
from calque.experiments.study import Study
from calque.experiments.study.measures import MEASURES, Measure
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain import objectives
from calque.pretrain.objective import Objective

LARGEST = 2**63  # upper bound for random seeds and array sizes
ONLY_PYTHON = "it cannot be set on the command line, only in a study of your own (calque run my_study.py)"
MOST_VARIANTS = 100  # maximum number of variants of a study
Swept = tuple[tuple[str, tuple[str, ...]], ...]  # each swept setting's key, with its values as text
Variant = tuple[dict[str, str], Study]  # a study, and its values of the swept settings


def override(study: Study, settings: Sequence[str], option: str = "--set") -> Study:
    """Apply `key=value` settings to a study. Raises BadInput with all wrong settings, or all errors."""
    mistakes: list[str] = []
    for setting in settings:
        try:
            study = replaced(study, setting)
        except (ValueError, BadInput) as error:
            named = setting if len(setting) <= LONGEST_NAME else shown(setting)
            mistakes.append(f"{option} {named}: {error}")
    if mistakes := mistakes or [f"study {study.name}: {mistake}" for mistake in study.mistakes()]:
        raise BadInput(mistakes)
    return study


def replaced(study: Study, setting: str) -> Study:
    """Apply one `key=value` setting to a study. Raises ValueError or BadInput if it is invalid."""
    key, equals, text = setting.partition("=")
    if not equals:
        raise ValueError("expected key=value")
    path = key.strip().split(".")
    if path[0] not in _fields(study):
        path = [*_place_of(study, path[0]), *path]
    changed: Study = _replace(study, Study, path, text.strip())
    return changed


def _fields(value: Any) -> list[str]:
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    return [field.name for field in fields if field.name != "name" and field.compare]


def _place_of(study: Study, key: str) -> list[str]:
    """Return the path of the only part of a study that has a field, as in `languages` for `transforms`."""
    parts = {name: getattr(study, name) for name in _fields(study)}
    places = [[name] for name, part in parts.items() if key in _fields(part)]
    places += [["measures", measure.name] for measure in study.measures if key in _fields(measure)]
    if len(places) > 1:
        expected = ", ".join(".".join([*place, key]) for place in places)
        raise ValueError(f"several parts have a field {key}; expected one of {expected}")
    if places:
        return places[0]
    near = nearest(key, [*(name for part in parts.values() for name in _fields(part)), *parts])
    raise ValueError(f"there is no {shown(key)}; {near or 'available: ' + ', '.join(parts)}")


def _replace(value: Any, hint: Any, path: Sequence[str], text: str, name: str = "") -> Any:
    """Return the value of the field `name`, of type `hint`, with its part at `path` parsed from `text`."""
    if not path:
        return _replace_whole(value, hint, text, name)
    key, *rest = path
    if name == "measures":
        measures = {measure.name: measure for measure in value}
        _check_known(key, measures)
        return tuple({**measures, key: _replace(measures[key], None, rest, text, key)}.values())
    if isinstance(value, Mapping):
        key_kind, kind = typing.get_args(hint)
        if key_kind is not str:
            raise ValueError(ONLY_PYTHON)
        if not dataclasses.is_dataclass(kind):  # the key may contain dots
            return {**value, ".".join(path): _read(text, kind)}
        _check_known(key, value)
        return {**value, key: _replace(value[key], kind, rest, text, key)}
    if not dataclasses.is_dataclass(value):
        raise ValueError(f"{name} has no fields")
    _check_known(key, _fields(value))
    new = _replace(getattr(value, key), typing.get_type_hints(type(value))[key], rest, text, key)
    if key == "seed" and new < 0:
        raise ValueError(f"a seed must be 0 or more, not {new}")
    return dataclasses.replace(value, **{key: new})  # type: ignore[type-var]


def _replace_whole(value: Any, hint: Any, text: str, name: str) -> Any:
    kinds = {hint, *typing.get_args(hint)}
    if isinstance(value, Mapping):
        return _keep(_with_siblings(value) if name == "tasks" else value, text)
    if isinstance(value, EasyText) and text.lower() != "none":  # its other fields are kept
        return _replace(value, hint, ["types"], text)
    if dataclasses.is_dataclass(value) and not kinds & {type(None), *PARSERS}:
        if not (fields := _fields(value)):
            raise ValueError(f"{name} has no fields")
        raise ValueError(f"{name} has fields of its own; set one of them: {', '.join(fields)}")
    return _read(text, hint, value)


def _check_known(key: str, names: Collection[str]) -> None:
    if key not in names:
        available = f"available: {', '.join(names)}" if names else "it has none"
        raise ValueError(f"there is no {shown(key)}; {nearest(key, names) or available}")


def _keep(entries: Mapping[Any, Any], text: str) -> dict[Any, Any]:
    names = _split(text)
    for key in names:
        _check_known(key, entries)
        if names.count(key) > 1:
            raise ValueError(f"{shown(key)} is named twice; name each once")
    return {key: entries[key] for key in names}


def _with_siblings(tasks: Mapping[str, CrossLingualTask]) -> dict[str, CrossLingualTask]:
    """Add Calque's other tasks, configured like a task with the same data or, without files, the first."""
    by_data = {TASKS[name].data: tasks[name] for name in reversed(list(tasks)) if name in TASKS}
    reads_files = any(task.files for task in tasks.values())
    fallback = None if reads_files else next(iter(tasks.values()), None)
    siblings = {name: by_data.get(task.data, fallback) for name, task in TASKS.items()}
    return {**{name: task for name, task in siblings.items() if task}, **tasks}


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


# Text to values


def _read(text: str, hint: Any, before: Any = ()) -> Any:
    """Parse a value of the declared type; `before` is the field's current value."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return _read_tuple(_split(text), arguments[0], before)
    if origin in (typing.Union, types.UnionType):
        kinds = [kind for kind in arguments if kind is not type(None)]
        if text.lower() == "none" and len(kinds) < len(arguments):
            return None
        for kind in kinds[:-1]:
            with suppress(ValueError):
                return _read(text, kind)
        return _read(text, kinds[-1])
    if hint in PARSERS:
        return PARSERS[hint](text)
    if hint is bool or origin is typing.Literal:
        names = ("true", "false") if hint is bool else arguments
        name = text.lower() if hint is bool else text
        if name not in names:
            raise ValueError(f"expected one of {', '.join(names)}, not {shown(text)}")
        return name == "true" if hint is bool else name
    if hint not in (int, float, str, Path):
        raise ValueError(ONLY_PYTHON)
    return read_number(text, hint) if hint in (int, float) else hint(text)


def read_number(text: str, kind: type[int] | type[float]) -> int | float:
    """Parse a finite number below `LARGEST`; raise ValueError for other text."""
    try:
        if "_" in text or not text.isascii():  # Python accepts 1_000 and digits in all scripts
            raise ValueError
        value = kind(text)
    except ValueError:
        number = "a whole number" if kind is int else "a number"
        raise ValueError(f"expected {number}, not {shown(text)}") from None
    if (kind is int and abs(value) >= LARGEST) or not isfinite(value):
        raise ValueError(f"expected a finite number below 2**63, not {shown(text)}")
    return value


def _read_tuple(parts: Sequence[str], kind: Any, before: Any) -> tuple[Any, ...]:
    """Parse values by name, but keep values already in the field, whose settings may differ from the
    defaults. New objectives get the mask rate that the study's other objectives share."""
    if kind not in PARSERS:
        return tuple(_read(part, kind) for part in parts)
    present = {item.name: item for item in before}
    rates = {item.traits.mask_rate for item in before if isinstance(item, Objective)} - {0}
    shared = rates if len(rates) == 1 else ()
    return tuple(present.get(part) or PARSERS[kind](part, *shared) for part in parts)


def _measure(name: str) -> Measure:
    if name not in MEASURES:
        raise BadInput(unknown("measure", name, MEASURES))
    return MEASURES[name]


def _paths(text: str) -> tuple[Path, ...]:
    return tuple(map(Path, _split(text)))


def _source(text: str) -> Files:
    if not (paths := _paths(text)):
        raise ValueError("expected text files, separated by commas")
    return Files(paths)


def _task_files(text: str) -> TaskFiles:
    """Parse training files, or files for all splits, and any test files after a plus sign."""
    train, _, test = text.partition("+")
    return TaskFiles(_paths(train), _paths(test))


PARSERS: Mapping[type, Callable[..., Any]] = {
    Transform: transform,
    Objective: objectives.parse,
    Source: _source,
    TaskFiles: _task_files,
    EasyText: lambda text: EasyText(int(read_number(text, int))),
    Measure: _measure,
}
"""Parsers of values that are named, or given by their files."""


# Sweeps


def read_sweep(options: Sequence[str]) -> Swept:
    """Parse options such as `dictionary.fraction=0.01,0.1,0.5`, or `objectives=MLM,XLM;MLM,ALIGN-MLM`."""
    swept = []
    for option in options:
        key, equals, text = option.partition("=")
        parts = text.split(";" if ";" in text else ",")
        values = tuple(part.strip() for part in parts if part.strip())
        if not equals or len(values) < 2 or len(set(values)) < len(values):
            expected = "key=value,value with two or more different values"
            raise BadInput(f"--sweep {option}: expected {expected}")
        swept.append((key.strip(), values))
    if len(dict(swept)) < len(swept):
        raise BadInput("--sweep names a setting twice; list all values of a setting in one option")
    if (number := prod(len(values) for _, values in swept)) > MOST_VARIANTS:
        raise BadInput(f"--sweep makes {number:,} variants of the study; at most {MOST_VARIANTS} are allowed")
    return tuple(swept)


def variants(study: Study, swept: Swept) -> list[Variant]:
    """Return a study's variants, one for each combination of swept values; without a sweep, the study."""
    variants = []
    for values in product(*(values for _, values in swept)):
        settings = {key: value for (key, _), value in zip(swept, values, strict=True)}
        changes = [f"{key}={value}" for key, value in settings.items()]
        variants.append((settings, override(study, changes, "--sweep") if changes else study))
    return variants
