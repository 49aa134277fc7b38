"""Means of several numbers seed by seed, and differences of such means, with the items that they have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.results.measured import BySeed, Measured, mean
from analysis.statistics.intervals import Estimate


def together(values: Sequence[BySeed]) -> BySeed:
    """The mean of several numbers for each seed that has all of them.

    Numbers over as many items may be over the same ones (layers, translations of one text): there an item adds the mean
    of what it adds to each. Sets of different sizes are independent.
    """
    seeds = [seed for seed in (values[0] if values else ()) if all(seed in by_seed for by_seed in values)]
    return {seed: _mean([by_seed[seed] for by_seed in values]) for seed in seeds}


def gap(ours: Sequence[BySeed], theirs: Sequence[BySeed]) -> Estimate | None:
    """The mean difference between pairs of numbers, over seeds, or with an interval over test items for one seed."""
    differences = [
        {seed: _minus(a[seed], b[seed]) for seed in a.keys() & b.keys()} for a, b in zip(ours, theirs, strict=True)
    ]
    return mean(together(differences))


def _minus(ours: Measured, theirs: Measured) -> Measured:
    """A difference between two numbers over the same items."""
    value, low, high = ours.value - theirs.value, ours.low - theirs.high, ours.high - theirs.low
    if ours.parts is None or theirs.parts is None or len(ours.parts) != len(theirs.parts):
        return Measured(value, None, None, low, high)
    return over_parts(value, ours.parts - theirs.parts, low, high)


def over_parts(value: float, parts: np.ndarray, low: float = 0.0, high: float = 1.0) -> Measured:
    """A number of which each item adds a part."""
    return Measured(value, sentence_error(parts), parts, low, high)


def sentence_error(parts: np.ndarray) -> float:
    """Standard error of a number of which each item adds a part, (n,).

    One item that speaks for it as much as any does is added and one against it, as `paired_error` has it for items that
    are right or wrong: a sentence of twenty links is neither, and a whole one would outweigh it.
    """
    n, most = len(parts) + 2, float(np.abs(parts).max(initial=0.0)) or 1.0
    return float(np.sqrt((parts @ parts + 2 * most**2) / n) / np.sqrt(n))


def _mean(values: Sequence[Measured]) -> Measured:
    value, low, high = (float(np.mean([getattr(one, name) for one in values])) for name in ("value", "low", "high"))
    groups: dict[int, list[np.ndarray]] = {}
    for one in values:
        if one.parts is None:
            return Measured(value, None, None, low, high)
        groups.setdefault(len(one.parts), []).append(one.parts)
    sums = [np.sum(parts, axis=0) / len(values) for parts in groups.values()]
    if len(sums) == 1:
        return over_parts(value, sums[0], low, high)
    return Measured(value, float(np.hypot.reduce([sentence_error(part) for part in sums])), None, low, high)
