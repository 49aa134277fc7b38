"""Look up a study's numbers, and compute their means, differences and verdicts over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, product
from operator import attrgetter
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

import numpy as np

from calque.analysis.records.record import ALIGNMENT, DELTA, LIMITS, SHARE, Floor, Published, Record, Run
from calque.analysis.statistics import (
    Estimate,
    estimate,
    item_error,
    over_items,
    paired_error,
    per_item,
    points,
)
from calque.analysis.tasks.catalogue import PRIMARY
from calque.analysis.verdicts import AT_FLOOR, NO_RECORDS, Verdict, judge
from calque.derive.errors import BadInput

SCORES = ("SUP", "ZS", "SRC", "DEV")
T = TypeVar("T")
WEIGHTED = "frequency-weighted"  # a weighted mean, whose error does not follow from the number of types
Test = tuple[str, str, str]  # a test set: its task, its language, and its split or gold set


@dataclass(frozen=True)
class Measured:
    """A run's number, its bounds, and, if known, its standard error and the items' contributions, (n,)."""

    value: float
    error: float | None
    parts: np.ndarray | None = field(default=None, compare=False)
    low: float = 0.0
    high: float = 1.0
    test: Test | None = None

    @classmethod
    @lru_cache(maxsize=1 << 14)
    def of(cls, record: Record) -> Measured:
        if record.items is not None:
            test = (record.task, record.language, record.split or record.gold_set)
            return over_parts(record.value, per_item(*record.items.numbers), test)
        low, high = LIMITS.get(record.measure, SHARE)
        drawn = record.measure in SCORES or (record.measure == ALIGNMENT and record.metric != WEIGHTED)
        return cls(record.value, item_error(record.value, record.count) if drawn else None, None, low, high)

    def __sub__(self, other: Measured) -> Measured:
        """The difference, paired by item if both have the same test items."""
        value, low, high = self.value - other.value, self.low - other.high, self.high - other.low
        parts, others = self.parts, other.parts
        if self.test == other.test and parts is not None and others is not None and len(parts) == len(others):
            return over_parts(value, parts - others, self.test, low, high)
        if self.error is None or other.error is None:
            return Measured(value, None, None, low, high)
        return Measured(value, float(np.hypot(self.error, other.error)), None, low, high)


def over_parts(
    value: float, parts: np.ndarray, test: Test | None, low: float = 0.0, high: float = 1.0
) -> Measured:
    """Return a value with its standard error over its `parts`."""
    return Measured(value, paired_error(parts), parts, low, high, test)


BySeed = Mapping[int, Measured]


def mean(values: BySeed) -> Estimate | None:
    """The mean over seeds, or None; for a single seed, its interval is over test items."""
    if not values:
        return None
    first, *others = (values[seed] for seed in sorted(values))
    bounds = first.low, first.high
    if not others:
        return over_items(first.value, first.error, bounds)
    return estimate([score.value for score in (first, *others)], bounds)


def means(values: Iterable[tuple[T, BySeed]]) -> list[tuple[T, Estimate]]:
    """The mean over seeds at each position (such as a step) with numbers."""
    return [(place, estimate) for place, by_seed in values if (estimate := mean(by_seed))]


def mean_of_all(values: Sequence[float | None]) -> float | None:
    """The mean, or None if a value is missing."""
    numbers = [value for value in values if value is not None]
    return fmean(numbers) if numbers and len(numbers) == len(values) else None


def difference(first: BySeed, second: BySeed) -> Estimate | None:
    """The mean of first - second over common seeds, or None; for one seed, its interval is over items."""
    return mean(differences(first, second))


def differences(first: BySeed, second: BySeed) -> BySeed:
    """First - second for each common seed."""
    return {seed: first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())}


def average(values: Sequence[BySeed]) -> BySeed:
    """Average several measures, and their items' contributions, for each seed that has all of them."""
    seeds = [seed for seed in (values[0] if values else ()) if all(seed in by_seed for by_seed in values)]
    return {seed: _average([by_seed[seed] for by_seed in values]) for seed in seeds}


def gap(first: Sequence[BySeed], second: Sequence[BySeed]) -> Estimate | None:
    """The mean of first - second over pairs of numbers and over seeds."""
    return mean(average([differences(*pair) for pair in zip(first, second, strict=True)]))


def _average(values: Sequence[Measured]) -> Measured:
    count, names = len(values), ("value", "low", "high")
    value, low, high = (float(np.mean([getattr(score, name) for score in values])) for name in names)
    errors, by_test = list[Any](), dict[tuple[str, str, int], list[tuple[str, np.ndarray]]]()
    for score in values:
        if score.parts is None or score.test is None:
            errors.append(score.error)
        else:  # parallel test sets have the same items in all languages
            task, language, split = score.test
            by_test.setdefault((task, split, len(score.parts)), []).append((language, score.parts))
    if None in errors:
        return Measured(value, None, None, low, high)
    errors = [error / count for error in errors]
    for (task, split, _), items in by_test.items():
        parts = np.sum([parts for _, parts in items], axis=0) / count
        if len(items) == count:
            languages = "+".join(dict.fromkeys(language for language, _ in items))
            return over_parts(value, parts, (task, languages, split), low, high)
        errors.append(paired_error(parts))
    return Measured(value, float(np.hypot.reduce(errors)), None, low, high)


def judge_estimate(estimate: Estimate | None, side: int = 1, bound: float = 0.0) -> Verdict:
    """Judge whether an estimate is above (`side` +1) or below (-1) `bound`."""
    return judge([(estimate, bound, side)], points(estimate)) if estimate else judge([], "")


class Key(NamedTuple):
    """The fields that identify a number, apart from its seed and step."""

    measure: str
    objective: str
    language: str
    task: str = ""
    metric: str = ""
    layer: int | None = None
    joint: bool = False
    split: str = ""
    aligner: str = ""
    gold_set: str = ""
    first: str = ""


@dataclass(frozen=True)
class Point:
    """An objective's alignment and Delta for a derived language."""

    objective: str
    transform: str
    alignment: Estimate
    delta: Estimate


def over_draws(draws: Sequence[list[Floor]]) -> list[Floor]:
    """Average floors over random samples of the data."""
    if len(draws) == 1:
        return draws[0]
    groups: dict[Floor, list[Floor]] = {}
    for floor in chain(*draws):
        groups.setdefault(replace(floor, value=0.0, count=0, items=None), []).append(floor)
    return [
        replace(common, value=fmean(f.value for f in floors), count=sum(f.count for f in floors))
        for common, floors in groups.items()
    ]


class Results:
    """A study's runs, records, published numbers and floors; `scale` describes its size in words. Raises
    BadInput for records of several studies, or if two records have the same key."""

    def __init__(
        self,
        runs: Iterable[Run],
        records: Iterable[Record],
        published: Iterable[Published] = (),
        floors: Iterable[Floor] = (),
        scale: str = "",
    ) -> None:
        self.scale, self.records, self.published = scale, tuple(records), tuple(published)
        self.runs, self.floors = {run.id: run for run in runs}, tuple(floors)
        studies = sorted({run.study for run in self.runs.values()})
        if len(studies) > 1:
            raise BadInput(f"expected records from one study, found several: {', '.join(studies)}")
        self.study = "".join(studies)
        self.source = next((run.languages[0].name for run in self.runs.values() if run.languages), "")
        self._columns = self._join()
        measured_runs = [self.runs[name] for name in dict.fromkeys(record.run for record in self.records)]
        self.objectives = {run.objective.name: run.objective for run in measured_runs if run.objective}
        self.starts = {run.objective.name: run.start for run in measured_runs if run.objective}
        self.languages = {language.name: language for run in measured_runs for language in run.languages[1:]}
        tested = dict.fromkeys(record.language for record in self.records)
        self.transforms = [language for language in tested if language in self.languages]
        tasks = {record.task for record in self.records if record.task}
        self.main_tasks = [task for task in PRIMARY if task in tasks]
        self.tasks = [*self.main_tasks, *sorted(tasks - PRIMARY.keys())]
        self.seeds = sorted({run.seed for run in measured_runs})
        redrawn = measured_runs[0].redrawn if measured_runs else ()
        self.redrawn = tuple(what for what in redrawn if all(what in run.redrawn for run in measured_runs))

    def _join(self) -> dict[Key, dict[int, dict[int, Record]]]:
        columns: dict[Key, dict[int, dict[int, Record]]] = {}
        for record in self.records:
            facets = {name: getattr(record, name) for name in Key._fields if name != "objective"}
            key = Key(objective=self.objective_of(record), **facets)
            curve = columns.setdefault(key, {}).setdefault(self.runs[record.run].seed, {})
            if (existing := curve.setdefault(record.step, record)) is not record:
                raise BadInput(f"{existing.run} and {record.run} record the same number: {record}"[:500])
        return {
            key: {seed: dict(sorted(curve.items())) for seed, curve in sorted(seeds.items())}
            for key, seeds in columns.items()
        }

    def curves(self, *key: Any, **facets: Any) -> dict[int, dict[int, Record]]:
        """Return each seed's records by step, selected by fields of `Key`."""
        return self._columns.get(Key(*key, **facets), {})

    def last(self, *key: Any, **facets: Any) -> dict[int, Record]:
        """Return each seed's record at the last step, selected by fields of `Key`."""
        return {seed: list(curve.values())[-1] for seed, curve in self.curves(*key, **facets).items()}

    def scores(self, *key: Any, **facets: Any) -> BySeed:
        """Return each seed's number at the last step, selected by fields of `Key`. DELTA is SUP - ZS."""
        if key[0] == DELTA:
            return differences(*(self.scores(name, *key[1:], **facets) for name in ("SUP", "ZS")))
        return {seed: Measured.of(record) for seed, record in self.last(*key, **facets).items()}

    def keys(self, **fields: Any) -> list[Key]:
        """The keys of all numbers whose fields have the given values, in the order of the records."""
        return [key for key in self._columns if fields.items() <= key._asdict().items()]

    def columns(self) -> Iterator[tuple[Record, BySeed]]:
        """Yield every number at the last step, including DELTA, with a record that describes it."""
        for key in self._columns:
            first = next(iter(self.last(*key).values()))
            if key.measure != DELTA:
                yield first, self.scores(*key)
            if key.measure == "SUP" and key._replace(measure="ZS") in self._columns:
                yield replace(first, measure=DELTA), self.scores(DELTA, *key[1:])

    @property
    def models(self) -> list[tuple[str, str]]:
        """Every objective and derived language, by language."""
        return [(objective, t) for t, objective in product(self.transforms, self.objectives)]

    def points(self, task: str, metric: str) -> list[Point]:
        """The alignment@1 of all types and the Delta for every objective and transform with both numbers."""
        return [
            Point(objective, transform, alignment, delta)
            for objective, transform in self.models
            if (alignment := mean(self.scores(ALIGNMENT, objective, transform, "", "all")))
            and (delta := mean(self.scores(DELTA, objective, transform, task, metric)))
        ]

    def has(self, measure: str, *metrics: str) -> bool:
        """Whether the measure was recorded or, if any `metrics` are given, recorded for one of them."""
        return any(not metrics or key.metric in metrics for key in self.keys(measure=measure))

    def layers(self, measure: str) -> list[int]:
        return sorted({key.layer for key in self.keys(measure=measure) if key.layer is not None})

    def floors_of(self, *test: str) -> list[Floor]:
        """The baselines' scores, selected by task, metric, language and the language of training."""
        return [f for f in self.floors if (f.task, f.metric, f.language, f.learnt) == test]

    def baseline(self, name: str, *test: str) -> float | None:
        return next((floor.value for floor in self.floors_of(*test) if floor.baseline == name), None)

    def floor(self, *test: str) -> Floor | None:
        """The score of the strongest baseline that is not a surface baseline, or None."""
        floors = [floor for floor in self.floors_of(*test) if not floor.surface]
        return max(floors, key=attrgetter("value"), default=None)

    def printed(self, *key: Any) -> Published | None:
        """The number printed in a paper's table, by table, measure, objective, language, task and metric."""
        fields = attrgetter("table", "measure", "objective", "transform", "task", "metric", "setting")
        return next((number for number in self.published if fields(number) == (*key, "")), None)

    def objective_of(self, record: Record) -> str:
        objective = self.runs[record.run].objective
        return objective.name if objective else ""

    def objective_title(self, name: str) -> str:
        return self.objectives[name].title if name in self.objectives else name

    def transform_title(self, name: str) -> str:
        """A transform's title, taken from the paper if the study does not include the transform."""
        printed = next((number.title for number in self.published if number.transform == name), "")
        return self.languages[name].title if name in self.languages else printed or name


def by_settings(
    runs: Sequence[Run], records: Sequence[Record], floors: Sequence[Floor] = (), scale: str = ""
) -> dict[tuple[str, ...], Results]:
    """Split a sweep into the results for each combination of values."""
    chosen, results = dict[tuple[str, ...], dict[str, Run]](), dict[tuple[str, ...], Results]()
    for run in runs:
        chosen.setdefault(tuple(run.settings.values()), {})[run.id] = run
    for values, by_id in chosen.items():
        low = [floor for floor in floors if tuple(floor.settings.values()) in ((), values)]
        rows = (record for record in records if record.run in by_id)
        results[values] = Results(by_id.values(), rows, floors=low, scale=scale)
    return results


def above_floor(
    results: Results, objective: str, transform: str, task: str, metric: str, measure: str = "ZS"
) -> tuple[Floor, Estimate] | None:
    """The strongest word baseline trained on the source, and the mean of ZS (or SUP) - floor over seeds that
    have both scores; None if there is no such floor or seed."""
    if (floor := results.floor(task, metric, transform, results.source)) is None:
        return None
    low = Measured(floor.value, None)
    if floor.items:
        low = over_parts(floor.value, per_item(*floor.items.numbers), (task, transform, ""))
    scores = {name: results.scores(name, objective, transform, task, metric) for name in ("SUP", "ZS")}
    seeds = sorted(scores["SUP"].keys() & scores["ZS"].keys())
    gain = mean({seed: scores[measure][seed] - low for seed in seeds})
    return (floor, gain) if gain else None


def is_at_floor(gain: Estimate) -> bool:
    """Whether a difference from the floor is not significantly positive."""
    return gain.mean <= 0 if gain.low is None else gain.low <= 0


def unless_at_floor(
    verdict: Verdict, results: Results, cells: Iterable[tuple[str, str]], task: str, metric: str
) -> Verdict:
    """Return a verdict about Delta, or AT_FLOOR if ZS is at the floor in all `cells`."""
    if verdict.because == NO_RECORDS:
        return verdict
    gains = {cell: found for cell in cells if (found := above_floor(results, *cell, task, metric))}
    if not gains or not all(is_at_floor(gain) for _, gain in gains.values()):
        return verdict
    (objective, _), (floor, gain) = max(gains.items(), key=lambda item: item[1][1].mean)
    note = f", the largest of {len(gains)}" if len(gains) > 1 else ""
    because = f"ZS − {floor.title} floor{note}: {objective}, {points(gain)}"
    return Verdict(AT_FLOOR, "; ".join(filter(None, (verdict.because, because))))
