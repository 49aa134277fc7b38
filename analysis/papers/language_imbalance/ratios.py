"""Ratios, whose means are taken of logarithms: written, with intervals."""

from __future__ import annotations

import math

from analysis.papers.language_imbalance.conditions import Efficiencies
from analysis.report.table import MISSING
from analysis.results.measured import mean

SIDES = {1: "≥", -1: "≤"}
"""What stands before a ratio where the curve ended before it: it is at least, or at most, so large."""


def ratio(numbers: Efficiencies) -> str:
    """The geometric mean over seeds and its interval."""
    estimate = mean(numbers.logs)
    if estimate is None:
        return MISSING
    side = "".join(SIDES[beyond] for beyond in sorted(numbers.beyond))
    said = f"{side}{math.exp(estimate.mean):.2f}"
    if estimate.low is None or estimate.high is None:
        return said
    return f"{said} [{math.exp(estimate.low):.2f}, {math.exp(estimate.high):.2f}]"
