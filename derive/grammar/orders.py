"""All orders of n items, and which features of pairs and sequences each of them has.

A slot is the place of an item in its node's tuple of items: n - 1 is the head's, n is the mark before all
items and n + 1 the mark after them.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise, permutations

import numpy as np

KINDS = ADJACENT, ORDERED, BEFORE, AROUND, AFTER = ("adjacent", "ordered", "before", "around", "after")
"""Pairs of items: neighbours, marks among them; one anywhere before the other; both before the head, on either
side of it, both after it."""
LONGEST_SEQUENCE = 5

Column = tuple[str, int, int]


@cache
def orders(n: int) -> np.ndarray:
    """Every order of n items: (n!, n) int8, the slots from first to last."""
    return np.array(list(permutations(range(n))), dtype=np.int8)


@cache
def order_tuples(n: int) -> list[tuple[int, ...]]:
    """The rows of `orders` as tuples, which Python walks faster."""
    return list(permutations(range(n)))


@cache
def _places(n: int) -> np.ndarray:
    """Where each slot stands in each order, the marks' slots last: (n!, n + 2)."""
    inner = np.argsort(orders(n), axis=1).astype(np.int8)
    outer = np.broadcast_to(np.array([-1, n], dtype=np.int8), (len(inner), 2))
    return np.concatenate([inner, outer], axis=1)


@cache
def columns(n: int) -> list[Column]:
    """The pairs of slots that may have a feature: (kind, slot, slot)."""
    ordered_pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    dependents = [(i, j) for i, j in ordered_pairs if n - 1 not in (i, j)]
    marks = [(n, j) for j in range(n)] + [(i, n + 1) for i in range(n)]
    return (
        [(ADJACENT, i, j) for i, j in ordered_pairs + marks]
        + [(ORDERED, i, j) for i, j in ordered_pairs]
        + [(kind, i, j) for kind in (BEFORE, AROUND, AFTER) for i, j in dependents]
    )


@cache
def design(n: int) -> np.ndarray:
    """Which order has which column's feature: (n!, columns) float64 of 0 and 1."""
    place, head = _places(n), _places(n)[:, n - 1]
    has = {
        ADJACENT: lambda i, j: place[:, j] == place[:, i] + 1,
        ORDERED: lambda i, j: place[:, i] < place[:, j],
        BEFORE: lambda i, j: (place[:, i] < place[:, j]) & (place[:, j] < head),
        AROUND: lambda i, j: (place[:, i] < head) & (head < place[:, j]),
        AFTER: lambda i, j: (head < place[:, i]) & (place[:, i] < place[:, j]),
    }
    return np.stack([has[kind](i, j) for kind, i, j in columns(n)], axis=1).astype(np.float64)


@lru_cache(maxsize=1 << 16)
def containing(n: int, slots: tuple[int, ...]) -> np.ndarray:
    """The numbers of the orders in which these slots, marks among them, stand one behind the other."""
    place = _places(n)
    neighbours = [place[:, after] == place[:, before] + 1 for before, after in pairwise(slots)]
    return np.flatnonzero(np.logical_and.reduce(neighbours))
