"""Compare objectives on the same languages and tasks with the same budget, which no paper does."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calque.analysis.papers.align_mlm import (
    alignment_table,
    correlated,
    diagnostics_tables,
    scores_table,
)
from calque.analysis.papers.columns import (
    HELD_OUT_TYPES,
    LABELS,
    Column,
    better_than,
    main_metrics,
    score_title,
    shown_records,
    task_columns,
)
from calque.analysis.papers.looks import looks
from calque.analysis.papers.texts import claim, heading, plot, table
from calque.analysis.records.record import ALIGNMENT
from calque.analysis.report.drawing import (
    INK,
    MOST,
    Plot,
    draw_points,
    key,
    legend,
    level,
    small_multiples,
    wrapped,
)
from calque.analysis.report.table import FLOOR, MISSING, OURS, Table, percent
from calque.analysis.results.measured import mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import Claim
from calque.analysis.tasks.catalog import metric_title, task_title

PLAIN = "MLM"  # the objective to compare all others with
COLUMNS = 3  # panels in a row
LINE = 0.27  # height in inches per objective
NAMES = 1.9  # width of the objectives' names, in inches
STRONGEST = "strongest word baseline"


def _zero_shot(results: Results) -> list[Column]:
    return [Column(score_title(task), "ZS", metric, task) for task, metric in main_metrics(results)]


def _over_tasks(results: Results, measure: str = "ZS") -> Column:
    return Column(f"{measure}, mean of tasks", parts=task_columns([measure], main_metrics(results)))


def equal_terms_tables(results: Results) -> dict[str, Table | None]:
    """Return the table of objectives, and tables from the ALIGN-MLM report, by file name."""
    return {
        "objectives": _objectives_table(results),
        "scores": scores_table(results),
        "alignment": alignment_table(results),
        **diagnostics_tables(results),
    }


def _objectives_table(results: Results) -> Table:
    tasks, rows = _zero_shot(results), list[tuple[str, ...]]()
    columns = [*tasks, _over_tasks(results), _over_tasks(results, "SUP"), HELD_OUT_TYPES]
    columns.append(Column("alignment@1, all", ALIGNMENT, "all"))
    for transform in results.transforms:
        title = results.transform_title(transform)
        for objective in results.objectives:
            cells = [column.cell(results, objective, transform) for column in columns]
            rows.append((results.objective_title(objective), title, OURS, *cells))
        low = [column.floor(results, transform) for column in tasks]
        if floors := [floor.value for floor in low if floor]:
            overall = percent(fmean(floors)) if len(floors) == len(tasks) else MISSING
            cells = [percent(floor.value if floor else None) for floor in low]
            rows.append((STRONGEST, title, FLOOR, *cells, overall, *[MISSING] * 3))
    labels, heads = (*LABELS, "source"), [column.head for column in columns]
    surface = " ".join(_learnt_on_the_surface(results))
    objectives = table("objectives", results, labels, heads, rows, surface=surface)
    return replace(objectives, note=objectives.note.rstrip())


def _learnt_on_the_surface(results: Results) -> Iterator[str]:
    for transform, (task, metric) in product(results.transforms, main_metrics(results)):
        shallow = results.floors.highest(task, metric, transform, transform, surface=True)
        every = (mean(results.scores("SUP", name, transform, task, metric)) for name in results.objectives)
        scores = [score.mean for score in every if score]
        low = sum(score <= shallow.value for score in scores) if shallow else 0
        if shallow and low:
            yield (
                f"{task_title(task)} under {results.transform_title(transform)}: shallow features that "
                f"learn it there reach {percent(shallow.value)}, and SUP of {low} of {len(scores)} "
                "objectives no more, so SUP and Δ say little of what is understood."
            )


def equal_terms_claims(results: Results) -> Iterator[Claim]:
    """Claim that each objective beats MLM, and that better alignment is associated with better transfer."""
    numbers = {"transfers-better": _over_tasks(results), "aligns-more": HELD_OUT_TYPES}
    others, tasks = [name for name in results.objectives if name != PLAIN], len(results.main_tasks)
    for transform in results.transforms if PLAIN in results.objectives else ():
        for name, (text, column) in product(others, numbers.items()):
            yield better_than(results, text, column, (name, PLAIN), transform, tasks=tasks)
    for task in results.main_tasks:
        yield claim("together", correlated(results, task, 0.0), on=task_title(task))


def objectives_figure(results: Results) -> Plot | None:
    """Plot ZS with the strongest baseline, with one panel per task and one row per objective."""
    tasks, metrics, look = _zero_shot(results), main_metrics(results), looks(results)
    if not tasks or len(results.transforms) > MOST or not look:
        return None
    rows = [(objective, transform) for transform in results.transforms for objective in results.objectives]

    def draw(panel: Axes, column: Column) -> None:
        for place, row in enumerate(rows):
            if score := mean(column.values(results, *row)):
                colour, marker, _ = look[row[0]]
                draw_points(panel, [(place, score)], colour, marker, across=True, zorder=3)
        panel.xaxis.set_major_locator(MaxNLocator(2))
        panel.margins(x=0.15)
        for transform in results.transforms:
            if low := column.floor(results, transform):
                places = [place for place, (_, name) in enumerate(rows) if name == transform]
                ends = [places[0] - 0.5, places[-1] + 0.5]
                level(panel, low.value, ends, "-", INK, across=True, linewidth=1, zorder=1)

    panels = [(f"{task_title(column.task)}, {metric_title(column.metric)}", column) for column in tasks]
    panels.append((f"mean of {len(tasks)} tasks", _over_tasks(results)))
    shared: dict[str, Any] = {"labels": ("ZS, %", ""), "sharey": True}
    title, height = heading("figure-objectives"), 0.75 + LINE * len(rows)
    with small_multiples(title, panels, draw, COLUMNS, height, **shared) as (figure, axes):
        for panel, (name, _) in zip(axes.flat, panels, strict=False):
            panel.set_title(wrapped(name, 1.0))
        for panel in axes[:, 0]:
            panel.set_yticks(range(len(rows)), [_row_title(results, *row) for row in rows])
            panel.set_ylim(len(rows) - 0.4, -0.6)
        own = (floor for floor in results.floors.all if floor.learnt == results.source and not floor.surface)
        floors = [floor for floor in own if (floor.task, floor.metric) in metrics]
        if floors:
            legend(figure, [key(STRONGEST, INK, line="-")], 1)
    return plot("figure-objectives", figure, results, shown_records(results, tasks), floors=floors)


def _row_title(results: Results, objective: str, transform: str) -> str:
    under = f", {results.transform_title(transform)}" if len(results.transforms) > 1 else ""
    return wrapped(results.objective_title(objective) + under, NAMES)
