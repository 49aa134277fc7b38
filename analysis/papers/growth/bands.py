"""Bands around lines that never overlap: where two intervals would, neither is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def spread(values: Sequence[float], gap: float) -> list[float]:
    """The values, from 0 to 1, moved so that no two are nearer than `gap` and none leaves; their order stays.

    More than fit are spread around the middle.
    """
    order = sorted(range(len(values)), key=lambda i: values[i])
    groups: list[tuple[list[int], float]] = []  # those that touch, and the place of their middle
    for i in order:
        groups.append(([i], _inside(values[i], 1, gap)))
        while len(groups) > 1 and _bottom(groups[-1], gap) - _top(groups[-2], gap) < gap - 1e-12:
            (more, at), (few, before) = groups.pop(), groups.pop()
            both = [*few, *more]
            middle = (at * len(more) + before * len(few)) / len(both)
            groups.append((both, _inside(middle, len(both), gap)))
    moved = [0.0] * len(values)
    for members, middle in groups:
        for rank, i in enumerate(members):
            moved[i] = middle + gap * (rank - (len(members) - 1) / 2)
    return moved


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


def _inside(middle: float, members: int, gap: float) -> float:
    """The middle of a group moved so that the group lies between 0 and 1, or around the middle of these."""
    half = min(0.5, gap * (members - 1) / 2)
    return min(max(middle, half), 1 - half)


def _bottom(group: tuple[list[int], float], gap: float) -> float:
    return group[1] - gap * (len(group[0]) - 1) / 2


def _top(group: tuple[list[int], float], gap: float) -> float:
    return group[1] + gap * (len(group[0]) - 1) / 2
