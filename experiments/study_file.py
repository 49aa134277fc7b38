"""A study of one's own: a Python file whose function returns it.

The file is imported by its name, with its folder on the path, so that worker processes, which are given that path, find
its classes by the same name.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from derive.errors import BadInput, shown
from derive.files import check_name
from experiments.study import Study
from experiments.typed import mistyped
from experiments.validation import LONGEST

MOST = 5
"""Values of a wrong type that one error tells."""


def study_of_file(path: Path) -> Study:
    """The study of a file: what its function of the file's name returns, or its only function without arguments.

    Raises:
        BadInput: there is no such file, its code fails, it has no such function, or that returns no study.
    """
    module = _imported(path)
    function = _function(module, path)
    made = _run(function, path, f"{function.__name__}()")
    if not isinstance(made, Study):
        raise BadInput(f"{function.__name__}() returns {shown(repr(made))}; expected a study", path)
    if wrong := list(islice(mistyped(made, type(made)), MOST)):
        raise BadInput(f"{function.__name__}(): {'; '.join(wrong)}", path)
    try:
        check_name(made.name, "a study named")
    except BadInput as error:
        raise BadInput(str(error), path) from None
    if len(made.name) > LONGEST:
        raise BadInput(f"a study named {shown(made.name)}, which is too long for a folder's name", path)
    return made


def _imported(path: Path) -> ModuleType:
    whole = path.expanduser().resolve()
    name, folder = whole.stem, str(whole.parent)
    if not whole.is_file():
        raise BadInput("there is no such file; expected Python with a function that returns a study", path)
    if not name.isidentifier():
        raise BadInput(f"a file that Python cannot import as {shown(name)}; name it with letters and underscores", path)
    if folder not in sys.path:
        sys.path.append(folder)  # last: what lies beside the file hides no module
    found = find_spec(name)
    if found is None or found.origin is None or Path(found.origin).resolve() != whole:
        raise BadInput(f"there is another module named {name}; rename the file", path)
    module: ModuleType = _run(lambda: import_module(name), path, "the file")
    return module


def _function(module: ModuleType, path: Path) -> Callable[[], Any]:
    own = {
        name: function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_") and _asks_nothing(function)
    }
    if path.stem in own:
        return own[path.stem]
    if len(own) == 1:
        return next(iter(own.values()))
    there = f"there are {', '.join(own)}" if own else "there is none without arguments"
    raise BadInput(f"no function {path.stem}() that returns a study; {there}", path)


def _asks_nothing(function: Callable[..., Any]) -> bool:
    return all(asked.default is not asked.empty for asked in inspect.signature(function).parameters.values())


def _run(code: Callable[[], Any], path: Path, what: str) -> Any:
    """What the file's code returns; its errors are the user's, and are told with the line of the file."""
    try:
        return code()
    except SyntaxError as error:
        raise BadInput(f"no Python: {error.msg}", error.filename or path, error.lineno) from error
    except (Exception, SystemExit) as error:
        whole = str(path.expanduser().resolve())
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == whole]
        said = f"{type(error).__name__}: {error}".strip(": ")
        raise BadInput(f"{what} fails: {said}", path, lines[-1] if lines else None) from error
