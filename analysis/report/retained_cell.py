"""Retained transfer and floors as cells of tables."""

from __future__ import annotations

from analysis.records.floor import Floor
from analysis.report.table import MISSING, cell, percent
from analysis.results.retained import Retained

FLOOR = "floor"
"""Whose number a row shows that is a baseline's."""
NOTE = (
    "Retained: (ZS − floor) / (SUP − floor) in percent, the floor being the strongest baseline of words that learns "
    "from the source alone; its interval is Fieller’s. A score that is not beyond its floor by its own interval is at "
    "it; one that is not beyond what overlaps of texts give in any script is said to be so."
)
ROWS = "Floor rows are baselines without a model: learnt in the derived language under SUP, in the source under ZS."


def retained_cell(found: Retained | None) -> str:
    """The share with its interval, and in words what makes it little worth or not defined."""
    if found is None:
        return MISSING
    if found.share is None:
        return found.told
    return ", ".join(filter(None, [cell(found.share), found.told]))


def floor_cell(floor: Floor | None) -> str:
    """A floor's score in percent; it has no seeds."""
    return percent(floor.value) if floor else MISSING
