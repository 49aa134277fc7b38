"""Seeds of one objective split into two groups of equal size, seed beside seed, as if they were of two objectives."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, permutations
from math import comb, factorial

Split = tuple[tuple[int, int], ...]
"""Pairs of seeds: of each the first is in the first group, and the second in the second."""


def number_of_splits(seeds: int, size: int) -> int:
    """How many splits into two groups of `size` there are, a split and the same with its groups exchanged being one."""
    return comb(seeds, 2 * size) * comb(2 * size, size) * factorial(size) // 2


def splits(seeds: Sequence[int], size: int, most: int) -> list[Split]:
    """Every split of some of the seeds into two groups of `size`, with every pairing between them.

    Which group is the first says nothing, so the smallest seed is in it. Of more than `most` splits that many are
    drawn, the same ones every time.

    Raises:
        ValueError: a group of no seed, or a seed twice.
    """
    if size < 1 or len(set(seeds)) < len(seeds):
        raise ValueError(f"groups of {size} of the seeds {', '.join(map(str, seeds))}")
    if number_of_splits(len(seeds), size) <= most:
        return list(_all(sorted(seeds), size))
    drawn = _drawn(sorted(seeds), size)
    return sorted(islice(drawn, most))


def _all(seeds: Sequence[int], size: int) -> Iterator[Split]:
    for first in combinations(seeds, size):
        rest = [seed for seed in seeds if seed not in first]
        for second in permutations(rest, size):
            if first[0] < min(second):
                yield tuple(zip(first, second, strict=True))


def _drawn(seeds: Sequence[int], size: int) -> Iterator[Split]:
    """Different splits, without end as long as there are more."""
    rng, seen = random.Random(f"splits of {len(seeds)} by {size}"), set[Split]()
    while True:
        some = rng.sample(seeds, 2 * size)
        first, second = some[:size], some[size:]
        ours, theirs = (first, second) if min(first) < min(second) else (second, first)
        split = tuple(sorted(zip(ours, theirs, strict=True)))
        if split not in seen:
            seen.add(split)
            yield split
