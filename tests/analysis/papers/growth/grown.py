"""Curves of a made-up study: quantities that leave their nulls at known steps."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from calque.analysis.papers.growth.curves import QUANTITIES
from calque.analysis.records.record import Null, Record
from calque.analysis.results.results import Results
from tests.analysis.runs import number, runs

STEPS = (0, 8, 16, 32, 64, 128, 256)
ORDER = ("gradients", "loss", "CKA", "sentences", "zero-shot tags", "all types", "held-out types")
"""The quantities, each of which leaves a step of `STEPS` later than the one before."""


def grown(
    objectives: tuple[str, ...] = ("MLM", "ALIGN-MLM"),
    transforms: tuple[str, ...] = ("trans", "trans.inv"),
    seeds: int = 3,
    later: Mapping[tuple[str, int], int] = {},
) -> Results:
    """Objectives after the first are a little higher; `later` delays a quantity in a seed by so many probes.

    The last quantity leaves at the last step alone, so it never leaves.
    """
    records: list[Record] = []
    for o, objective in enumerate(objectives):
        for transform in transforms:
            for seed in range(seeds):
                random = np.random.default_rng([o, seed])
                for quantity in QUANTITIES:
                    first = ORDER.index(quantity.name) + later.get((quantity.name, seed), 0)
                    for place, step in enumerate(STEPS):
                        away = max(0, place - first + 1) * (0.08 + 0.02 * o + 0.001 * random.random())
                        value = 3.0 - away if quantity.side < 0 else 0.1 + away
                        middle = 3.0 if quantity.side < 0 else 0.1
                        record = number(
                            transform, objective, seed, quantity.measure, "", quantity.metric, value, 100, step
                        )
                        null = Null(middle, middle - 0.02, middle + 0.02, 200)
                        layers = (0, 1, 2) if quantity.layered else (None,)
                        records += [replace(record, layer=layer, null=null) for layer in layers]
    made = [replace(run, layers=2) for run in runs(records)]
    return Results(made, records)
