"""Studies by name: Calque's, and a user's own files."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calque.derive.errors import BadInput, unknown
from calque.derive.files import read_toml

if TYPE_CHECKING:  # it loads torch, and --help does not wait for that
    from calque.experiments.study import Study

STUDIES = Path(__file__).with_name("studies")
FIRST = "pocket"  # the study at the top of lists


@cache
def studies() -> tuple[str, ...]:
    """The studies: the files of `experiments/studies` with a function of the file's name, and their variants."""
    names = [file.stem for file in STUDIES.glob("*.py") if f"\ndef {file.stem}()" in file.read_text(encoding="utf-8")]
    return tuple(sorted([*names, *_variants()], key=lambda name: (name != FIRST, name)))


@cache
def _variants() -> dict[str, dict[str, Any]]:
    """The entries of variants.toml: studies that are another one with other values."""
    return read_toml(STUDIES / "variants.toml")


def study(name: str) -> Study:
    """The study of a name, or of a Python file."""
    if name.endswith(".py"):
        from calque.experiments.study_file import study_of_file

        own = study_of_file(Path(name))
        if own.name in studies():
            raise BadInput(f"its study is called {own.name}, like one of Calque's; give it another name", name)
        return own
    check_name(name)
    if name in _variants():
        from calque.experiments.override import replaced

        variant = _variants()[name]
        found = study(variant["base"]) if "base" in variant else _made("pocket", "small_grid")
        for setting in variant["set"]:
            found = replaced(found, setting)
        return found.changed(name=name)
    return _made(name, name)


def _made(module: str, name: str) -> Study:
    function: Callable[[], Study] = getattr(import_module(f"calque.experiments.studies.{module}"), name)
    return function()


def check_name(name: str) -> None:
    """Raises BadInput, with the nearest name, unless Calque has the study."""
    if name not in studies():
        raise BadInput(unknown("study", name, studies()))


def study_rows() -> list[tuple[str, str, str, str]]:
    """Each study's name, the first line of its docstring, its time and its needs."""
    return [(name, study_doc(name), _constant(name, "TIME"), _constant(name, "NEEDS")) for name in studies()]


def study_time(name: str) -> str:
    """The time of a study of Calque's on two cores, as in `15 minutes`; empty if it is unknown."""
    time = _constant(name, "TIME") if name in studies() else ""
    return "" if time == "not run" else time


def study_doc(name: str) -> str:
    """The first line of a study's docstring, or the description of a variant."""
    if name in _variants():
        return str(_variants()[name]["doc"])
    functions = (part for part in _source(name).body if isinstance(part, ast.FunctionDef) and part.name == name)
    return (ast.get_docstring(next(functions)) or "").split("\n")[0]


def _constant(name: str, constant: str) -> str:
    if name in _variants():
        return str(_variants()[name].get(constant.lower(), ""))
    for part in _source(name).body:
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == constant:
            return str(ast.literal_eval(part.value))
    return ""


@cache
def _source(name: str) -> ast.Module:
    """The file of a study, which is not imported: that would load torch."""
    return ast.parse((STUDIES / f"{name}.py").read_text(encoding="utf-8"))
