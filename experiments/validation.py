"""Checks of a study's values that several parts share; each returns what is wrong, in words."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from derive.errors import shown

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


def mask_mistakes(key: str, objective: Any) -> list[str]:
    """What is wrong with the mask rates of an objective and of its parts."""
    if isinstance(objective, tuple):
        return [mistake for part in objective for mistake in mask_mistakes(key, part)]
    if not dataclasses.is_dataclass(objective):
        return []
    rate = getattr(objective, "mask_rate", 0.0)
    wrong = [] if 0 <= rate < 1 else [f"{key}: mask_rate is a share from 0 to below 1, not {rate}"]
    fields = (getattr(objective, field.name) for field in dataclasses.fields(objective))
    return list(dict.fromkeys([*wrong, *(mistake for field in fields for mistake in mask_mistakes(key, field))]))
