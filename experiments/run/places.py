"""Folders: the places of results, and valid names."""

import re
from collections.abc import Sequence
from pathlib import Path

from calque.derive.errors import BadInput, shown

ROOT = Path("runs")  # the folder for results, unless a command is given another
CACHE = "cache"  # the folder below it that studies share: learnt grammars, parsed trees
SHARED = "shared"  # the folder below it with the steps of all studies
REPORT = "report"  # the folder of a study's report
RESERVED = ("floors", "jobs", "languages", "report", "reports", "start", "tasks")
"""The folders of a study that are not of a transform, an objective or a gold set."""
LONGEST = 120
"""Most bytes of a name that becomes a folder: file systems allow 255, and fingerprints and splits are added to it."""


def name_mistakes(key: str, names: Sequence[str], least: int = 1, taken: Sequence[str] = RESERVED) -> list[str]:
    """The problems of names that become folders next to `taken` ones, such as names of transforms and objectives."""
    wrong = [] if len(names) >= least else [f"{key} names at least one"]
    twice = sorted({name for name in names if names.count(name) > 1})
    wrong += [f"{key} names one twice: {', '.join(map(shown, twice))}"] if twice else []
    wrong += [
        f"{key}: {shown(name)} cannot name a folder; expected no slash, no leading dot and no invisible character"
        for name in names
        if not name.isprintable() or not re.fullmatch(r"[^/.][^/]*", name)
    ]
    reserved = [name for name in names if name.lower() in taken]
    wrong += [f"{key}: {name} is the name of one of Calque's folders" for name in reserved]
    long = [name for name in names if len(name.encode()) > LONGEST]
    return wrong + [f"{key}: {shown(name)} is too long for a folder's name" for name in long]


def check_report_name(name: str | None) -> str | None:
    """The name of a report, which has no dots: `report.html` is a file. Raises BadInput if it cannot name a folder."""
    if name is not None and not re.fullmatch(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{LONGEST - 1}}}", name):
        raise BadInput(f"--name {shown(name)}; expected 1 to {LONGEST} letters, digits, dashes and underscores")
    return name
