"""Compare objectives with the same languages, tasks and budget, which no paper does."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calque.analysis.papers.align_mlm.claims import correlated
from calque.analysis.papers.align_mlm.tables import alignment_table, diagnostics_tables, scores_table
from calque.analysis.papers.columns import main_metrics, score_title
from calque.analysis.papers.findings import leader
from calque.analysis.papers.looks import looks
from calque.analysis.papers.texts import claim, heading, plot, table
from calque.analysis.report.drawing import (
    INK,
    MOST,
    draw_points,
    key,
    legend,
    level,
    small_multiples,
    wrapped,
)
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import FLOOR, MISSING, OURS, Table, cell, percent
from calque.analysis.results.measured import BySeed, average, judge_difference, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import Claim
from calque.analysis.tasks.catalog import metric_title, task_title

PLAIN = "MLM"  # the objective to compare all others with
COLUMNS = 3  # panels in a row
LINE = 0.27  # height in inches per objective
NAMES = 1.9  # width in inches of objectives' names
STRONGEST = "strongest word baseline"


def _over_tasks(results: Results, objective: str, transform: str, measure: str = "ZS") -> BySeed:
    metrics = main_metrics(results)
    return average([results.scores(measure, objective, transform, *metric) for metric in metrics])


def equal_terms_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield the table of objectives, and the tables of scores and alignment of an ALIGN-MLM report."""
    yield "objectives", _objectives_table(results, scale)
    yield "scores", scores_table(results, scale)
    yield "alignment", alignment_table(results, scale)
    yield from diagnostics_tables(results, scale)


def _objectives_table(results: Results, scale: str) -> Table:
    tasks, rows = main_metrics(results), list[tuple[str, ...]]()
    for transform in results.transforms:
        title = results.transform_title(transform)
        for objective in results.objectives:
            values = [results.scores("ZS", objective, transform, task, metric) for task, metric in tasks]
            values += [_over_tasks(results, objective, transform, measure) for measure in ("ZS", "SUP")]
            values += [results.alignments(objective, transform, kind) for kind in ("held-out", "all")]
            rows.append((results.objective_title(objective), title, OURS, *map(cell, map(mean, values))))
        low = [results.floors.highest(task, metric, transform, results.source) for task, metric in tasks]
        if floors := [floor.value for floor in low if floor]:
            overall = percent(fmean(floors)) if len(floors) == len(tasks) else MISSING
            cells = (percent(floor.value if floor else None) for floor in low)
            rows.append((STRONGEST, title, FLOOR, *cells, overall, *[MISSING] * 3))
    averages = ("ZS, mean of tasks", "SUP, mean of tasks", "alignment@1, held-out", "alignment@1, all")
    labels, heads = ("objective", "transform", "source"), [*map(score_title, results.main_tasks), *averages]
    surface = " ".join(_learnt_on_the_surface(results))
    objectives = table("objectives", results, scale, labels, heads, rows, surface=surface)
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
    """Yield the claims that each objective transfers and aligns better than MLM, and that better alignment
    goes with better transfer."""
    title, names = results.objective_title, results.objectives if PLAIN in results.objectives else []
    for transform in results.transforms:
        scores = {name: _over_tasks(results, name, transform) for name in names}
        aligned = {name: results.alignments(name, transform, "held-out") for name in names}
        about: dict[str, Any] = {"under": results.transform_title(transform), "worse": title(PLAIN)}
        about["tasks"] = len(results.main_tasks)
        for name in (name for name in names if name != PLAIN):
            for text, its in (("transfers-better", scores), ("aligns-more", aligned)):
                yield claim(text, judge_difference(its[name], its[PLAIN]), better=title(name), **about)
    for task in results.main_tasks:
        yield claim("together", correlated(results, task, 0.0), on=task_title(task))


def equal_terms_findings(results: Results) -> Iterator[str]:
    """Name the two objectives with the best mean over tasks for each derived language."""
    for transform in results.transforms:
        scores = {name: _over_tasks(results, name, transform) for name in results.objectives}
        number = f"ZS under {results.transform_title(transform)}, mean of {len(results.main_tasks)} tasks"
        yield from leader(results, number, scores, +1)


def objectives_figure(results: Results, scale: str) -> Plot | None:
    """Plot zero-shot scores, with one panel per task and one for the mean over tasks, one row per objective
    and language, and a line for the strongest baseline."""
    tasks, look = main_metrics(results), looks(results)
    if not tasks or len(results.transforms) > MOST or not look:
        return None
    rows = [(objective, transform) for transform in results.transforms for objective in results.objectives]

    def draw(panel: Axes, metric: tuple[str, str] | None) -> None:
        for place, row in enumerate(rows):
            if score := mean(results.scores("ZS", *row, *metric) if metric else _over_tasks(results, *row)):
                colour, marker, _ = look[row[0]]
                draw_points(panel, [(place, score)], colour, marker, across=True, zorder=3)
        panel.xaxis.set_major_locator(MaxNLocator(2))
        panel.margins(x=0.15)
        for transform in results.transforms:
            if metric and (low := results.floors.highest(*metric, transform, results.source)):
                places = [place for place, (_, name) in enumerate(rows) if name == transform]
                ends = [places[0] - 0.5, places[-1] + 0.5]
                level(panel, low.value, ends, "-", INK, across=True, linewidth=1, zorder=1)

    panels: list[tuple[str, tuple[str, str] | None]] = [
        (f"{task_title(task)}, {metric_title(metric)}", (task, metric)) for task, metric in tasks
    ]
    panels.append((f"mean of {len(tasks)} tasks", None))
    title, height = heading("figure-objectives"), 0.75 + LINE * len(rows)
    with small_multiples(title, panels, draw, COLUMNS, height, ("ZS, %", ""), sharey=True) as (figure, axes):
        ticks = []
        for objective, transform in rows:
            under = f", {results.transform_title(transform)}" if len(results.transforms) > 1 else ""
            ticks.append(wrapped(results.objective_title(objective) + under, NAMES))
        for panel, (name, _) in zip(axes.flat, panels, strict=False):
            panel.set_title(wrapped(name, 1.0))
        for panel in axes[:, 0]:
            panel.set_yticks(range(len(rows)), ticks)
            panel.set_ylim(len(rows) - 0.4, -0.6)
        own = (floor for floor in results.floors.all if floor.learnt == results.source and not floor.surface)
        floors = [floor for floor in own if (floor.task, floor.metric) in tasks]
        if floors:
            legend(figure, [key(STRONGEST, INK, "", line="-")], 1)
    records = results.select(("ZS",), dict(tasks))
    return plot("figure-objectives", figure, results, scale, records, floors=floors)
