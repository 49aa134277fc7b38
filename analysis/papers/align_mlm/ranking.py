"""The best two of several objectives, and whether they differ beyond seed noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analysis.results.measured import BySeed, difference, mean
from analysis.results.results import Results


@dataclass(frozen=True)
class Ranking:
    """The best objective and the next one, their means, and whether the paired interval over seeds is beyond 0."""

    best: str
    value: float
    next: str
    next_value: float
    decided: bool


def ranked(results: Results, look: Callable[[str], BySeed], side: int) -> Ranking | None:
    """Rank objectives by what `look` finds of each, the largest first (`side` +1) or the smallest (-1).

    None with fewer than two of them.
    """
    seeds = {objective: look(objective) for objective in results.objectives}
    means = {objective: estimate.mean for objective, values in seeds.items() if (estimate := mean(values))}
    if len(means) < 2:
        return None
    first, second = sorted(means, key=lambda objective: -side * means[objective])[:2]
    gap = difference(seeds[first], seeds[second])
    ends = [gap.low, gap.high] if gap and gap.seeds > 1 else [None]
    decided = all(end is not None and side * end > 0 for end in ends)
    return Ranking(first, means[first], second, means[second], decided)
