"""A sweep: one study with several values of some settings, as one table and one figure.

Nothing here knows a particular setting, study or objective.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

from analysis.papers.looks import looks
from analysis.records.record import AER, ALIGNMENT, DELTA, RETRIEVAL, Record
from analysis.records.run import Run
from analysis.report.drawing import DIFFERENCE, FULL, INK, MOST, SHARE, draw_intervals, ends, key, legend, styled
from analysis.report.plot import Plot
from analysis.report.table import Table, cell, over_seeds
from analysis.results.measured import BySeed, Measured, mean
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

Values = tuple[str, ...]
"""One value of each setting that is varied."""
PANELS = 4
"""The most columns of panels."""


class Row(NamedTuple):
    """What a row of the table, or a point of the figure, is about."""

    language: str
    objective: str
    values: Values


@dataclass(frozen=True)
class Sweep:
    """The results of a study for each value of the settings `keys`."""

    keys: tuple[str, ...]
    variants: Mapping[Values, Results]

    @cached_property
    def numbers(self) -> dict[str, dict[Row, Estimate]]:
        """The estimates by column and row, in the order of the study's records."""
        columns: dict[str, dict[Row, list[BySeed]]] = {}
        for values, results in self.variants.items():
            for record, by_seed in results.columns():
                if title := _column(record, results):
                    row = Row(_language(record, results), results.objective_of(record), values)
                    columns.setdefault(title, {}).setdefault(row, []).append(by_seed)
        return {
            title: {row: estimate for row, parts in rows.items() if (estimate := mean(_averaged(parts)))}
            for title, rows in columns.items()
        }

    @cached_property
    def rows(self) -> list[Row]:
        """The rows: languages outermost, then objectives, then values."""
        rows = dict.fromkeys(row for column in self.numbers.values() for row in column)
        languages, objectives = (list(dict.fromkeys(row[part] for row in rows)) for part in (0, 1))
        order = list(self.variants)
        return sorted(rows, key=lambda r: (languages.index(r[0]), objectives.index(r[1]), order.index(r[2])))

    @property
    def first(self) -> Results:
        return next(iter(self.variants.values()))

    @cached_property
    def objectives(self) -> Results:
        """One record of each objective of any value, for titles and looks."""
        records: dict[str, tuple[Record, Run]] = {}
        for results in self.variants.values():
            for record in results.records:
                records.setdefault(results.objective_of(record), (record, results.runs[record.run]))
        return Results([run for _, run in records.values()], [record for record, _ in records.values()])


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
    rows = []
    for row in sweep.rows:
        cells = (cell(column.get(row)) for column in sweep.numbers.values())
        rows.append((row.language, sweep.objectives.objective_title(row.objective), *row.values, *cells))
    title = f"{sweep.first.study} by {', '.join(sweep.keys)} ({scale})"
    header = ("language", "objective", *sweep.keys, *sweep.numbers)
    runs = tuple(dict.fromkeys(run for results in sweep.variants.values() for run in results.run_ids()))
    note = f"Percent; {over_seeds(sweep.first.seeds, sweep.first.redrawn)}."
    return Table(title, header, tuple(rows), note, runs, 2 + len(sweep.keys))


def sweep_figure(sweep: Sweep, scale: str) -> Plot | None:
    """Each number by the value: a column of panels for each measure, a row for each language, a line per objective."""
    columns, look = dict(list(sweep.numbers.items())[:PANELS]), looks(sweep.objectives)
    languages = list(dict.fromkeys(row.language for row in sweep.rows))
    if not columns or len(languages) > MOST or not look:
        return None
    places, ticks = _places(list(sweep.variants))
    title, by = f"{sweep.first.study} by {', '.join(sweep.keys)}", ", ".join(sweep.keys)
    with styled(FULL, 1.6 + 2.1 * len(languages), f"{title}\n{scale}") as figure:
        grid = figure.subplots(len(languages), len(columns), sharex=True, sharey="col", squeeze=False)
        for line, language in zip(grid, languages, strict=True):
            for axes, (name, column) in zip(line, columns.items(), strict=True):
                axes.set_title(f"{language}\n{name}" if len(languages) > 1 else name, fontsize=9)
                axes.set_xticks(list(places.values()), ticks, fontsize=8)
                is_delta = name.endswith("Δ")
                if is_delta:
                    axes.axhline(0, color=INK, linewidth=0.8)
                for objective, (colour, marker, dash) in look.items():
                    points = [row for row in sweep.rows if row[:2] == (language, objective) and row in column]
                    if points:
                        x, y = [places[row.values] for row in points], [column[row] for row in points]
                        draw_intervals(axes, x, ends(y, DIFFERENCE if is_delta else SHARE), colour)
                        heights = [100 * estimate.mean for estimate in y]
                        axes.plot(x, heights, color=colour, marker=marker, linestyle=dash, markersize=5)
        for axes in grid[-1]:
            axes.set_xlabel(by, fontsize=9)
        legend(figure, [key(sweep.objectives.objective_title(name), *its[:2]) for name, its in look.items()], 4)
    several = "over seeds" if len(sweep.first.seeds) > 1 else "over the test items of one seed"
    caption = f"Percent, by {by}. Bars are 95 % intervals {several}."
    records = [r for results in sweep.variants.values() for r in results.records if _column(r, results) in columns]
    return Plot(figure, "figure-sweep", title, caption, records)


def _places(variants: Sequence[Values]) -> tuple[dict[Values, float], list[str]]:
    """Where values are drawn and how they are called: numbers in proportion, all others one after the other."""
    ticks = [", ".join(values) for values in variants]
    try:
        places = [float(tick) for tick in ticks]
    except ValueError:
        places = [float(place) for place in range(len(variants))]
    return dict(zip(variants, places, strict=True)), ticks
