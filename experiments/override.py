"""`--set a.b=value`: values of a study by the types of their fields. All wrong settings are reported together."""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from calque.derive.easy import EasyText
from calque.derive.errors import LONGEST_NAME, BadInput, nearest, shown, unknown
from calque.derive.natural.files import BitextFiles, TextFiles
from calque.derive.source import Source
from calque.derive.sources.files import Files, TaskFiles
from calque.derive.transform import Transform
from calque.derive.transforms import transform
from calque.experiments.measures import MEASURES, Measure
from calque.experiments.study import Study
from calque.experiments.study_mistakes import study_mistakes
from calque.experiments.tasks import with_siblings
from calque.pretrain import objectives
from calque.pretrain.objective import Objective

LARGEST = 2**63  # seeds of random generators and sizes of arrays are below it
FIELDS = "has fields of its own"
UNSAID = "its values cannot be set on the command line, only in a study of your own (calque run my_study.py)"


def override(study: Study, settings: Sequence[str], option: str = "--set") -> Study:
    """The study with `key=value` settings applied; the last one of a key wins. Raises BadInput that lists every unknown
    key and every invalid value, after the `option` that named it, and every mistake of the resulting study."""
    mistakes: list[str] = []
    for setting in settings:
        try:
            study = replaced(study, setting)
        except (ValueError, BadInput) as error:
            mistakes.append(f"{option} {setting if len(setting) <= LONGEST_NAME else shown(setting)}: {error}")
    mistakes += [f"study {study.name}: {mistake}" for mistake in study_mistakes(study)]
    if mistakes:
        raise BadInput(mistakes)
    return study


def replaced(study: Study, setting: str) -> Study:
    """The study with one `key=value` setting applied. Raises ValueError or BadInput for a wrong one."""
    key, equals, text = setting.partition("=")
    if not equals:
        raise ValueError("expected key=value")
    changed: Study = _replace(study, Study, study.name, key.strip().split("."), text.strip())
    return changed


def _fields(value: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(value) if field.name != "name" and field.compare]


def _replace(value: Any, hint: Any, name: str, path: Sequence[str], text: str) -> Any:
    """The value `name`, of the type `hint`, with its part at `path` read from `text`."""
    if not path:
        return _replace_whole(value, hint, name, text)
    key, *rest = path
    if isinstance(value, Mapping):
        return {**value, **_replace_entry(value, hint, path, text)}
    if not dataclasses.is_dataclass(value):
        raise ValueError(f"{name} has no fields")
    if isinstance(value, Study) and key not in _fields(value):
        return _replace_within(value, path, text)
    check_known(key, _fields(value))
    new = _replace(getattr(value, key), typing.get_type_hints(type(value))[key], key, rest, text)
    if key == "seed" and new < 0:
        raise ValueError(f"a seed is 0 or more, not {new}")
    return dataclasses.replace(value, **{key: new})  # type: ignore[type-var]


def _replace_entry(entries: Mapping[Any, Any], hint: Any, path: Sequence[str], text: str) -> dict[Any, Any]:
    key_kind, kind = typing.get_args(hint)
    if kind in (int, float):  # by a name that may have dots
        return {".".join(path): _read(text, kind)}
    key, *rest = path
    if not rest and (kind in PARSERS or not dataclasses.is_dataclass(kind)):
        return {_pair(key) if typing.get_origin(key_kind) is tuple else key: _read(text, kind)}
    check_known(key, entries)
    if not dataclasses.is_dataclass(entries[key]):
        raise ValueError(f"{key}: {UNSAID}")
    return {key: _replace(entries[key], kind, key, rest, text)}


def _replace_whole(value: Any, hint: Any, name: str, text: str) -> Any:
    if isinstance(value, Mapping):
        return _keep(with_siblings(value) if name == "tasks" else value, text)
    if isinstance(value, EasyText) and text.lower() != "none":  # its other fields stay
        return _replace(value, hint, name, ["types"], text)
    absent = text.lower() == "none" and type(None) in typing.get_args(hint)
    if dataclasses.is_dataclass(value) and not absent and not {hint, *typing.get_args(hint)} & PARSERS.keys():
        raise ValueError(f"{name} {FIELDS}; set one of them: {', '.join(_fields(value))}")
    return _read(text, hint, value)


def _replace_within(study: Study, path: Sequence[str], text: str) -> Study:
    """The study with a value changed in the only part that has it: `transforms` is `languages.transforms`."""
    name, number = _holder(study, path)
    if number is None:
        changed = _replace(getattr(study, name), None, name, path, text)
    else:
        parts = list(study.measures)
        parts[number] = _replace(parts[number], None, name, path, text)
        changed = tuple(parts)
    return dataclasses.replace(study, **{name: changed})


def _holder(study: Study, path: Sequence[str]) -> tuple[str, int | None]:
    """The field of the study with the only part that has the first key, and its number among measures."""
    parts: dict[tuple[str, int | None], Any] = {(name, None): getattr(study, name) for name in _fields(study)}
    parts |= {("measures", number): measure for number, measure in enumerate(study.measures)}
    nested = {place: part for place, part in parts.items() if dataclasses.is_dataclass(part)}
    holders = [place for place, part in nested.items() if path[0] in _fields(part)]
    if not holders:
        of_parts = [key for part in nested.values() for key in _fields(part)]
        known = [*_fields(study), *of_parts]
        settable = [key for key in known if of_parts.count(key) < 2 and _is_settable(study, [key, *path[1:]])]
        check_known(path[0], known, settable)
    if len(holders) > 1:
        if len({name for name, _ in holders}) == 1:
            raise ValueError(f"several {holders[0][0]} have {path[0]}; a study of your own can set it in each")
        places = ", ".join(f"{name}.{path[0]}" for name, _ in holders)
        raise ValueError(f"{path[0]} is in several parts; expected one of {places}")
    return holders[0]


def _is_settable(study: Study, path: Sequence[str]) -> bool:
    """Whether a value at the path, or below its first key, can be set by text."""
    try:
        _replace(study, Study, study.name, path, "0")
    except ValueError as error:
        return len(path) > 1 or not any(reason in str(error) for reason in (UNSAID, FIELDS))
    except BadInput:
        pass
    return True


def check_known(key: str, names: Collection[str], settable: Collection[str] | None = None) -> None:
    """Raise ValueError for a key that is not one of the names; it may suggest a `settable` one."""
    if key not in names:
        near = nearest(key, names if settable is None else settable)
        there = f"there are {', '.join(dict.fromkeys(names))}" if names else "it has none"
        raise ValueError(f"there is no {shown(key)}; {near or there}")


def _keep(entries: Mapping[Any, Any], text: str) -> dict[Any, Any]:
    """The named entries: `tasks=pos,ner` leaves a task out. A pair of languages is named as `en-fr`."""
    keys = {"-".join(key) if isinstance(key, tuple) else key: key for key in entries}
    chosen = _split(text)
    for key in chosen:
        check_known(key, keys)
        if chosen.count(key) > 1:
            raise ValueError(f"{shown(key)} twice; expected each once")
    return {keys[key]: entries[keys[key]] for key in chosen}


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _read(text: str, hint: Any, before: Any = ()) -> Any:
    """A value of the field's declared type; `before` is the field's present value."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        if arguments[0] in PARSERS:
            return _read_named(_split(text), PARSERS[arguments[0]], before)
        if _split(text) and typing.get_origin(arguments[0]) is tuple:
            raise ValueError(UNSAID)
        return tuple(_read(part, arguments[0]) for part in _split(text))
    if origin in (typing.Union, types.UnionType):
        if text.lower() == "none" and type(None) in arguments:
            return None
        *others, last = (argument for argument in arguments if argument is not type(None))
        for argument in others:  # a number, or else a path
            with suppress(ValueError):
                return _read(text, argument)
        return _read(text, last)
    if origin is typing.Literal:
        if text not in arguments:
            raise ValueError(f"expected one of {', '.join(map(str, arguments))}, not {shown(text)}")
        return text
    if hint in PARSERS:
        return PARSERS[hint](text)
    if hint is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError(f"expected true or false, not {shown(text)}")
        return text.lower() == "true"
    if dataclasses.is_dataclass(hint):
        raise ValueError(UNSAID)
    return read_number(text, hint) if hint in (int, float) else hint(text)


def read_number(text: str, kind: type[int] | type[float]) -> int | float:
    """The number that a text says. Raises ValueError for any other text, or a number too large to use."""
    try:
        if "_" in text or not text.isascii():  # Python accepts 1_000 and digits of all scripts
            raise ValueError
        value = kind(text)
    except ValueError:
        raise ValueError(f"expected {kind.__name__}, not {shown(text)}") from None
    if isinstance(value, int) and abs(value) >= LARGEST:
        raise ValueError(f"expected a number below 2**63, not {shown(text)}")
    if not math.isfinite(value):
        raise ValueError(f"expected a finite number, not {shown(text)}")
    return value


def _read_named(parts: Sequence[str], parse: Callable[[str], Any], before: Any) -> tuple[Any, ...]:
    """The values of these names.

    A value that the field already has is kept: a study's objective may have other values than its name implies. An
    objective that is new to a study gets the mask rate of the study's other masking objectives, if they agree, so that
    they can be compared.
    """
    present = {item.name: item for item in before}
    rates = {rate for item in before if isinstance(item, Objective) and (rate := item.traits.mask_rate)}
    new = {part: parse(part) for part in parts if part not in present}
    if len(rates) == 1:
        new = {part: _masking(item, *rates) if item not in before else item for part, item in new.items()}
    return tuple(present.get(part) or new[part] for part in parts)


def _masking(objective: Any, mask_rate: float) -> Any:
    """The objective, and those that it consists of, with a mask rate."""
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(objective):
        value = getattr(objective, field.name)
        if field.name == "mask_rate":
            changes["mask_rate"] = mask_rate
        elif isinstance(value, Objective):
            changes[field.name] = _masking(value, mask_rate)
        elif isinstance(value, tuple):
            changes[field.name] = tuple(_masking(part, mask_rate) for part in value)
    return dataclasses.replace(objective, **changes)


# Named values, the text of a language, bitexts, and the files of a task


def _measure(name: str) -> Measure:
    if name not in MEASURES:
        raise BadInput(unknown("measure", name, MEASURES))
    return MEASURES[name]


def _paths(text: str) -> tuple[Path, ...]:
    return tuple(map(Path, _split(text)))


def _source(text: str) -> Files:
    if not (paths := _paths(text)):
        raise ValueError("expected files of text, with commas between them")
    return Files(paths)


def _easy(text: str) -> EasyText:
    """The number of frequent words."""
    return EasyText(int(read_number(text, int)))


def _texts(text: str) -> TextFiles:
    return TextFiles(_paths(text))


def _task_files(text: str) -> TaskFiles:
    """Training files, or all splits' if there are no others; and test files after a plus sign."""
    train, _, test = text.partition("+")
    return TaskFiles(_paths(train), _paths(test))


def _bitext(text: str) -> BitextFiles:
    """A file with two columns, or two files with a plus sign between them."""
    path, plus, second = text.partition("+")
    return BitextFiles(Path(path.strip()), Path(second.strip()) if plus else None)


def _pair(text: str) -> tuple[str, str]:
    """A pair of languages, as in en-fr; where one has a dash in its name, as in en:zh-tw."""
    languages = text.split(":" if ":" in text else "-")
    if len(languages) != 2 or not all(languages):
        raise ValueError(f"expected two languages, as in en-fr or en:zh-tw, not {shown(text)}")
    return languages[0], languages[1]


PARSERS: Mapping[Any, Callable[[str], Any]] = {
    Transform: transform,
    Objective: objectives.parse,
    Source: _source,
    TaskFiles: _task_files,
    EasyText: _easy,
    Measure: _measure,
    TextFiles: _texts,
    BitextFiles: _bitext,
}
"""The readers of values by their type."""
