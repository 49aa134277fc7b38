"""Report on a sweep, a study run with several values of some settings, with a table and tests of
differences.

Nothing here depends on a particular setting, study or objective.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import NamedTuple

from calque.analysis.records.record import AER, ALIGNMENT, DELTA, RETRIEVAL, Floor, Record, Run
from calque.analysis.report.table import Table, cell, listed, over_seeds
from calque.analysis.results.measured import BySeed, average, difference, mean
from calque.analysis.results.results import Results
from calque.analysis.results.settings import setting_title
from calque.analysis.statistics.intervals import CONFIDENCE, Estimate
from calque.analysis.statistics.verdicts import holm_intervals
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title

Values = tuple[str, ...]  # one value for each swept setting
FINDINGS = 3
ANY = "any"  # shown as a setting's value for baselines that do not depend on it


class Row(NamedTuple):
    """Identifies a row in the table, or a point in the figure."""

    language: str
    objective: str
    values: Values


@dataclass(frozen=True)
class SweepResults:
    """A study's results (`variants`) for each combination of values of the settings `keys`."""

    keys: tuple[str, ...]
    variants: Mapping[Values, Results]

    @property
    def titles(self) -> list[str]:
        """The settings' titles, followed by their keys where two titles would be the same."""
        titles = list(map(setting_title, self.keys))
        return [
            f"{t} ({key})" if titles.count(t) > 1 else t for t, key in zip(titles, self.keys, strict=True)
        ]

    @property
    def values(self) -> list[list[str]]:
        return [list(dict.fromkeys(each[place] for each in self.variants)) for place in range(len(self.keys))]

    @cached_property
    def by_seed(self) -> dict[str, dict[Row, BySeed]]:
        """Each seed's numbers, by column and row, in the order of the study's records."""
        columns: dict[str, dict[Row, list[BySeed]]] = {}
        for values, results in self.variants.items():
            for record, by_seed in results.columns():
                if title := column_of(record, results):
                    row = Row(_language(record, results), results.objective_of(record), values)
                    columns.setdefault(title, {}).setdefault(row, []).append(by_seed)
        return {
            title: {row: average(parts) for row, parts in rows.items()} for title, rows in columns.items()
        }

    @cached_property
    def numbers(self) -> dict[str, dict[Row, Estimate]]:
        """The means over seeds, by column and row."""
        return {
            title: {row: estimate for row, by_seed in rows.items() if (estimate := mean(by_seed))}
            for title, rows in self.by_seed.items()
        }

    @cached_property
    def rows(self) -> list[Row]:
        """All rows, sorted by language, then objective, then values."""
        rows = dict.fromkeys(row for column in self.numbers.values() for row in column)
        languages, objectives = (list(dict.fromkeys(row[part] for row in rows)) for part in (0, 1))
        order = list(self.variants)
        return sorted(rows, key=lambda r: (languages.index(r[0]), objectives.index(r[1]), order.index(r[2])))

    @cached_property
    def baselines(self) -> list[str]:
        """The objectives that do not depend on the settings: for all values, their models are the same, or
        separately trained models have the same scores."""
        trained: dict[str, list[object]] = {}
        for results in self.variants.values():
            of: dict[str, set[str]] = {}
            for run in results.runs.values():
                if run.objective:
                    of.setdefault(run.objective.name, set()).add(run.id.partition("@")[0])
            for name, ids in of.items():
                trained.setdefault(name, []).append(ids)
        same = [
            name
            for name, ids in trained.items()
            if _equal(ids, len(self.variants)) or self._equal_scores(name)
        ]
        return same if len(same) < len(trained) else []

    def _equal_scores(self, objective: str) -> bool:
        scores = dict[tuple[str, str], list[object]]()
        for title, column in self.by_seed.items():
            for row, by_seed in column.items():
                if title.endswith(", ZS") and row.objective == objective:
                    of_row = {seed: each.value for seed, each in by_seed.items()}
                    scores.setdefault((title, row.language), []).append(of_row)
        return bool(scores) and all(_equal(each, len(self.variants)) for each in scores.values())

    def floors(self) -> list[Floor]:
        """Return the floors for all values; those shared by all values are included once, without
        settings."""
        of = {values: results.floors.all for values, results in self.variants.items()}
        shared = [floor for floor in self.first.floors.all if all(floor in floors for floors in of.values())]
        return shared + [
            replace(floor, settings=dict(zip(self.keys, values, strict=True)))
            for values, floors in of.items()
            for floor in floors
            if floor not in shared
        ]

    @property
    def first(self) -> Results:
        return next(iter(self.variants.values()))

    @cached_property
    def objectives(self) -> Results:
        """Results with one record per objective, for any value, from which to take titles and looks."""
        records: dict[str, tuple[Record, Run]] = {}
        for results in self.variants.values():
            for record in results.records:
                records.setdefault(results.objective_of(record), (record, results.runs[record.run]))
        return Results([run for _, run in records.values()], [record for record, _ in records.values()])

    @property
    def seeds(self) -> str:
        """Describe the seeds and the data that they redraw, for each value if they differ."""
        over = {
            ", ".join(values): over_seeds(each.seeds, each.redrawn) for values, each in self.variants.items()
        }
        same = len(set(over.values())) == 1
        return "; ".join(dict.fromkeys(over.values()) if same else map(": ".join, over.items()))


def _equal(values: Sequence[object], number: int) -> bool:
    return len(values) == number and all(value == values[0] for value in values)


def column_of(record: Record, results: Results) -> str:
    main = results.runs[record.run].main_layer
    if record.measure in ("ZS", DELTA) and record.metric == PRIMARY.get(record.task) and not record.examples:
        name = "Δ" if record.measure == DELTA else record.measure
        return f"{task_title(record.task)} {metric_title(record.metric)}, {name}"
    if record.measure == ALIGNMENT and record.metric == "held-out":
        return "alignment@1, held-out"
    if record.measure == RETRIEVAL and record.metric == "cosine" and record.layer == main:
        return f"retrieval, layer {main}"
    if record.measure == AER and record.gold_set and record.layer == main and not record.joint:
        return f"AER {record.gold_set}, {record.aligner}"
    return ""


def _language(record: Record, results: Results) -> str:
    """Return the title of a number's derived language; numbers for natural languages are averaged over
    languages."""
    languages = results.runs[record.run].languages
    described = next((language for language in languages if language.name == record.language), None)
    return described.title if described and described.parts else "all languages"


def sweep_question(sweep: SweepResults) -> str:
    """Return the question used as the heading of a sweep's report."""
    return f"What changes with {listed([f'the {title}' for title in sweep.titles])}?"


def sweep_table(sweep: SweepResults, scale: str) -> Table:
    """Tabulate one row per language, objective and value, with intervals over seeds; a baseline has one row
    for all values."""
    rows: dict[tuple[str, ...], None] = {}
    for row in sweep.rows:
        cells = [cell(column.get(row)) for column in sweep.numbers.values()]
        same = row.objective in sweep.baselines and all(
            column.get(row) == column.get(row._replace(values=other))
            for column in sweep.numbers.values()
            for other in sweep.variants
        )
        values = [ANY] * len(sweep.keys) if same else row.values
        rows[row.language, sweep.objectives.objective_title(row.objective), *values, *cells] = None
    title = f"{sweep.first.study} by {', '.join(sweep.titles)} ({scale})"
    header = ("language", "objective", *sweep.titles, *sweep.numbers)
    return Table(title, header, tuple(rows), f"Percent; {sweep.seeds}.", 2 + len(sweep.keys))


@dataclass(frozen=True)
class Difference:
    """The difference, paired by seed, between two rows in a column. The rows differ in the value of
    `setting`; if that is None, `theirs` is a baseline. The interval and `p` are corrected for all differences
    in the column (Holm)."""

    setting: int | None
    ours: Row
    theirs: Row
    estimate: Estimate
    p: float | None = None


def differences(sweep: SweepResults) -> dict[str, list[Difference]]:
    """Return the differences in each column: between consecutive values of each setting, and between its
    first and last, with other settings equal; and between each row and the baselines, which depend on none of
    the settings."""
    pairs = [*_pairs(sweep)]
    found: dict[str, list[Difference]] = {}
    for title, column in sweep.by_seed.items():
        of = [
            Difference(setting, ours, theirs, estimate)
            for setting, ours, theirs in pairs
            if ours in column and theirs in column and (estimate := difference(column[ours], column[theirs]))
        ]
        found[title] = _corrected(of, 2 if title.endswith("Δ") else 1)
    return found


def _pairs(sweep: SweepResults) -> Iterator[tuple[int | None, Row, Row]]:
    for language, objective in dict.fromkeys(
        row[:2] for row in sweep.rows if row.objective not in sweep.baselines
    ):
        for setting, values in enumerate(sweep.values):
            if sweep.keys[setting] == "seeds":  # models with the same seed are identical
                continue
            ends = [(values[0], values[-1])] if len(values) > 2 else []
            others = [[ANY] if place == setting else each for place, each in enumerate(sweep.values)]
            for first, second in [*pairwise(values), *ends]:
                for rest in product(*others):
                    ours, theirs = (
                        (*rest[:setting], value, *rest[setting + 1 :]) for value in (second, first)
                    )
                    yield setting, Row(language, objective, ours), Row(language, objective, theirs)
        for values_ in sweep.variants:
            for baseline in sweep.baselines:
                yield None, Row(language, objective, values_), Row(language, baseline, values_)


def _corrected(found: Sequence[Difference], limit: float) -> list[Difference]:
    tested: dict[int, float] = {}
    for place, each in enumerate(found):
        above, below = each.estimate.p(0, 1), each.estimate.p(0, -1)
        if above is not None and below is not None:
            tested[place] = 2 * min(above, below)
    corrected = list(found)
    for place, (p, confidence) in zip(tested, holm_intervals(list(tested.values())), strict=True):
        estimate = found[place].estimate.at(confidence, (-limit, limit))
        corrected[place] = replace(found[place], estimate=estimate, p=p)
    return corrected


def differences_table(sweep: SweepResults) -> Table | None:
    """Tabulate the differences in all columns, in points; None if no difference has an interval over
    seeds."""
    found = differences(sweep)
    rows: dict[tuple[int | None, Row, Row], dict[str, Difference]] = {}
    for title, column in found.items():
        for each in column:
            rows.setdefault((each.setting, each.ours, each.theirs), {})[title] = each
    if all(each.p is None for column in found.values() for each in column):
        return None
    cells = []
    for (setting, ours, theirs), of in rows.items():
        numbers = (cell(of[title].estimate if title in of else None) for title in found)
        objective = sweep.objectives.objective_title(ours.objective)
        cells.append((ours.language, objective, *_compared(sweep, setting, ours, theirs), *numbers))
    number = max(map(len, found.values()))
    note = (
        "Points; differences paired by seed. Each value is compared with the next one, and the first with "
        f"the last. Intervals are corrected for the up to {number} comparisons of a column (Holm 1979): one "
        "without 0 is a difference at 5 % for the column."
    )
    header = ("language", "objective", "comparison", "with", *found)
    return Table(f"Differences by {', '.join(sweep.titles)}", header, tuple(cells), note, 4)


def _compared(sweep: SweepResults, setting: int | None, ours: Row, theirs: Row) -> tuple[str, str]:
    of = dict(zip(sweep.titles, ours.values, strict=True))
    if setting is None:
        what = f"minus {sweep.objectives.objective_title(theirs.objective)}"
    else:
        title = sweep.titles[setting]
        what = f"{title} {of.pop(title)} minus {theirs.values[setting]}"
    return what, ", ".join(f"{title} {value}" for title, value in of.items()) or "–"


def sweep_findings(sweep: SweepResults) -> Iterator[str]:
    """Yield a sentence for the baseline and for each setting, which reports the difference with the smallest
    p, or that no difference remains after correction."""
    found = [
        (title, each) for title, column in differences(sweep).items() for each in column if each.p is not None
    ]
    subjects: list[int | None] = [*([None] if sweep.baselines else []), *range(len(sweep.keys))]
    for setting in subjects[:FINDINGS]:
        of = [(title, each) for title, each in found if each.setting == setting]
        name = "the baseline" if setting is None else f"values of the {sweep.titles[setting]}"
        if not of:
            continue
        title, best = min(of, key=lambda one: one[1].p or 0.0)
        if best.p is None or best.p >= 1 - CONFIDENCE:
            between = "from" if setting is None else "between"
            yield f"No difference {between} {name} is left after correction ({len(of)} tested)."
            continue
        what, where = _compared(sweep, setting, best.ours, best.theirs)
        objective = sweep.objectives.objective_title(best.ours.objective)
        given = f", {where}" if where != "–" else ""
        yield (
            f"{title}, {best.ours.language}, {objective}{given}: {what} is {cell(best.estimate)} points "
            f"(paired by seed; interval and p = {best.p:.2g} corrected for all comparisons)."
        )
