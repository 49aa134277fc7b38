"""The null: seeds of one objective treated as two objectives, which must be called different as seldom as is said.

Nothing differs between two groups of seeds of one objective on the same languages. What compares two objectives must
therefore call them different at its nominal rate, 5 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from analysis.records.record import AER, ALIGNMENT, HELD_OUT, LABELS, RETRIEVAL, Record
from analysis.results.apart import apart
from analysis.results.measured import BySeed, difference
from analysis.results.results import Key, Results
from analysis.statistics.intervals import CONFIDENCE, Estimate, estimate, per_item
from analysis.statistics.splits import splits
from analysis.statistics.verdicts import FAILS, HOLDS
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

NOMINAL = 1 - CONFIDENCE
MOST = 60
"""Splits of the seeds of one number at most."""
DECIDES = 4
"""Seeds from which verdicts can be checked: two objectives of two seeds each."""
METRICS = {ALIGNMENT: ("all", "held-out"), LABELS: ("precision",)}
"""Those that claims are about; of other measures every metric, and of tasks the primary one."""
MEASURES = ("SUP", "ZS", "DELTA", ALIGNMENT, LABELS, AER, RETRIEVAL, HELD_OUT)
EVERYTHING = "all measures"


@dataclass(frozen=True)
class Rate:
    """How often two groups of `seeds` seeds of one objective were called different in some measure.

    `over` is "items" where the interval was one seed's, over test items, and "seeds" where the verdict was that of
    claims. `share` has Student's t interval over what each cell adds to it (Cochran 1977, section 6.4), a cell being
    one objective on the same languages: comparisons within a cell share seeds. Cells that all agree, or a single one,
    give no interval.
    """

    measure: str
    seeds: int
    over: str
    different: int
    comparisons: int
    cells: int
    share: Estimate

    @property
    def against_nominal(self) -> str:
        """Whether the interval has the nominal rate in it; empty without one."""
        if self.share.low is None or self.share.high is None:
            return ""
        if self.share.low > NOMINAL:
            return "too often"
        return "too seldom" if self.share.high < NOMINAL else "as nominal"


@dataclass
class _Tally:
    """Comparisons, and those called different, by cell."""

    different: dict[Key, int] = field(default_factory=dict)
    comparisons: dict[Key, int] = field(default_factory=dict)

    def add(self, cell: Key, different: bool) -> None:
        self.different[cell] = self.different.get(cell, 0) + different
        self.comparisons[cell] = self.comparisons.get(cell, 0) + 1

    def rate(self, measure: str, seeds: int, over: str) -> Rate:
        different, of = list(self.different.values()), list(self.comparisons.values())
        by_cell = sum(different) / sum(of) + per_item(different, of)
        share = estimate(by_cell.tolist(), (0.0, 1.0))
        return Rate(measure, seeds, over, sum(different), sum(of), len(of), share)


def null_rates(results: Results) -> list[Rate]:
    """The rates by size of the groups, all measures first, then each; none where no cell has two seeds."""
    tallies: dict[tuple[int, str], dict[str, _Tally]] = {}
    for record, values in results.columns():
        if not _compared(record):
            continue
        cell = results.cell(record)
        for size in range(1, len(values) // 2 + 1):
            over = "items" if size == 1 else "seeds"
            for different in _judged(values, size):
                by_measure = tallies.setdefault((size, over), {})
                for measure in (EVERYTHING, _title(record)):
                    by_measure.setdefault(measure, _Tally()).add(cell, different)
    return [
        tally.rate(measure, size, over)
        for (size, over), by_measure in sorted(tallies.items())
        for measure, tally in by_measure.items()
    ]


def _judged(values: BySeed, size: int) -> Iterator[bool]:
    """For each split of the seeds into two groups of `size` whether they are called different."""
    for split in splits(list(values), size, MOST):
        ours, theirs = ({k: values[pair[side]] for k, pair in enumerate(split)} for side in (0, 1))
        if size > 1:
            yield apart(ours, theirs, +1).verdict in (HOLDS, FAILS)
        elif (gap := difference(ours, theirs)) and gap.low is not None and gap.high is not None:
            yield gap.low > 0 or gap.high < 0


def _compared(record: Record) -> bool:
    """Whether it is of a measure and a metric that claims are about."""
    if record.measure not in MEASURES:
        return False
    if record.task in PRIMARY:
        return record.metric == PRIMARY[record.task]
    return record.metric in METRICS.get(record.measure, (record.metric,))


def _title(record: Record) -> str:
    measure = {"DELTA": "Δ", ALIGNMENT: "alignment@1"}.get(record.measure, record.measure)
    if record.task:
        return f"{measure}, {task_title(record.task)} ({metric_title(record.metric)})"
    return f"{measure}, {record.metric}" if record.measure in (ALIGNMENT, RETRIEVAL, LABELS) else measure


def pooled(rates: list[Rate]) -> Mapping[int, Rate]:
    """The rate over all measures by size of the groups."""
    return {rate.seeds: rate for rate in rates if rate.measure == EVERYTHING}
