"""A sweep: one study with several values of some settings, as one table and one figure.

It does not depend on any particular setting, study or objective.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from calque.analysis.papers.looks import keys, looks
from calque.analysis.records.record import AER, ALIGNMENT, DELTA, RETRIEVAL, Floor, Record
from calque.analysis.records.run import Run
from calque.analysis.report.drawing import DIFFERENCE, INK, MOST, SHARE, draw_points, legend, small_multiples
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import Table, cell, over_seeds
from calque.analysis.results.measured import BySeed, average, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title

Values = tuple[str, ...]  # one value of each setting that is varied
PANELS = 4  # the most columns of panels
ROOM = 60  # characters of labels that fit below a panel
LEAST_GAP = 0.15  # the least distance of two labels, as a fraction of the axis


class Row(NamedTuple):
    """The key of a row of the table, or of a point of the figure."""

    language: str
    objective: str
    values: Values


@dataclass(frozen=True)
class SweepResults:
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
            title: {row: estimate for row, parts in rows.items() if (estimate := mean(average(parts)))}
            for title, rows in columns.items()
        }

    @cached_property
    def rows(self) -> list[Row]:
        """The rows: languages outermost, then objectives, then values."""
        rows = dict.fromkeys(row for column in self.numbers.values() for row in column)
        languages, objectives = (list(dict.fromkeys(row[part] for row in rows)) for part in (0, 1))
        order = list(self.variants)
        return sorted(rows, key=lambda r: (languages.index(r[0]), objectives.index(r[1]), order.index(r[2])))

    def floors(self) -> list[Floor]:
        """The floors of all values; one that they share is there once, without their settings."""
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
        """One record of each objective of any value, for titles and looks."""
        records: dict[str, tuple[Record, Run]] = {}
        for results in self.variants.values():
            for record in results.records:
                records.setdefault(results.objective_of(record), (record, results.runs[record.run]))
        return Results([run for _, run in records.values()], [record for record, _ in records.values()])


def _column(record: Record, results: Results) -> str:
    """The title of the column that shows a number, or ""."""
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
    """The language of a number: a derived one by its title; natural ones are averaged."""
    run = results.runs[record.run]
    described = next((language for language in run.languages if language.name == record.language), None)
    mixtures = {other.mixture.name for other in results.runs.values() if other.mixture and len(other.languages) > 1}
    mixed = f"{run.mixture.title}, " if run.mixture and (len(run.languages) > 2 or len(mixtures) > 1) else ""
    return mixed + (described.title if described and described.parts else "all languages")


def sweep_table(sweep: SweepResults, scale: str) -> Table:
    """A row for each language, objective and value, with intervals over seeds."""
    rows = []
    for row in sweep.rows:
        cells = (cell(column.get(row)) for column in sweep.numbers.values())
        rows.append((row.language, sweep.objectives.objective_title(row.objective), *row.values, *cells))
    title = f"{sweep.first.study} by {', '.join(sweep.keys)} ({scale})"
    header = ("language", "objective", *sweep.keys, *sweep.numbers)
    runs = tuple(dict.fromkeys(run for results in sweep.variants.values() for run in results.run_ids()))
    over = {", ".join(values): over_seeds(each.seeds, each.redrawn) for values, each in sweep.variants.items()}
    same = len(set(over.values())) == 1
    note = f"Percent; {'; '.join(dict.fromkeys(over.values()) if same else map(': '.join, over.items()))}."
    return Table(title, header, tuple(rows), note, runs, 2 + len(sweep.keys))


def sweep_findings(sweep: SweepResults) -> Iterator[str]:
    """Each number of the first language with the first and the last values, by objective."""
    first, *_, last = sweep.variants
    language, ends = sweep.rows[0].language, " → ".join(map(", ".join, (first, last)))
    for title, column in sweep.numbers.items():
        pairs = [(row, row._replace(values=last)) for row in column if row[::2] == (language, first)]
        changes = [
            f"{sweep.objectives.objective_title(row.objective)} {cell(column[row])} → {cell(column[end])}"
            for row, end in pairs
            if end in column
        ]
        if changes:
            yield f"{', '.join(sweep.keys)} {ends}, {language}, {title} in percent: {'; '.join(changes)}."


def sweep_figure(sweep: SweepResults, scale: str) -> Plot | None:
    """Each number by value: one panel per measure (one row of them per language), one line per objective."""
    columns, look = dict(list(sweep.numbers.items())[:PANELS]), looks(sweep.objectives)
    languages = list(dict.fromkeys(row.language for row in sweep.rows))
    places, ticks = _places(list(sweep.variants))
    if not columns or len(languages) > MOST or not look or len(" ".join(ticks)) > ROOM:
        return None
    by = ", ".join(sweep.keys)
    title = f"{sweep.first.study} by {by}"

    def draw(panel: Axes, cell: tuple[str, str]) -> None:
        language, name = cell
        is_delta = name.endswith("Δ")
        if is_delta:
            panel.axhline(0, color=INK, linewidth=0.8)
        for objective, (colour, marker, dash) in look.items():
            rows = [row for row in sweep.rows if row[:2] == (language, objective) and row in columns[name]]
            points = [(places[row.values], columns[name][row]) for row in rows]
            bounds = DIFFERENCE if is_delta else SHARE
            draw_points(panel, points, colour, bounds=bounds, marker=marker, linestyle=dash, markersize=5)
        panel.set_xticks(list(places.values()), ticks)

    several, last = len(languages) > 1, ", ".join(key.rpartition(".")[2] for key in sweep.keys)
    panels = [(f"{lang}\n{name}" if several else name, (lang, name)) for lang in languages for name in columns]
    shared: dict[str, Any] = {"sharex": True, "sharey": "col"} if several else {}
    across = len(columns) if several else 2
    with small_multiples(f"What changes with {by}?", panels, draw, across, 1.9, (last, ""), **shared) as (figure, _):
        legend(figure, keys(sweep.objectives, look), 4)
    seeds = {len(each.seeds) > 1 for each in sweep.variants.values()}
    kinds = (("over seeds", True), ("over the test items of one seed", False))
    over = ", or ".join(kind for kind, of_seeds in kinds if of_seeds in seeds)
    records = [r for results in sweep.variants.values() for r in results.records if _column(r, results) in columns]
    caption = f"Percent, by {by}. Bars are 95 % intervals {over}. Scale: {scale}."
    return Plot(figure, "figure-sweep", title, caption, records)


def _places(variants: Sequence[Values]) -> tuple[dict[Values, float], list[str]]:
    """The positions and labels of values: numbers to scale unless labels would overlap, all others evenly spaced."""
    ticks = [", ".join(values) for values in variants]
    places = [float(place) for place in range(len(variants))]
    with suppress(ValueError):
        numbers = [float(tick) for tick in ticks]
        gaps = [abs(a - b) for a, b in combinations(numbers, 2)]
        if gaps and min(gaps) >= LEAST_GAP * max(gaps):
            places = numbers
    return dict(zip(variants, places, strict=True)), ticks
