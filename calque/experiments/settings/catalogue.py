"""The list of Calque's studies, and functions that load studies by name or from a user's Python file. Slow
modules are imported when a study is loaded."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import traceback
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module, invalidate_caches
from importlib.util import find_spec
from itertools import islice, repeat
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.files import check_name, read_toml
from calque.derive.fingerprint import has_changed, modules_of
from calque.experiments.run.places import CACHE, SHARED, name_mistakes

if TYPE_CHECKING:
    from calque.experiments.study import Study

STUDIES = Path(__file__).parents[1] / "studies"
MOST = 5  # maximum number of mistyped values in one error


@cache
def table() -> dict[str, dict[str, Any]]:
    """Read studies.toml: each study's description, time, requirements, and file or settings."""
    return read_toml(STUDIES / "studies.toml")


def studies() -> tuple[str, ...]:
    """Return the names of Calque's studies."""
    return tuple(table())


def named_study(name: str) -> Study:
    """Return the study with this name or, if it ends in `.py`, the study that the file defines."""
    if name.endswith(".py"):
        user_study = _study_of_file(Path(name))
        if user_study.name in studies():
            raise BadInput(f"Calque already has a study named {user_study.name}; choose another name", name)
        return user_study
    if name not in studies():
        raise BadInput(unknown("study", name, studies()))
    entry = table()[name]
    if "set" in entry:
        from calque.experiments.settings.override import replaced

        calque_study = (
            named_study(entry["base"]) if "base" in entry else _calque_study("pocket", "small_grid")
        )
        for setting in entry["set"]:
            calque_study = replaced(calque_study, setting)
    else:
        calque_study = _calque_study(entry.get("file", name), name)
    files = {key: STUDIES / entry[key] if key in entry else None for key in ("claims", "shipped")}
    return calque_study.changed(name=name, **files)


def _calque_study(module: str, name: str) -> Study:
    calque_study: Study = getattr(import_module(f"calque.experiments.studies.{module}"), name)()
    return calque_study


def study_rows() -> list[tuple[str, str, str, str]]:
    """Return each study's name, question, time and requirements."""
    return [(name, row["doc"], row["time"], row.get("needs", "")) for name, row in table().items()]


# Study files


def _study_of_file(path: Path) -> Study:
    """Return the study from a function in a file: the one named like the file or, failing that, the only one
    that can be called without arguments. Raises BadInput if the file is missing, its code fails, or no such
    function returns a valid study."""
    from calque.experiments.study import Study

    function = _function(_imported(path), path)
    study = _run(function, path, f"{function.__name__}()")
    if not isinstance(study, Study):
        raise BadInput(f"{function.__name__}() returns {shown(repr(study))}; expected a study", path)
    if wrong := list(islice(mistyped(study, type(study)), MOST)):
        raise BadInput([f"{function.__name__}(): {mistake}" for mistake in wrong], path)
    try:
        check_name(study.name, "a study named")
    except BadInput as error:
        raise BadInput(str(error), path) from None
    if wrong := name_mistakes("the study's name", [study.name], taken=(CACHE, SHARED)):
        raise BadInput(wrong, path)
    return study


def _imported(path: Path) -> ModuleType:
    file = path.expanduser().resolve()
    name, folder = file.stem, str(file.parent)
    if not file.is_file():
        raise BadInput("no such file; expected a Python file with a function that returns a study", path)
    if not name.isidentifier():
        fault = f"Python cannot import a file named {shown(name)}"
        raise BadInput(f"{fault}; use only letters, digits and underscores", path)
    if folder not in sys.path:
        sys.path.append(folder)  # last, so that the folder's files do not shadow other modules
    invalidate_caches()
    if has_changed(name):  # edited since this process imported it, as in a notebook
        for stale in modules_of(name):
            del sys.modules[stale.__name__]
    spec = find_spec(name)
    if spec is None or spec.origin is None or Path(spec.origin).resolve() != file:
        raise BadInput(f"there is another module named {name}; rename the file", path)
    from calque.experiments.run.own_modules import import_own, own_modules

    module: ModuleType = _run(lambda: import_own(name), path, "the file")
    if name not in own_modules:
        own_modules.append(name)
    return module


def _function(module: ModuleType, path: Path) -> Callable[[], Any]:
    functions = {}
    for name, function in inspect.getmembers(module, inspect.isfunction):
        parameters = inspect.signature(function).parameters.values()
        needs_none = all(parameter.default is not parameter.empty for parameter in parameters)
        if function.__module__ == module.__name__ and not name.startswith("_") and needs_none:
            functions[name] = function
    if path.stem in functions or len(functions) == 1:
        return functions.get(path.stem) or next(iter(functions.values()))
    available = (
        f"available: {', '.join(functions)}" if functions else "no function can be called without arguments"
    )
    raise BadInput(f"expected a function {path.stem}() that returns a study; {available}", path)


def _run(code: Callable[[], Any], path: Path, what: str) -> Any:
    """Run the file's code; its errors are raised as BadInput with the line number in the file."""
    try:
        return code()
    except SyntaxError as error:
        raise BadInput(f"not valid Python: {error.msg}", error.filename or path, error.lineno) from error
    except (Exception, SystemExit) as error:
        file = str(path.expanduser().resolve())
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == file]
        message = f"{type(error).__name__}: {error}".strip(": ")
        raise BadInput(f"{what} fails: {message}", path, lines[-1] if lines else None) from error


def mistyped(value: Any, hint: Any, name: str = "") -> Iterator[str]:
    """Yield a message for each value in a user's study, including those inside dataclasses, tuples and
    mappings, that does not match the type of its field."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    fits, expected, parts = True, "", list[tuple[Any, Any, str]]()
    if origin in (typing.Union, types.UnionType):
        fits = any(next(mistyped(value, kind), None) is None for kind in arguments)
        expected = " or ".join(map(_words_for, arguments))
    elif origin is typing.Literal:
        fits, expected = value in arguments, f"one of {', '.join(map(str, arguments))}"
    elif origin is tuple:
        fits, expected = isinstance(value, tuple), "a tuple: ('a', 'b'), or ('a',) for a single value"
        kinds = repeat(arguments[0]) if arguments[-1:] == (Ellipsis,) else arguments
        for place, (item, kind) in enumerate(zip(value if fits else (), kinds, strict=False)):
            parts.append((item, kind, f"{name}[{place}]"))
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        fits, expected = isinstance(value, Mapping), "a dict"
        for key, item in value.items() if fits else ():
            parts += [(key, arguments[0], f"a key of {name}"), (item, arguments[1], f"{name}.{key}")]
    elif hint in (int, float):
        fits, expected = isinstance(value, hint | int) and not isinstance(value, bool), _words_for(hint)
    elif isinstance(hint, type) and hint is not Any:
        fits, expected = isinstance(value, hint), _words_for(hint)
        parts += _fields_of(value, name) if fits and dataclasses.is_dataclass(value) else []
    if not fits:
        yield f"{name} is {shown(repr(value))}; expected {expected}"
    for part in parts:
        yield from mistyped(*part)


def _fields_of(value: Any, name: str) -> list[tuple[Any, Any, str]]:
    try:
        hints = typing.get_type_hints(type(value))
    except NameError:  # a name imported only for type checkers
        return []
    names = [field.name for field in dataclasses.fields(value)]
    return [(getattr(value, field), hints[field], f"{name}.{field}".lstrip(".")) for field in names]


def _words_for(kind: Any) -> str:
    words = {int: "a whole number", float: "a number", str: "text", bool: "True or False", type(None): "None"}
    return words.get(kind) or str(getattr(kind, "__name__", kind))
