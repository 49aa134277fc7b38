"""The list of Calque's studies, and functions that load studies by name or file."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calque.derive.errors import BadInput, unknown
from calque.derive.files import read_toml

if TYPE_CHECKING:
    from calque.experiments.study import Study

STUDIES = Path(__file__).parents[1] / "studies"


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
        from calque.experiments.settings.study_file import study_of_file

        user_study = study_of_file(Path(name))
        if user_study.name in studies():
            raise BadInput(f"Calque already has a study named {user_study.name}; choose another name", name)
        return user_study
    if name not in studies():
        raise BadInput(unknown("study", name, studies()))
    entry = table()[name]
    if "set" in entry:
        from calque.experiments.settings.override import replaced

        calque_study = named_study(entry["base"]) if "base" in entry else _function("pocket", "small_grid")
        for setting in entry["set"]:
            calque_study = replaced(calque_study, setting)
    else:
        calque_study = _function(entry.get("file", name), name)
    files = {key: STUDIES / entry[key] if key in entry else None for key in ("claims", "shipped")}
    return calque_study.changed(name=name, **files)


def _function(module: str, name: str) -> Study:
    calque_study: Study = getattr(import_module(f"calque.experiments.studies.{module}"), name)()
    return calque_study


def study_rows() -> list[tuple[str, str, str, str]]:
    """Return each study's name, question, time and requirements."""
    return [(name, row["doc"], row["time"], row.get("needs", "")) for name, row in table().items()]


def study_time(name: str) -> str:
    """Return a Calque study's time on two cores, such as `15 minutes`, or "" if unknown."""
    time: str = table().get(name, {}).get("time", "")
    return "" if time == "not run" else time
