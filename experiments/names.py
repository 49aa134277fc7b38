"""Studies by name: Calque's, and a user's own files."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from calque.derive.errors import BadInput, unknown

if TYPE_CHECKING:  # it loads torch, and --help does not wait for that
    from calque.experiments.study import Study

FIRST = "pocket"  # the study at the top of lists


@cache
def studies() -> tuple[str, ...]:
    """The studies: the files of `experiments/studies` with a function of the file's name."""
    files = Path(__file__).with_name("studies").glob("*.py")
    names = [file.stem for file in files if f"\ndef {file.stem}()" in file.read_text(encoding="utf-8")]
    return tuple(sorted(names, key=lambda name: (name != FIRST, name)))


def study(name: str) -> Study:
    """The study of a name, or of a Python file."""
    if name.endswith(".py"):
        from calque.experiments.study_file import study_of_file

        own = study_of_file(Path(name))
        if own.name in studies():
            raise BadInput(f"its study is called {own.name}, like one of Calque's; give it another name", name)
        return own
    if name not in studies():
        raise BadInput(unknown("study", name, studies()))
    found: Study = getattr(import_module(f"calque.experiments.studies.{name}"), name)()
    return found


def study_doc(name: str) -> str:
    """The first line of a study's docstring."""
    doc = getattr(import_module(f"calque.experiments.studies.{name}"), name).__doc__
    return str(doc).strip().splitlines()[0]
