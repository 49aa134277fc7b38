"""Permutation nulls: what a measure says when what belongs together is shuffled.

Items are shuffled among those that are alike in something that says nothing of meaning, such as the length of a
sentence: without that, a measure would leave its null by that alone. Shapes: S shuffles, N items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from analysis.records.record import Null

ALIKE = 5
"""Items that are alike at least, for any of them to be asked for: fewer would often keep their own place."""
LOW, HIGH = 2.5, 97.5
"""Percentiles."""
LIKE_FREQUENT = 10
"""Types of a group that are exchanged among them."""


def like_frequent(counts: np.ndarray) -> list[Hashable]:
    """Of each type the group of those that are nearest in frequency: LIKE_FREQUENT of them, the last group has more.

    `counts` are occurrences, one a type.
    """
    rank = np.argsort(np.argsort(-counts, kind="stable"))
    groups: list[Hashable] = np.minimum(rank // LIKE_FREQUENT, max(len(counts) // LIKE_FREQUENT - 1, 0)).tolist()
    return groups


def in_company(kinds: Sequence[Hashable], least: int = ALIKE) -> list[int]:
    """The places of the items of whose kind there are `least` or more, in their order."""
    counts = Counter(kinds)
    return [place for place, kind in enumerate(kinds) if counts[kind] >= least]


def shuffled(kinds: Sequence[Hashable], shuffles: int, seed: int) -> np.ndarray:
    """`shuffles` permutations of the items within their kinds, (S, N): entry i is the item that takes i's place."""
    number: dict[Hashable, int] = {}
    of = np.array([number.setdefault(kind, len(number)) for kind in kinds], np.int64)
    home = np.argsort(of, kind="stable")  # the items, kind after kind
    random = np.random.default_rng(seed)
    made = np.empty((shuffles, len(of)), np.int64)
    for row in made:
        row[home] = home[np.lexsort((random.random(len(of)), of[home]))]
    return made


def null(values: np.ndarray, chance: float | None = None) -> Null:
    """The null of values measured after shuffles, (S,); without a chance level by reckoning it is their mean.

    Raises:
        ValueError: no value.
    """
    if not len(values):
        raise ValueError("a null of no shuffles")
    low = float(np.percentile(values, LOW, method="lower"))  # numbers of few items jump: none is made between two
    high = float(np.percentile(values, HIGH, method="higher"))
    return Null(float(np.mean(values)) if chance is None else chance, low, high, len(values))


def either(first: Null, second: Null) -> Null:
    """The band that holds two nulls of the same number: beyond it is what neither explains."""
    return replace(first, low=min(first.low, second.low), high=max(first.high, second.high))
