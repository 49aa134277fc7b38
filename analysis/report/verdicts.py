"""Counts of verdicts, in words."""

from __future__ import annotations

from collections import Counter

from analysis.report.table import Table
from analysis.statistics.families import FAILS_ALONE, HOLDS_ALONE
from analysis.statistics.verdicts import FAILS, HOLDS

WORDS = {
    HOLDS: ("holds", "hold"),
    FAILS: ("does not hold", "do not hold"),
    HOLDS_ALONE: ("holds alone but not after correction", "hold alone but not after correction"),
    FAILS_ALONE: ("fails alone but not after correction", "fail alone but not after correction"),
}
"""Of one claim, and of several."""


def verdicts(claims: Table) -> str:
    """A sentence that counts the verdicts, the second column of a table of claims."""
    counts = Counter(row[1] for row in claims.rows)
    parts = [f"{count} {_verb(verdict, count)}" for verdict, count in counts.most_common()]
    claim = "claim" if len(claims.rows) == 1 else "claims"
    return f"Of {len(claims.rows)} {claim} tested, {listed(parts)}."


def listed(parts: list[str]) -> str:
    """Words as a list in a sentence: a, b and c."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def _verb(verdict: str, count: int) -> str:
    singular, plural = WORDS.get(verdict, (f"is {verdict}", f"are {verdict}"))
    return singular if count == 1 else plural
