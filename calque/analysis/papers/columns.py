"""Tables and figures whose columns or panels show one number per model; texts.toml specifies some."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from calque.analysis.papers.colours import Look, keys, looks
from calque.analysis.papers.texts import TEXTS, chart, table
from calque.analysis.records.record import ALIGNMENT, DELTA, LIMITS, MEASURES, SHARE, Floor, Record
from calque.analysis.report import drawing
from calque.analysis.report.drawing import MOST, Plot
from calque.analysis.report.table import MISSING, Table, cell
from calque.analysis.results import (
    BySeed,
    Measured,
    Results,
    above_floor,
    average,
    difference,
    is_at_floor,
    judge_estimate,
    mean,
    means,
    unless_at_floor,
)
from calque.analysis.statistics import Estimate
from calque.analysis.tasks.catalogue import PRIMARY, metric_title, task_title
from calque.analysis.verdicts import Verdict

ABREAST = 2  # maximum number of panels in a row
BARS, MARKERS = 3, 8  # approximate numbers of intervals and markers on a line; more would hide the line
Model = tuple[str, str]  # an objective and a derived language


@dataclass(frozen=True)
class Column:
    """The number to show for each model: the average of the `parts` if there are any. `facets` are further
    fields of `Key`."""

    head: str
    measure: str = ""
    metric: str = ""
    task: str = ""
    facets: Mapping[str, Any] = field(default_factory=dict)
    parts: "Sequence[Column]" = ()

    def __str__(self) -> str:
        return self.head

    def values(self, results: Results, *model: str) -> BySeed:
        if self.parts:
            return average([part.values(results, *model) for part in self.parts])
        return results.scores(self.measure, *model, self.task, self.metric, **self.facets)

    def mean(self, results: Results, *model: str) -> Estimate | None:
        return mean(self.values(results, *model))

    def curves(self, results: Results, *model: str) -> Mapping[int, Mapping[int, Record]]:
        return results.curves(self.measure, *model, self.task, self.metric, **self.facets)

    def cell(self, results: Results, objective: str, language: str) -> str:
        text = cell(self.mean(results, objective, language))
        if self.measure != DELTA:
            return text
        above = above_floor(results, objective, language, self.task, self.metric)
        return f"{text}, ZS at the floor" if above and is_at_floor(above[1]) else text

    def floor(self, results: Results, language: str) -> Floor | None:
        return results.floor(self.task, self.metric, language, results.source)


ALL_TYPES = Column("alignment@1, all", ALIGNMENT, "all")
HELD_OUT_TYPES = Column("alignment@1, held-out", ALIGNMENT, "held-out")


def titles(results: Results, objective: str, language: str) -> Model:
    """Return the titles of an objective and of a language."""
    return results.objective_title(objective), results.transform_title(language)


def task_columns(measures: Sequence[str], metrics: Iterable[tuple[str, str]]) -> list[Column]:
    """Return one column per measure for each pair of a task and a metric."""
    return [
        Column(f"{score_title(task, metric)} {measure.replace(DELTA, 'Δ')}", measure, metric, task)
        for task, metric in metrics
        for measure in measures
    ]


def main_metrics(results: Results) -> list[tuple[str, str]]:
    """Return the study's main tasks, each with its primary metric."""
    return [(task, PRIMARY[task]) for task in results.main_tasks]


def score_title(task: str, metric: str = "", separator: str = " ") -> str:
    """Return the title of a task's metric (default: the primary one)."""
    return f"{task_title(task)}{separator}{metric_title(metric or PRIMARY[task])}"


def column_table(
    name: str, results: Results, columns: Sequence[Column], languages: Sequence[str] = ()
) -> Table | None:
    """Tabulate the rows that `rows_of` yields; None if there are none."""
    rows = rows_of(results, columns, product(results.objectives, languages or results.transforms))
    return table(name, results, columns, rows)


def rows_of(
    results: Results, columns: Sequence[Column], models: Iterable[Model]
) -> Iterator[tuple[str, ...]]:
    """Yield one row for each model with a number in any column."""
    for model in models:
        cells = [column.cell(results, *model) for column in columns]
        if any(text != MISSING for text in cells):
            yield *titles(results, *model), *cells


def shown_records(results: Results, columns: Iterable[Column]) -> list[Record]:
    """Return the records, at all steps, that any of the columns shows."""
    numbers = {(column.measure, column.task, column.metric, column.facets.get("layer")) for column in columns}
    return [r for r in results.records if (r.measure, r.task, r.metric, r.layer) in numbers]


def compare(results: Results, column: Column, first: Model, second: Model, bound: float = 0.0) -> Verdict:
    """Judge whether one number minus another is above `bound`; at the floor, Delta is undecided."""
    numbers = (column.values(results, *model) for model in (first, second))
    verdict = judge_estimate(difference(*numbers), bound=bound)
    if column.measure == DELTA:
        return unless_at_floor(verdict, results, [first, second], column.task, column.metric)
    return verdict


def columns_of(name: str, kind: str = "tables") -> list[Column]:
    """Return the columns that texts.toml specifies for a table or figure."""
    return [Column(*column) for column in TEXTS[kind][name]["columns"]]


def _specified(kind: str, paper: str) -> dict[str, list[Column]]:
    names = [name for name, entry in TEXTS[kind].items() if paper in entry.get("papers", ())]
    return {name: columns_of(name, kind) for name in names}


def specified_tables(paper: str, results: Results) -> dict[str, Table | None]:
    """Return the tables that texts.toml specifies for a report, and one of user-defined measures."""
    keys = [key for key in results.keys(task="") if key.measure not in MEASURES]
    own = dict.fromkeys((key.measure, key.metric) for key in keys)
    tables = _specified("tables", paper) | {"own-measures": [Column(" ".join(key), *key) for key in own]}
    return {name: column_table(name, results, columns) for name, columns in tables.items()}


def specified_figures(paper: str, results: Results) -> Iterator[Plot | None]:
    """Yield the figures that texts.toml specifies for a report, or None if one cannot be drawn."""
    for name, columns in _specified("figures", paper).items():
        draw = by_step if TEXTS["figures"][name].get("by") == "step" else _by_language
        yield draw(name, results, columns)


def _by_language(name: str, results: Results, columns: Sequence[Column]) -> Plot | None:
    look, models = looks(results), results.models
    found = (model[1] for model in models if any(column.values(results, *model) for column in columns))
    languages = list(dict.fromkeys(found))
    if not languages or len(languages) > MOST or not look:
        return None

    def draw(panel: Axes, column: Column) -> None:
        for x, objective, language in drawing.in_groups(list(look), languages):
            if number := column.mean(results, objective, language):
                drawing.draw_points(panel, [(x, number)], *look[objective][:2], linestyle="-")
        heads = [drawing.wrapped(results.transform_title(t), 2.0 / len(languages)) for t in languages]
        panel.set_xticks(range(len(languages)), heads)
        panel.set_xlim(-0.5, len(languages) - 0.5)
        panel.grid(visible=False, axis="x")

    return chart(
        name,
        results,
        [(column.head, column) for column in columns],
        draw,
        (ABREAST, 1.9),
        keys(results, look),
        shown_records(results, columns),
        across=4,
        labels=("", TEXTS["figures"][name].get("axis", "percent")),
        sharey=len({LIMITS.get(column.measure, SHARE) for column in columns}) == 1,
    )


def by_step(name: str, results: Results, columns: Sequence[Column]) -> Plot | None:
    """Plot means against steps, with one row of panels per language. texts.toml may set `seeds` (thin
    lines for seeds, no intervals)."""
    columns = [column for column in columns if results.has(column.measure, column.metric)]
    records, languages, entry = shown_records(results, columns), results.transforms, TEXTS["figures"][name]
    steps, objectives = sorted({r.step for r in records}), {results.objective_of(r) for r in records}
    look = {name: style for name, style in looks(results).items() if name in objectives}
    if len(steps) < 2 or len(languages) > MOST or not look:
        return None
    seeds = entry.get("seeds", False)

    def draw(panel: Axes, content: tuple[Column, str]) -> None:
        column, language = content
        for place, (objective, style) in enumerate(look.items()):
            curves = column.curves(results, objective, language)
            points = _draw_means(panel, curves, steps, style)
            if not seeds:
                stride = max(1, len(points) // BARS)
                # Different first steps keep the intervals of different objectives apart.
                barred = points[int(place / len(look) * stride + 1e-9) :: stride]
                drawing.draw_intervals(panel, [point for point in barred if point[1].seeds > 1], style.colour)
            for curve in curves.values() if seeds and len(results.seeds) > 1 else ():
                values = [100 * record.value for record in curve.values()]
                panel.plot(list(curve), values, style.dash, color=style.colour, linewidth=0.8, alpha=0.5)

    heads = {language: results.transform_title(language) for language in languages}
    panels, across = [(f"{heads[t]},\n{c}", (c, t)) for t, c in product(languages, columns)], len(columns)
    layout: dict[str, Any] = {"across": 4, "sharex": True, "sharey": "row"}
    layout["labels"] = "step of pretraining", entry.get("axis", "")
    handles, grid = keys(results, look, line=None), (across, 1.8)
    plot = chart(name, results, panels, draw, grid, handles, records, **layout)
    rows = plot.figure.axes[: len(panels) : across]
    rows[0].xaxis.set_major_locator(MaxNLocator(3, integer=True))
    rows[0].xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    for panel in rows:
        panel.set_ylim(bottom=0)
        panel.yaxis.set_major_locator(MaxNLocator(4))
    return plot


def _draw_means(
    panel: Axes, curves: Mapping[int, Mapping[int, Record]], steps: Sequence[int], look: Look
) -> list[tuple[int, Estimate]]:
    """Plot means over seeds against steps, and return them."""
    points = means(
        (step, {seed: Measured.of(curve[step]) for seed, curve in curves.items() if step in curve})
        for step in steps
    )
    values, every = [100 * estimate.mean for _, estimate in points], 1 + len(points) // MARKERS
    style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "markersize": 4.5}
    panel.plot([step for step, _ in points], values, look.dash, markevery=every, **style)
    return points
