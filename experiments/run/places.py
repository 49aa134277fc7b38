"""Results folders, and checks of names."""

import re
from collections.abc import Sequence
from pathlib import Path

from calque.derive.errors import BadInput, shown

ROOT = Path("runs")  # the default results folder
CACHE = "cache"  # its subfolder, shared by studies, for learnt grammars and parsed trees
SHARED = "shared"  # its subfolder for the steps of all studies
REPORT = "report"  # the folder of a study's report
RESERVED = ("floors", "jobs", "languages", "report", "reports", "start", "tasks")
"""Names of Calque's own folders in a study, which no transform, objective or gold set may have."""
LONGEST = 120
"""Maximum bytes in a name used for a folder: file systems allow 255, and fingerprints and splits are
appended."""


def name_mistakes(
    key: str, names: Sequence[str], least: int = 1, taken: Sequence[str] = RESERVED
) -> list[str]:
    """Return the errors in names that become folders, such as those of transforms and objectives; names in
    `taken` are not allowed."""
    wrong = [] if len(names) >= least else [f"{key}: expected at least one"]
    twice = sorted({name for name in names if names.count(name) > 1})
    wrong += [f"{key}: named twice: {', '.join(map(shown, twice))}"] if twice else []
    wrong += [
        f"{key}: {shown(name)} cannot be a folder's name; expected no slash, no leading dot and no "
        "invisible character"
        for name in names
        if not name.isprintable() or not re.fullmatch(r"[^/.][^/]*", name)
    ]
    reserved = [name for name in names if name.lower() in taken]
    wrong += [f"{key}: {name} is the name of one of Calque's own folders" for name in reserved]
    long = [name for name in names if len(name.encode()) > LONGEST]
    return wrong + [f"{key}: {shown(name)} is too long for a folder's name" for name in long]


def check_report_name(name: str | None) -> str | None:
    """Return a report's name; raise BadInput if it cannot be a folder's name. Dots are not allowed, since
    `report.html` is a file."""
    if name is not None and not re.fullmatch(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{LONGEST - 1}}}", name):
        raise BadInput(
            f"--name {shown(name)}: expected 1 to {LONGEST} letters, digits, dashes and underscores"
        )
    return name
