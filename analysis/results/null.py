"""Check comparisons under the null hypothesis: groups of seeds with the same objective should be found to
differ in about 5 % of comparisons."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, permutations

from calque.analysis.records.record import (
    AER,
    AFTER,
    ALIGNMENT,
    ENTRY,
    HELD_OUT,
    LABELS,
    NO_ENTRY,
    RETRIEVAL,
    ROTATED,
    SELF_LEARNT,
    Record,
)
from calque.analysis.results.measured import BySeed, difference, judge_difference
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import CONFIDENCE, Estimate, estimate, per_item
from calque.analysis.statistics.verdicts import FAILS, HOLDS
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title

NOMINAL = 1 - CONFIDENCE
WIDEST = 4 * NOMINAL  # intervals that extend above this do not confirm the nominal rate
MOST = 60  # maximum number of ways to split a number's seeds
DECIDES = 4  # minimum number of seeds for checking verdicts, in two groups of two
MEASURES = ("SUP", "ZS", "DELTA", ALIGNMENT, LABELS, AER, RETRIEVAL, HELD_OUT)  # what claims are about
METRICS = {ALIGNMENT: ("all", "held-out", ROTATED, SELF_LEARNT), LABELS: ("precision",)}
"""The metrics that claims are about; for measures not listed here, all metrics."""
EVERYTHING = "all measures"
Split = tuple[tuple[int, int], ...]  # pairs with one seed from each group


def splits(seeds: Sequence[int], size: int, most: int) -> list[Split]:
    """All ways to choose and pair two groups of `size` seeds, or a fixed random sample of `most`."""
    every = list(islice(_all_splits(sorted(seeds), size), most + 1))
    if len(every) <= most:
        return every
    rng, sampled = random.Random(f"splits of {len(seeds)} by {size}"), set[Split]()
    while len(sampled) < most:
        chosen = rng.sample(sorted(seeds), 2 * size)
        groups = sorted((chosen[:size], chosen[size:]), key=min)
        sampled.add(tuple(sorted(zip(*groups, strict=True))))
    return sorted(sampled)


def _all_splits(seeds: Sequence[int], size: int) -> Iterator[Split]:
    for first in combinations(seeds, size):
        rest = [seed for seed in seeds if seed not in first]
        for second in permutations(rest, size):
            if first[0] < min(second):
                yield tuple(zip(first, second, strict=True))


@dataclass(frozen=True)
class Rate:
    """How often two groups of `seeds` seeds with the same objective differ, judged by intervals over test
    items for single seeds and by verdicts otherwise. The interval of `share` is over cells (Cochran 1977,
    section 6.4), whose comparisons share seeds."""

    measure: str
    seeds: int
    different: int
    comparisons: int
    cells: int
    share: Estimate

    @property
    def over(self) -> str:
        return "items" if self.seeds == 1 else "seeds"

    @property
    def against_nominal(self) -> str:
        """How the interval compares with the nominal rate; "" if there is no interval."""
        if self.share.interval is None:
            return ""
        low, high = self.share.interval
        if low <= NOMINAL <= high:
            return "as nominal" if high <= WIDEST else "unclear"
        return "too often" if low > NOMINAL else "too seldom"


def null_rates(*variants: Results) -> list[Rate]:
    """Return the rates for each group size, first over all measures, then by measure."""
    tallies: dict[tuple[int, str], dict[object, list[bool]]] = {}
    for cell, record, values in _columns(variants):
        for size in range(1, len(values) // 2 + 1) if in_claims(record) else ():
            called = list(_judge_splits(values, size))
            for measure in (EVERYTHING, _title(record)) if called else ():
                tallies.setdefault((size, measure), {}).setdefault(cell, []).extend(called)
    by_size = sorted(tallies.items(), key=lambda tally: tally[0][0])
    return [_rate(measure, size, list(by_cell.values())) for (size, measure), by_cell in by_size]


def _columns(variants: Sequence[Results]) -> Iterator[tuple[object, Record, BySeed]]:
    seen = set()
    for results in variants:
        for record, values in results.columns():
            languages = (language.name for language in results.runs[record.run].languages)
            cell = results.objective_of(record), *languages
            numbers = tuple((seed, each.value) for seed, each in values.items())
            if (known := (cell, replace(record, run=""), numbers)) not in seen:
                seen.add(known)
                yield cell, record, values


def _rate(measure: str, seeds: int, called: Sequence[Sequence[bool]]) -> Rate:
    different, of = [sum(each) for each in called], [len(each) for each in called]
    by_cell = sum(different) / sum(of) + per_item(different, of)
    return Rate(measure, seeds, sum(different), sum(of), len(of), estimate(by_cell.tolist(), (0.0, 1.0)))


def _judge_splits(values: BySeed, size: int) -> Iterator[bool]:
    for split in splits(list(values), size, MOST):
        ours, theirs = ({k: values[pair[side]] for k, pair in enumerate(split)} for side in (0, 1))
        if size > 1:
            yield judge_difference(ours, theirs).verdict in (HOLDS, FAILS)
        elif (gap := difference(ours, theirs)) and gap.interval:
            yield gap.interval[0] > 0 or gap.interval[1] < 0


def in_claims(record: Record) -> bool:
    """Whether claims can be about a record's measure and metric."""
    if record.measure not in MEASURES:
        return False
    if record.task in PRIMARY:
        if record.metric in (ENTRY, NO_ENTRY):
            return record.measure == "ZS"
        return record.metric.partition(AFTER)[0] == PRIMARY[record.task]
    return record.metric in METRICS.get(record.measure, (record.metric,))


def _title(record: Record) -> str:
    measure = {"DELTA": "Δ", ALIGNMENT: "alignment@1"}.get(record.measure, record.measure)
    if record.task:
        return f"{measure}, {task_title(record.task)} ({metric_title(record.metric)})"
    return f"{measure}, {record.metric}" if record.measure in (ALIGNMENT, RETRIEVAL, LABELS) else measure


def pooled(rates: list[Rate]) -> Mapping[int, Rate]:
    """The rates over all measures, by number of seeds."""
    return {rate.seeds: rate for rate in rates if rate.measure == EVERYTHING}
