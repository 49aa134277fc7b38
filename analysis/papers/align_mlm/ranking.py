"""The best of several objectives, if it is better than all others beyond seed noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analysis.report.table import percent
from analysis.results.measured import BySeed, difference, mean
from analysis.results.results import Results


@dataclass(frozen=True)
class Ranking:
    """The first two objectives by their means.

    `leads` says whether the first is a leader: beyond every other by the paired interval over seeds, and not equal to
    the next as printed. One seed makes no leader.
    """

    best: str
    value: float
    next: str
    next_value: float
    leads: bool


def ranked(results: Results, look: Callable[[str], BySeed], side: int) -> Ranking | None:
    """Rank objectives by what `look` finds of each, the largest first (`side` +1) or the smallest (-1).

    None with fewer than two of them.
    """
    seeds = {objective: look(objective) for objective in results.objectives}
    means = {objective: estimate.mean for objective, values in seeds.items() if (estimate := mean(values))}
    if len(means) < 2:
        return None
    first, second, *_ = order = sorted(means, key=lambda objective: -side * means[objective])
    beyond = all(_beyond(seeds[first], seeds[other], side) for other in order[1:])
    leads = beyond and percent(means[first]) != percent(means[second])
    return Ranking(first, means[first], second, means[second], leads)


def noise(results: Results) -> str:
    """Why nobody leads."""
    return "one seed decides nothing" if len(results.seeds) < 2 else "within the noise between seeds"


def _beyond(ours: BySeed, theirs: BySeed, side: int) -> bool:
    gap = difference(ours, theirs)
    ends = [gap.low, gap.high] if gap and gap.seeds > 1 else [None]
    return all(end is not None and side * end > 0 for end in ends)
