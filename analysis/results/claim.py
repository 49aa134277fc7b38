"""Claims: the headlines of a paper, each with the test that records decide it by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analysis.results.results import Results
from analysis.statistics.verdicts import Verdict


@dataclass(frozen=True)
class Claim:
    """A headline, where it stands, the family of claims that it is judged with, and how records are asked about it."""

    text: str
    where: str
    family: str
    test: Callable[[Results], Verdict]
