"""Places of labels: as near to their values as they can be without meeting."""

from __future__ import annotations

from collections.abc import Sequence


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


def _inside(middle: float, members: int, gap: float) -> float:
    """The middle of a group moved so that the group lies between 0 and 1, or around the middle of these."""
    half = min(0.5, gap * (members - 1) / 2)
    return min(max(middle, half), 1 - half)


def _bottom(group: tuple[list[int], float], gap: float) -> float:
    return group[1] - gap * (len(group[0]) - 1) / 2


def _top(group: tuple[list[int], float], gap: float) -> float:
    return group[1] + gap * (len(group[0]) - 1) / 2
