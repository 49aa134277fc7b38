"""Load studies by name, or from a user's Python file. Slow modules are imported when a study is loaded."""

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
from importlib.util import cache_from_source, find_spec
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
        return _study_of_file(Path(name))
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
    """Return the study that a file's function of the same name returns. Raises BadInput if the file or the
    function is missing, its code fails, or the study is invalid."""
    from calque.experiments.study import Study

    function = getattr(_imported(path), path.stem, None)
    if not inspect.isfunction(function):
        raise BadInput(f"expected a function {path.stem}() that returns a study", path)
    study = _run(function, path, f"{path.stem}()")
    if not isinstance(study, Study):
        raise BadInput(f"{path.stem}() returns {shown(repr(study))}; expected a study", path)
    if wrong := list(islice(mistyped(study, type(study)), MOST)):
        raise BadInput([f"{path.stem}(): {mistake}" for mistake in wrong], path)
    try:
        check_name(study.name, "a study named")
    except BadInput as error:
        raise BadInput(str(error), path) from None
    if wrong := name_mistakes("the study's name", [study.name], taken=(CACHE, SHARED, *studies())):
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
            # Python would reuse bytecode if the file's size and the second of its last change are the same.
            Path(cache_from_source(str(stale.__file__))).unlink(missing_ok=True)
            del sys.modules[stale.__name__]
    spec = find_spec(name)
    if spec is None or spec.origin is None or Path(spec.origin).resolve() != file:
        raise BadInput(f"there is another module named {name}; rename the file", path)
    from calque.experiments.run.own_modules import import_own, own_modules

    module: ModuleType = _run(lambda: import_own(name), path, "the file")
    if name not in own_modules:
        own_modules.append(name)
    return module


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
    """Yield a message for each value in a user's study, at any depth, that does not fit its field's type."""
    kinds = typing.get_args(hint) if typing.get_origin(hint) in UNIONS else (hint,)
    classes = tuple(typing.get_origin(kind) or kind for kind in kinds)
    if typing.Literal in classes:
        fits = value in typing.get_args(hint)
    elif Any not in classes and all(isinstance(kind, type) for kind in classes):
        fits = isinstance(value, classes) or (float in classes and isinstance(value, int))
    else:
        fits = True
    if not fits:
        expected = hint.__name__ if hint in classes else hint
        yield f"{name} is {shown(repr(value))}; expected {expected}"
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        with suppress(NameError):  # a name imported only for type checkers
            hints = typing.get_type_hints(type(value))
            for field in dataclasses.fields(value):
                place = f"{name}.{field.name}".lstrip(".")
                yield from mistyped(getattr(value, field.name), hints[field.name], place)
    elif isinstance(value, Mapping):
        key_kind, kind = (*typing.get_args(kinds[0]), Any, Any)[:2]
        for key, item in value.items():
            yield from mistyped(key, key_kind, f"a key of {name}")
            yield from mistyped(item, kind, f"{name}.{key}")
    elif isinstance(value, tuple):
        kind, *others = (*typing.get_args(kinds[0]), Any)
        for i, item in enumerate(value):
            yield from mistyped(item, kind if Ellipsis in others else Any, f"{name}[{i}]")
