"""A sweep: one study with several values of some settings, as one table and one figure.

Nothing here knows a particular setting, study or objective.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from statistics import fmean

from analysis.papers.looks import distinct, looks
from analysis.records.record import AER, ALIGNMENT, DELTA, RETRIEVAL, Record
from analysis.records.run import Run
from analysis.report.drawing import DIFFERENCE, SHARE, draw_intervals, ends, key, legend, styled
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, MOST
from analysis.report.table import MISSING, Table, cell, over_seeds
from analysis.results.measured import BySeed, Measured, mean
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

Values = tuple[str, ...]
"""One value of each setting that is varied."""
PANELS = 4
"""The most columns of panels."""


@dataclass(frozen=True)
class Row:
    """What a row of the table, or a point of the figure, is about."""

    objective: str
    language: str
    values: Values


@dataclass(frozen=True)
class Sweep:
    """The results of a study for each value of the settings `keys`."""

    keys: tuple[str, ...]
    variants: Mapping[Values, Results]

    def numbers(self) -> dict[str, dict[Row, Estimate]]:
        """The estimates by column and row, in the order of the study's records."""
        columns: dict[str, dict[Row, list[BySeed]]] = {}
        for values, results in self.variants.items():
            for record, by_seed in results.columns():
                if title := _column(record, results):
                    row = Row(results.objective_of(record), _language(record, results), values)
                    columns.setdefault(title, {}).setdefault(row, []).append(by_seed)
        estimates = {}
        for title, rows in columns.items():
            means = ((row, mean(_averaged(parts))) for row, parts in rows.items())
            estimates[title] = {row: estimate for row, estimate in means if estimate}
        return estimates

    def rows(self) -> list[Row]:
        """The rows: languages outermost, then objectives, then values."""
        found = dict.fromkeys(row for rows in self.numbers().values() for row in rows)
        languages, objectives = (list(dict.fromkeys(map(part, found))) for part in (_language_of, _objective_of))
        places = {values: place for place, values in enumerate(self.variants)}
        return sorted(
            found,
            key=lambda row: (languages.index(row.language), objectives.index(row.objective), places[row.values]),
        )

    @property
    def first(self) -> Results:
        """The results of the first value."""
        return next(iter(self.variants.values()))

    @cached_property
    def objectives(self) -> Results:
        """One record of each objective of any value, for titles and looks."""
        records: dict[str, tuple[Record, Run]] = {}
        for results in self.variants.values():
            for record in results.records:
                records.setdefault(results.objective_of(record), (record, results.runs[record.run]))
        return Results([run for _, run in records.values()], [record for record, _ in records.values()])


def _language_of(row: Row) -> str:
    return row.language


def _objective_of(row: Row) -> str:
    return row.objective


def _column(record: Record, results: Results) -> str:
    """The title of the column that shows a number, or nothing."""
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
    """The language that a number is about: a derived one by its title; natural ones are averaged."""
    run = results.runs[record.run]
    described = next((language for language in run.languages if language.name == record.language), None)
    mixtures = {one.mixture.name for one in results.runs.values() if one.mixture and len(one.languages) > 1}
    mixed = f"{run.mixture.title}, " if run.mixture and (len(run.languages) > 2 or len(mixtures) > 1) else ""
    return mixed + (described.title if described and described.parts else "all languages")


def _averaged(parts: Sequence[BySeed]) -> BySeed:
    """The mean over languages, or over pairs of them, of each seed."""
    if len(parts) == 1:
        return parts[0]
    seeds = set.intersection(*(set(part) for part in parts))
    first = next(iter(parts[0].values()))
    return {
        seed: Measured(fmean(part[seed].value for part in parts), None, None, first.low, first.high)
        for seed in sorted(seeds)
    }


def sweep_table(sweep: Sweep, scale: str) -> Table:
    """A row for each language, objective and value, with intervals over seeds."""
    numbers, first = sweep.numbers(), sweep.first
    rows = [
        (
            row.language,
            sweep.objectives.objective_title(row.objective),
            *row.values,
            *(cell(column[row]) if row in column else MISSING for column in numbers.values()),
        )
        for row in sweep.rows()
    ]
    title = f"{first.study} by {', '.join(sweep.keys)} ({scale})"
    header = ("language", "objective", *sweep.keys, *numbers)
    runs = tuple(dict.fromkeys(run for results in sweep.variants.values() for run in results.run_ids()))
    note = f"Percent; {over_seeds(first.seeds, first.redrawn)}."
    return Table(title, header, tuple(rows), note, runs=runs, labels=2 + len(sweep.keys))


def sweep_figure(sweep: Sweep, scale: str) -> Plot | None:
    """Each number by the value: a column of panels for each measure, a row for each language, a line per objective."""
    numbers, rows, first = sweep.numbers(), sweep.rows(), sweep.first
    columns = dict(list(numbers.items())[:PANELS])
    languages = list(dict.fromkeys(row.language for row in rows))
    if not columns or len(languages) > MOST or not distinct(sweep.objectives):
        return None
    styles, order = looks(sweep.objectives), list(sweep.variants)
    places, ticks = _places(order)
    title = f"{first.study} by {', '.join(sweep.keys)}"
    with styled(FULL, 1.6 + 2.1 * len(languages), f"{title}\n{scale}") as figure:
        grid = figure.subplots(len(languages), len(columns), sharex=True, sharey="col", squeeze=False)
        for line, language in zip(grid, languages, strict=True):
            for axes, (name, column) in zip(line, columns.items(), strict=True):
                axes.set_title(f"{language}\n{name}" if len(languages) > 1 else name, fontsize=9)
                axes.set_xticks(places, ticks, fontsize=8)
                is_delta = name.endswith("Δ")
                if is_delta:
                    axes.axhline(0, color=INK, linewidth=0.8)
                for objective, points in _lines(rows, language, column):
                    x = [places[order.index(row.values)] for row in points]
                    y, look = [column[row] for row in points], styles[objective]
                    draw_intervals(axes, x, ends(y, DIFFERENCE if is_delta else SHARE), look.colour)
                    heights = [100 * estimate.mean for estimate in y]
                    axes.plot(x, heights, color=look.colour, marker=look.marker, linestyle=look.dash, markersize=5)
        for axes in grid[-1]:
            axes.set_xlabel(", ".join(sweep.keys), fontsize=9)
        legend(figure, [key(sweep.objectives.objective_title(name), *look[:2]) for name, look in styles.items()], 4)
        several = "over seeds" if len(first.seeds) > 1 else "over the test items of one seed"
        caption = f"Percent, by {', '.join(sweep.keys)}. Bars are 95 % intervals {several}."
        records = [record for results in sweep.variants.values() for record in _shown(results, columns)]
        return Plot(figure, "figure-sweep", title, caption, records)


def _places(order: Sequence[Values]) -> tuple[list[float], list[str]]:
    """Where values are drawn and how they are called: numbers in proportion, all others one after the other."""
    ticks = [", ".join(values) for values in order]
    try:
        numbers = [float(tick) for tick in ticks]
    except ValueError:
        return [float(place) for place in range(len(order))], ticks
    return numbers, ticks


def _lines(rows: Sequence[Row], language: str, column: Mapping[Row, Estimate]) -> Iterator[tuple[str, list[Row]]]:
    own = [row for row in rows if row.language == language and row in column]
    yield from ((objective, list(points)) for objective, points in groupby(own, _objective_of))


def _shown(results: Results, columns: Mapping[str, object]) -> list[Record]:
    return [record for record in results.records if _column(record, results) in columns]
