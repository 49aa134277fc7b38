"""Bands around lines that never overlap: where two intervals would, neither is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from analysis.statistics.intervals import Estimate

Interval = tuple[float, float]


def clear_stretches(lines: Mapping[str, Mapping[int, Estimate]]) -> dict[str, list[list[int]]]:
    """The stretches of steps, two or more each, in which a line's band overlaps with no other line or band.

    Bands run straight from step to step, so two that are apart at both ends of a stretch, and lie the same way round,
    are apart between them.
    """
    made = {}
    for name, line in lines.items():
        others = [other for key, other in lines.items() if key != name]
        stretches: list[list[int]] = []
        for a, b in pairwise(sorted(line)):
            if all(_apart(line, other, a, b) for other in others) and _known(line[a]) and _known(line[b]):
                if stretches and stretches[-1][-1] == a:
                    stretches[-1].append(b)
                else:
                    stretches.append([a, b])
        made[name] = stretches
    return made


def _apart(line: Mapping[int, Estimate], other: Mapping[int, Estimate], a: int, b: int) -> bool:
    if a not in other or b not in other:
        return True
    sides = []
    for step in (a, b):
        (low, high), (least, most) = _interval(line[step]), _interval(other[step])
        sides.append(1 if low > most else -1 if high < least else 0)
    return sides[0] == sides[1] != 0


def _known(one: Estimate) -> bool:
    return one.low is not None


def _interval(one: Estimate) -> Interval:
    return (one.mean if one.low is None else one.low, one.mean if one.high is None else one.high)
