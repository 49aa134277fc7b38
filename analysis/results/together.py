"""Means of several numbers seed by seed, and differences of such means, with the items that they have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.results.measured import BySeed, Measured, Test, mean, over_parts
from analysis.statistics.intervals import Estimate


def together(values: Sequence[BySeed]) -> BySeed:
    """The mean of several numbers for each seed that has all of them.

    Numbers of one task (or gold set) with equally many items may share them, as layers and translations of one text do:
    there an item adds the mean of its parts. Other sets are independent.
    """
    seeds = [seed for seed in (values[0] if values else ()) if all(seed in by_seed for by_seed in values)]
    return {seed: _mean([by_seed[seed] for by_seed in values]) for seed in seeds}


def gap(ours: Sequence[BySeed], theirs: Sequence[BySeed]) -> Estimate | None:
    """The mean difference between pairs of numbers, over seeds, or with an interval over test items for one seed."""
    differences = [{seed: a[seed] - b[seed] for seed in a.keys() & b.keys()} for a, b in zip(ours, theirs, strict=True)]
    return mean(together(differences))


def _mean(values: Sequence[Measured]) -> Measured:
    value, low, high = (float(np.mean([getattr(one, name) for one in values])) for name in ("value", "low", "high"))
    groups: dict[tuple[str, str, int], list[tuple[Test, np.ndarray]]] = {}
    errors: list[float] = []
    for one in values:
        if one.error is None:
            return Measured(value, None, None, low, high)
        if one.parts is None or one.test is None:
            errors.append(one.error / len(values))
        else:
            task, _, part = one.test
            groups.setdefault((task, part, len(one.parts)), []).append((one.test, one.parts))
    merged = [
        over_parts(value, np.sum([parts for _, parts in group], axis=0) / len(values), _all_of(group), low, high)
        for group in groups.values()
    ]
    if len(merged) == 1 and not errors:
        return merged[0]
    return Measured(value, float(np.hypot.reduce([*errors, *(one.error or 0.0 for one in merged)])), None, low, high)


def _all_of(group: Sequence[tuple[Test, np.ndarray]]) -> Test:
    """One test set made of several of a task."""
    task, _, part = group[0][0]
    return task, "+".join(dict.fromkeys(language for (_, language, _), _ in group)), part
