"""Report on a sweep: a study run with several values of some settings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

from calque.analysis.records.record import AER, ALIGNMENT, DELTA, RETRIEVAL, Floor, Record, Run
from calque.analysis.report.table import MISSING, Table, cell, listed, over_seeds
from calque.analysis.results.measured import BySeed, average, difference, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import CONFIDENCE, Estimate
from calque.analysis.statistics.verdicts import holm_intervals
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title
from calque.derive.files import read_toml

Values = tuple[str, ...]  # one value for each swept setting
FINDINGS = 3
ANY = "any"  # the value shown for baselines, which do not depend on the settings
TITLES: dict[str, str] = read_toml(Path(__file__).with_name("settings.toml"))


def setting_title(key: str) -> str:
    """Return a setting's title: for `train.weight_decay`, "weight decay"."""
    path = key.split(".")
    ends = [".".join(path[start:]) for start in range(len(path))]
    titles = TITLES
    if "." not in key:
        titles = {name.rpartition(".")[2]: title for name, title in TITLES.items()} | TITLES
    title = next((titles[end] for end in ends if end in titles), path[-1].replace("_", " "))
    return f"{title} on {task_title(path[1])}" if path[0] == "tasks" and len(path) > 2 else title


class Row(NamedTuple):
    """What identifies a row in the table, or a point in the figure."""

    language: str
    objective: str
    values: Values


@dataclass(frozen=True)
class SweepResults:
    """A study's results (`variants`), by the values of the settings `keys`."""

    keys: tuple[str, ...]
    variants: Mapping[Values, Results]

    @property
    def titles(self) -> list[str]:
        """The settings' titles, each followed by its key if two settings have the same title."""
        titles = list(map(setting_title, self.keys))
        pairs = zip(titles, self.keys, strict=True)
        return [f"{title} ({key})" if titles.count(title) > 1 else title for title, key in pairs]

    @property
    def values(self) -> list[list[str]]:
        return [list(dict.fromkeys(values)) for values in zip(*self.variants, strict=True)]

    @cached_property
    def by_seed(self) -> dict[str, dict[Row, BySeed]]:
        """Each seed's numbers, by column and row."""
        columns: dict[str, dict[Row, list[BySeed]]] = {}
        for values, results in self.variants.items():
            for record, by_seed in results.columns():
                if title := column_of(record, results):
                    row = Row(_language(record, results), results.objective_of(record), values)
                    columns.setdefault(title, {}).setdefault(row, []).append(by_seed)
        return {title: {row: average(its) for row, its in rows.items()} for title, rows in columns.items()}

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
        """The objectives that do not depend on the settings: their models, or at least the scores of their
        models, are the same for all values."""
        trained: dict[str, dict[Values, set[str]]] = {}
        for values, results in self.variants.items():
            for run in results.runs.values():
                if run.objective:
                    of = trained.setdefault(run.objective.name, {})
                    of.setdefault(values, set()).add(run.id.partition("@")[0])
        same = [name for name, ids in trained.items() if self._equal(ids) or self._equal_scores(name)]
        return same if len(same) < len(trained) else []

    def _equal_scores(self, objective: str) -> bool:
        scores: dict[tuple[str, str], dict[Values, object]] = {}
        for title, column in self.by_seed.items():
            for row, by_seed in column.items():
                if title.endswith(", ZS") and row.objective == objective:
                    of_row = {seed: each.value for seed, each in by_seed.items()}
                    scores.setdefault((title, row.language), {})[row.values] = of_row
        return bool(scores) and all(map(self._equal, scores.values()))

    def _equal(self, by_values: Mapping[Values, object]) -> bool:
        first, *others = by_values.values()
        return by_values.keys() == self.variants.keys() and all(other == first for other in others)

    def floors(self) -> list[Floor]:
        """Return the floors for all values; those shared by all values occur once, without settings."""
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
        """Results with one record per objective, which provide its title and look."""
        records: dict[str, tuple[Record, Run]] = {}
        for results in self.variants.values():
            for record in results.records:
                records.setdefault(results.objective_of(record), (record, results.runs[record.run]))
        return Results([run for _, run in records.values()], [record for record, _ in records.values()])

    @property
    def seeds(self) -> str:
        """The seeds and the data that they redraw, separately for each value if they differ."""
        over = {", ".join(its): over_seeds(each.seeds, each.redrawn) for its, each in self.variants.items()}
        return "; ".join({*over.values()} if len({*over.values()}) == 1 else map(": ".join, over.items()))


def column_of(record: Record, results: Results) -> str:
    """Return the heading of the column that shows a record's number, or "" if none does."""
    run = results.runs[record.run]
    main, derived = run.main_layer, {language.name for language in run.languages if language.parts}
    if record.measure in ("ZS", DELTA) and record.metric == PRIMARY.get(record.task) and not record.examples:
        name = "Δ" if record.measure == DELTA else record.measure
        return f"{task_title(record.task)} {metric_title(record.metric)}, {name}"
    if record.measure == ALIGNMENT and record.metric == "held-out":
        return "alignment@1, held-out"
    into_source = record.first in derived  # the opposite direction is shown
    if record.measure == RETRIEVAL and record.metric == "cosine" and record.layer == main and not into_source:
        return f"retrieval, layer {main}"
    if record.measure == AER and record.gold_set and record.layer == main and not record.joint:
        return f"AER {record.gold_set}, {record.aligner}"
    return ""


def _language(record: Record, results: Results) -> str:
    languages = results.runs[record.run].languages
    described = next((language for language in languages if language.name == record.language), None)
    return described.title if described and described.parts else "all languages"


def sweep_question(sweep: SweepResults) -> str:
    """Return the heading of a sweep's report."""
    return f"What changes with {listed([f'the {title}' for title in sweep.titles])}?"


def sweep_table(sweep: SweepResults, scale: str) -> Table:
    """Tabulate one row per language, objective and value; a baseline has one row for all values."""
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


class Pair(NamedTuple):
    """Two rows to compare, with different values of the setting with the index `setting`; if that is None,
    `theirs` is a baseline."""

    setting: int | None
    ours: Row
    theirs: Row


@dataclass(frozen=True)
class Difference:
    """The difference in a column between two rows, paired by seed. The interval and `p` are corrected for all
    differences in the column (Holm)."""

    pair: Pair
    estimate: Estimate
    p: float | None = None


def differences(sweep: SweepResults) -> dict[str, list[Difference]]:
    """Return the differences in each column: for each setting, between consecutive values and between the
    first and the last one, with other settings equal; and between each row and the baselines."""
    pairs, found = list(_pairs(sweep)), dict[str, list[Difference]]()
    for title, column in sweep.by_seed.items():
        measured = [pair for pair in pairs if pair.ours in column and pair.theirs in column]
        estimates = [(pair, difference(column[pair.ours], column[pair.theirs])) for pair in measured]
        of = [Difference(pair, estimate) for pair, estimate in estimates if estimate]
        found[title] = _corrected(of, 2 if title.endswith("Δ") else 1)
    return found


def _pairs(sweep: SweepResults) -> Iterator[Pair]:
    compared = (row[:2] for row in sweep.rows if row.objective not in sweep.baselines)
    for language, objective in dict.fromkeys(compared):
        for setting, values in enumerate(sweep.values):
            if sweep.keys[setting] == "seeds":  # models with the same seed are identical
                continue
            ends = [(values[0], values[-1])] if len(values) > 2 else []
            others = [[ANY] if place == setting else each for place, each in enumerate(sweep.values)]
            for (first, second), rest in product([*pairwise(values), *ends], product(*others)):
                ours, theirs = (
                    Row(language, objective, (*rest[:setting], value, *rest[setting + 1 :]))
                    for value in (second, first)
                )
                yield Pair(setting, ours, theirs)
        for variant, baseline in product(sweep.variants, sweep.baselines):
            yield Pair(None, Row(language, objective, variant), Row(language, baseline, variant))


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
    """Tabulate the differences in all columns, in points; None if none has an interval over seeds."""
    found = differences(sweep)
    rows: dict[Pair, dict[str, Estimate]] = {}
    for title, column in found.items():
        for each in column:
            rows.setdefault(each.pair, {})[title] = each.estimate
    if all(each.p is None for column in found.values() for each in column):
        return None
    cells = []
    for pair, of in rows.items():
        objective = sweep.objectives.objective_title(pair.ours.objective)
        cells.append((pair.ours.language, objective, *_compared(sweep, pair), *map(cell, map(of.get, found))))
    number = max(map(len, found.values()))
    note = (
        "Points; differences paired by seed. Each value is compared with the next one, and the first with "
        f"the last. Intervals are corrected for the up to {number} comparisons of a column (Holm 1979): one "
        "without 0 is a difference at 5 % for the column."
    )
    header = ("language", "objective", "comparison", "with", *found)
    return Table(f"Differences by {', '.join(sweep.titles)}", header, tuple(cells), note, 4)


def _compared(sweep: SweepResults, pair: Pair) -> tuple[str, str]:
    """Describe a comparison and the values of the other settings in words."""
    of = dict(zip(sweep.titles, pair.ours.values, strict=True))
    if pair.setting is None:
        what = f"minus {sweep.objectives.objective_title(pair.theirs.objective)}"
    else:
        title = sweep.titles[pair.setting]
        what = f"{title} {of.pop(title)} minus {pair.theirs.values[pair.setting]}"
    return what, ", ".join(f"{title} {value}" for title, value in of.items()) or MISSING


def sweep_findings(sweep: SweepResults) -> Iterator[str]:
    """Report, for the baseline and for each setting, the difference with the smallest p, or that no
    difference is left after correction."""
    found = [(each.p, title, each) for title, column in differences(sweep).items() for each in column]
    subjects: list[int | None] = [*([None] if sweep.baselines else []), *range(len(sweep.keys))]
    for setting in subjects[:FINDINGS]:
        of = [(p, title, each) for p, title, each in found if p is not None and each.pair.setting == setting]
        if not of:
            continue
        p, title, best = min(of, key=lambda one: one[0])
        if p >= 1 - CONFIDENCE:
            values = f"between values of the {sweep.titles[setting]}" if setting is not None else ""
            where = values or "from the baseline"
            yield f"No difference {where} is left after correction ({len(of)} tested)."
            continue
        what, where = _compared(sweep, best.pair)
        ours, given = best.pair.ours, f", {where}" if where != MISSING else ""
        yield (
            f"{title}, {ours.language}, {sweep.objectives.objective_title(ours.objective)}{given}: "
            f"{what} is {cell(best.estimate)} points "
            f"(paired by seed; interval and p = {p:.2g} corrected for all comparisons)."
        )
