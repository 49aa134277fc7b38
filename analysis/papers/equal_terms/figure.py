"""Zero-shot scores of every objective: a panel a task, and one for their mean."""

from __future__ import annotations

from matplotlib.axes import Axes

from analysis.papers.equal_terms.means import over_tasks
from analysis.papers.looks import distinct, looks
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, MOST, key, legend, styled
from analysis.report.whiskers import draw_intervals, ends
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

COLUMNS = 3
LINE = 0.24
"""Inches of height that an objective takes."""
FLOOR = "strongest baseline of words"


def objectives_figure(results: Results, scale: str) -> Plot | None:
    """A row an objective, with its interval; a line where a baseline of words stands.

    A study of several derived languages gets their rows below one another. None without a task, or with more objectives
    or languages than a figure can tell apart.
    """
    tasks = [task for task in results.tasks if task in PRIMARY]
    if not tasks or len(results.transforms) > MOST or not distinct(results):
        return None
    rows = [(transform, objective) for transform in results.transforms for objective in results.objectives]
    panels = -(-(len(tasks) + 1) // COLUMNS)
    height = 1.4 + panels * (0.8 + LINE * len(rows))
    with styled(FULL, height, f"Zero-shot transfer by objective\n{scale}") as figure:
        axes = figure.subplots(panels, COLUMNS, sharey=True, squeeze=False)
        for panel in axes.flat[len(tasks) + 1 :]:
            panel.remove()
        for panel, task in zip(axes.flat, tasks, strict=False):
            scores = [results.scores("ZS", name, transform, task, PRIMARY[task]) for transform, name in rows]
            _row(panel, results, rows, scores)
            _floor(panel, results, rows, task)
            panel.set_title(f"{task_title(task)}, {metric_title(PRIMARY[task])}", fontsize=9)
        last = axes.flat[len(tasks)]
        _row(last, results, rows, [over_tasks(results, name, transform) for transform, name in rows])
        last.set_title(f"mean of {len(tasks)} tasks", fontsize=9)
        for panel in axes[:, 0]:
            panel.set_yticks(range(len(rows)), [_named(results, *row) for row in rows], fontsize=8)
            panel.set_ylim(len(rows) - 0.4, -0.6)
        shown = {(task, PRIMARY[task]) for task in tasks}
        floors = [
            floor
            for floor in results.floors.all
            if (floor.task, floor.metric) in shown and floor.learnt == results.source and not floor.surface
        ]
        if floors:
            legend(figure, [key(FLOOR, INK, "", line="-")], 1)
        caption = (
            "ZS: fine-tuned on the source, tested in the derived language, percent. "
            + (
                "Bars are 95 % intervals over seeds."
                if len(results.seeds) > 1
                else "Bars are over the items of one seed."
            )
            + " Scores left of the line say nothing of transfer: the baseline knows shares of labels and shared words."
            * bool(floors)
        )
        records = [r for r in results.records if r.measure == "ZS" and (r.task, r.metric) in shown]
        return Plot(figure, "figure-objectives", "Objectives on equal terms", caption, records, floors=floors)


def _row(panel: Axes, results: Results, rows: list[tuple[str, str]], scores: list[BySeed]) -> None:
    look = looks(results)
    for place, ((_, objective), values) in enumerate(zip(rows, scores, strict=True)):
        if score := mean(values):
            colour, marker, _ = look[objective]
            draw_intervals(panel, [place], ends([score]), colour, across=True)
            panel.plot([100 * score.mean], [place], marker, color=colour, markersize=5, zorder=3)
    panel.set_xlim(-2, 102)
    panel.set_xlabel("ZS, %", fontsize=8)
    panel.tick_params(labelsize=8)


def _floor(panel: Axes, results: Results, rows: list[tuple[str, str]], task: str) -> None:
    for transform in results.transforms:
        if low := results.floors.highest(task, PRIMARY[task], transform, results.source):
            places = [place for place, (name, _) in enumerate(rows) if name == transform]
            panel.plot(
                [100 * low.value] * 2, [places[0] - 0.5, places[-1] + 0.5], "-", color=INK, linewidth=1, zorder=1
            )


def _named(results: Results, transform: str, objective: str) -> str:
    title = results.objective_title(objective)
    return title if len(results.transforms) == 1 else f"{title}, {results.transform_title(transform)}"
