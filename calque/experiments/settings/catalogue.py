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
from contextlib import suppress
from functools import cache
from importlib import import_module, invalidate_caches
from importlib.util import find_spec
from itertools import islice
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
UNIONS = typing.Union, types.UnionType
KINDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "True or False",
    type(None): "None",
    tuple: "a tuple: ('a', 'b'), or ('a',) for a single value",
    Mapping: "a dict",
}
"""How error messages name types."""


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
    from calque.experiments.settings.override import replaced

    if "base" in entry:
        calque_study = named_study(entry["base"])
    else:
        module = import_module(f"calque.experiments.studies.{entry.get('file', 'pocket')}")
        calque_study = getattr(module, "small_grid" if "set" in entry else name)()
    for setting in entry.get("set", ()):
        calque_study = replaced(calque_study, setting)
    files = {key: STUDIES / entry[key] if key in entry else None for key in ("claims", "shipped")}
    return calque_study.changed(name=name, **files)


# Study files


def _study_of_file(path: Path) -> Study:
    """Return the study from the function in a file that is named like the file. Raises BadInput if the file
    is missing, its code fails, or the function is missing or returns no valid study."""
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
    defined = {
        name: function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
    }
    if path.stem in defined:
        return defined[path.stem]
    available = f"; available: {', '.join(defined)}" if defined else ""
    raise BadInput(f"expected a function {path.stem}() that returns a study{available}", path)


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
    kind, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind in UNIONS:
        fits = any(next(mistyped(value, argument), None) is None for argument in arguments)
    elif kind is typing.Literal:
        fits = value in arguments
    elif kind in (int, float):
        fits = isinstance(value, kind | int) and not isinstance(value, bool)
    else:
        fits = kind is Any or not isinstance(kind, type) or isinstance(value, kind)
    if not fits:
        yield f"{name} is {shown(repr(value))}; expected {_words_for(hint)}"
    elif kind not in (*UNIONS, Any):
        for part in _parts(value, arguments, name):
            yield from mistyped(*part)


def _parts(value: Any, kinds: tuple[Any, ...], name: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield a value's parts, each with its declared type and its name."""
    if isinstance(value, tuple):
        kinds = kinds[:1] * len(value) if Ellipsis in kinds else kinds
        for place, (item, kind) in enumerate(zip(value, kinds, strict=False)):
            yield item, kind, f"{name}[{place}]"
    elif isinstance(value, Mapping) and kinds:
        for key, item in value.items():
            yield key, kinds[0], f"a key of {name}"
            yield item, kinds[1], f"{name}.{key}"
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        with suppress(NameError):  # a name imported only for type checkers
            hints = typing.get_type_hints(type(value))
            for field in dataclasses.fields(value):
                yield getattr(value, field.name), hints[field.name], f"{name}.{field.name}".lstrip(".")


def _words_for(hint: Any) -> str:
    kind, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind in UNIONS:
        return " or ".join(map(_words_for, arguments))
    if kind is typing.Literal:
        return f"one of {', '.join(map(str, arguments))}"
    return KINDS.get(kind) or str(getattr(kind, "__name__", kind))
