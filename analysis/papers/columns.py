"""Tables and figures that only select numbers: each column or panel names one number per model. Those without
code of their own are entries in texts.toml with `columns`, and with `papers`, the reports that show them. A
column has a `head`, a `measure` and a `metric`, a `task` if the measure covers several tasks, and a `null`,
the metric of its null, if a figure shows one. Figures are None if records are missing or there are too many
objectives or languages to distinguish."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from calque.analysis.papers.looks import Look, keys, looks
from calque.analysis.papers.texts import TEXTS, heading, plot, table
from calque.analysis.records.record import DELTA, MEASURES, RECOVERED, Published, Record
from calque.analysis.report import drawing
from calque.analysis.report.drawing import DIFFERENCE, INK, MOST, SHARE
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import MISSING, Table, cell, percent
from calque.analysis.results.measured import BySeed, Measured, mean, means
from calque.analysis.results.results import Results
from calque.analysis.results.retained import Retained, retained
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title

ABREAST = 2  # maximum number of panels in a row
BARS, MARKERS = 3, 8  # approximate numbers of intervals and markers on a line, so that they do not hide it
RETAINED = "RETAINED"
HEADS = {DELTA: "Δ", RETAINED: "retained"}  # these measures' names in tables


@dataclass(frozen=True)
class Column:
    """A column: its heading, and the number that it shows for each model. `facets` are additional fields of
    `Key`, and `null` is the metric that records the null's upper end. `count` shows the number of test items
    instead; `remarks` adds remarks to retained transfer."""

    head: str
    measure: str
    metric: str
    task: str = ""
    facets: Mapping[str, Any] = field(default_factory=dict)
    null: str = ""
    count: bool = False
    remarks: bool = True

    @property
    def bounds(self) -> tuple[float, float]:
        return DIFFERENCE if self.measure in (DELTA, RECOVERED) else SHARE

    def values(self, results: Results, objective: str, language: str) -> BySeed:
        return results.scores(self.measure, objective, language, self.task, self.metric, **self.facets)

    def cell(self, results: Results, objective: str, language: str) -> str:
        if self.measure == RETAINED:
            return retained_cell(retained(results, objective, language, self.task, self.metric), self.remarks)
        if self.count:
            last = results.last(self.measure, objective, language, self.task, self.metric)
            return next((str(record.count) for record in last.values()), MISSING)
        return cell(mean(self.values(results, objective, language)))

    def printed(self, results: Results, table: int, objective: str, language: str) -> str:
        """Return the cell with the number printed in the paper's table."""
        number = results.printed(table, self.measure, objective, language, self.task, self.metric)
        return percent(number.value if number else None)


def task_columns(measures: Sequence[str], metrics: Iterable[tuple[str, str]]) -> list[Column]:
    """Return one column for each measure of each pair of task and metric."""
    return [
        Column(f"{score_title(task, metric)} {HEADS.get(measure, measure)}", measure, metric, task)
        for task, metric in metrics
        for measure in measures
    ]


def main_metrics(results: Results) -> list[tuple[str, str]]:
    """Return a study's tasks, each with its main metric."""
    return [(task, PRIMARY[task]) for task in results.main_tasks]


def score_title(task: str, metric: str = "") -> str:
    """Return the display names of a task and its metric (default: the primary one)."""
    return f"{task_title(task)} {metric_title(metric or PRIMARY[task])}"


def rows_of(
    results: Results, columns: Sequence[Column], languages: Sequence[str] = ()
) -> Iterator[tuple[str, ...]]:
    """Yield one row for each objective and derived language (default: all) that has a number in any
    column."""
    for objective in results.objectives:
        for language in languages or results.transforms:
            numbers = [column.cell(results, objective, language) for column in columns]
            if any(number != MISSING for number in numbers):
                yield results.objective_title(objective), results.transform_title(language), *numbers


def records_of(results: Results, columns: Iterable[Column]) -> list[Record]:
    """Return the records of the numbers shown in some columns, in the study's order."""
    shown = {(column.measure, column.task, column.metric) for column in columns}
    return [r for r in results.records if (r.measure, r.task, r.metric) in shown]


def last_records(
    results: Results, languages: Iterable[str], numbers: Sequence[tuple[str, str, str]]
) -> list[Record]:
    """Return every objective's records at the last step, for numbers given as (measure, task, metric)."""
    return [
        record
        for objective in results.objectives
        for language in languages
        for measure, task, metric in numbers
        for record in results.last(measure, objective, language, task, metric).values()
    ]


def retained_cell(kept: Retained | None, remarks: bool = True) -> str:
    """Format retained transfer with its interval and, with `remarks`, a remark if it is unreliable; if it is
    undefined, return the reason."""
    if kept is None:
        return MISSING
    parts = [cell(kept.share) if kept.share else "", kept.remark if remarks or not kept.share else ""]
    return ", ".join(filter(None, parts))


def printed_rows(
    numbers: Iterable[Published], row: Sequence[str], column: str
) -> dict[tuple[str, ...], dict[str, float]]:
    """Group published numbers into a table: values by the fields that label a row, then by the field that
    labels a column."""
    rows: dict[tuple[str, ...], dict[str, float]] = {}
    for number in numbers:
        rows.setdefault(tuple(getattr(number, name) for name in row), {})[getattr(number, column)] = (
            number.value
        )
    return rows


def specified_tables(paper: str, results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield the tables that texts.toml specifies for a report, if their numbers were recorded, and a table of
    user-defined measures."""
    own = dict.fromkeys(
        (r.measure, r.metric) for r in results.records if not r.task and r.measure not in MEASURES
    )
    columns = {
        name: columns_of(name) for name, entry in TEXTS["tables"].items() if paper in entry.get("papers", ())
    }
    metrics = Counter(measure for measure, _ in own)
    # A measure's only metric is not named.
    heads = {one: one[0] if metrics[one[0]] == 1 else " ".join(one) for one in own}
    columns |= {"own-measures": [Column(head, *one) for one, head in heads.items()]}
    for name, its in columns.items():
        if rows := list(rows_of(results, its)):
            labels = TEXTS["tables"][name].get("labels", ("objective", "transform"))
            header = *labels, *(column.head for column in its)
            yield name, table(name, results, scale, header, rows, 2)


def specified_figures(paper: str, results: Results, scale: str) -> Iterator[Plot | None]:
    """Yield the figures specified in texts.toml for a report."""
    for name, entry in TEXTS["figures"].items():
        if paper in entry.get("papers", ()):
            draw = _by_step if entry.get("by") == "step" else _by_language
            yield draw(name, entry, results, scale)


def columns_of(name: str, kind: str = "tables") -> list[Column]:
    """Return the columns of an entry in texts.toml."""
    return [Column(**column) for column in TEXTS[kind][name]["columns"]]


def _by_language(name: str, entry: dict[str, Any], results: Results, scale: str) -> Plot | None:
    look, objectives, columns = looks(results), results.objectives, columns_of(name, "figures")
    languages = [
        t for t in results.transforms if any(c.values(results, o, t) for c in columns for o in objectives)
    ]
    if not languages or len(languages) > MOST or not look:
        return None
    nulls = {column.head: replace(column, metric=column.null) for column in columns if column.null}
    half = 0.3 / len(look)  # half the width of the line that marks a null

    def draw(panel: Axes, column: Column) -> None:
        for x, objective, language in drawing.in_groups(list(look), languages):
            colour, marker, _ = look[objective]
            if number := mean(column.values(results, objective, language)):
                drawing.draw_points(
                    panel, [(x, number)], colour, bounds=column.bounds, marker=marker, markersize=5
                )
            null = nulls.get(column.head)
            if null and (end := mean(null.values(results, objective, language))):
                drawing.level(panel, end.mean, [x - half, x + half], "--", INK, linewidth=1)
        titles = [drawing.wrapped(results.transform_title(t), 2.0 / len(languages)) for t in languages]
        panel.set_xticks(range(len(languages)), titles)
        panel.set_xlim(-0.5, len(languages) - 0.5)
        panel.grid(visible=False, axis="x")

    panels, title = [(column.head, column) for column in columns], heading(name)
    labels, same = ("", entry.get("axis", "percent")), len({column.bounds for column in columns}) == 1
    with drawing.small_multiples(title, panels, draw, ABREAST, 1.9, labels, sharey=same) as (figure, _):
        handles = [drawing.key("null, 95 %", INK, "", line="--")] if nulls else []
        drawing.legend(figure, [*keys(results, look), *handles], 4)
    return plot(name, figure, results, scale, records_of(results, [*columns, *nulls.values()]))


def _draw_means(
    panel: Axes, curves: Mapping[int, Mapping[int, Record]], look: Look, shift: float | None
) -> None:
    """Draw means over seeds, with intervals at regularly spaced steps. `shift` is the first interval's offset
    as a fraction of their spacing (None: no intervals)."""
    by_step: dict[int, dict[int, Measured]] = {}
    for seed, curve in curves.items():
        for step, record in curve.items():
            by_step.setdefault(step, {})[seed] = Measured.of(record)
    points = means(sorted(by_step.items()))
    steps, values = [step for step, _ in points], [100 * estimate.mean for _, estimate in points]
    stride = max(1, len(points) // BARS)
    barred = () if shift is None else range(int(shift * stride + 1e-9), len(points), stride)
    every = drawing.ends([estimate for _, estimate in points])
    intervals = [both if i in barred and points[i][1].seeds > 1 else None for i, both in enumerate(every)]
    style: dict[str, Any] = {
        "marker": look.marker,
        "markersize": 4.5,
        "markevery": 1 + len(points) // MARKERS,
    }
    drawing.draw_line(panel, steps, values, intervals, fmt=look.dash, color=look.colour, **style)
    drawing.draw_intervals(panel, steps, intervals, look.colour)


def _by_step(name: str, entry: dict[str, Any], results: Results, scale: str) -> Plot | None:
    columns = [column for column in columns_of(name, "figures") if results.has(column.measure, column.metric)]
    records, look, rows = records_of(results, columns), looks(results), results.transforms
    measured = {results.objective_of(record) for record in records}
    if len({record.step for record in records}) < 2 or len(rows) > MOST or not look:
        return None
    look = {objective: its for objective, its in look.items() if objective in measured}

    def draw(panel: Axes, cell: tuple[str, Column]) -> None:
        language, column = cell
        for place, (objective, its) in enumerate(look.items()):
            curves = results.curves(column.measure, objective, language, column.task, column.metric)
            # Intervals of different objectives do not overlap.
            shift = None if entry.get("seeds") else place / len(look)
            _draw_means(panel, curves, its, shift)
            if entry.get("seeds") and len(results.seeds) > 1:
                for line in curves.values():
                    values = [100 * record.value for record in line.values()]
                    panel.plot(list(line), values, its.dash, color=its.colour, linewidth=0.8, alpha=0.5)

    panels = [
        (f"{results.transform_title(t)},\n{column.head}", (t, column)) for t in rows for column in columns
    ]
    title, labels = heading(name), ("step of pretraining", entry["axis"])
    shared: dict[str, Any] = {"sharex": True, "sharey": "row"}
    with drawing.small_multiples(title, panels, draw, len(columns), 1.8, labels, **shared) as (figure, axes):
        for panel in axes[:, 0]:
            panel.set_ylim(bottom=0)
            panel.yaxis.set_major_locator(MaxNLocator(4))
        axes[0, 0].xaxis.set_major_locator(MaxNLocator(3, integer=True))
        axes[0, 0].xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        drawing.legend(figure, keys(results, look, line=None), 4)
    return plot(name, figure, results, scale, records)
