"""Folders: where commands put what they make, and which names a folder can have."""

import re
from collections.abc import Sequence
from pathlib import Path

from calque.derive.errors import shown

ROOT = Path("runs")  # the folder for results, unless a command is given another
CACHE = "cache"
"""The folder below it for what studies share: grammars that were learnt, trees that were parsed."""
LONGEST = 120
"""Bytes of a name that becomes a folder: file systems take 255, and fingerprints and splits are added to it."""


def name_mistakes(key: str, names: Sequence[str], least: int = 1) -> list[str]:
    """What is wrong with names that become folders, such as those of transforms, objectives and gold sets."""
    wrong = [] if len(names) >= least else [f"{key} names at least one"]
    twice = sorted({name for name in names if names.count(name) > 1})
    wrong += [f"{key} names one twice: {', '.join(map(shown, twice))}"] if twice else []
    wrong += [
        f"{key}: {shown(name)} cannot name a folder; expected no slash, no leading dot and no invisible character"
        for name in names
        if not name.isprintable() or not re.fullmatch(r"[^/.][^/]*", name)
    ]
    long = [name for name in names if len(name.encode()) > LONGEST]
    return wrong + [f"{key}: {shown(name)} is too long for a folder's name" for name in long]
