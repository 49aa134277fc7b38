"""Figure 2 of ALIGN-MLM: the loss in transfer (Delta), by objective."""

from __future__ import annotations

import math

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from analysis.papers.align_mlm.compared import compared_metrics
from analysis.papers.align_mlm.wording import DELTA, SUP, ZS
from analysis.papers.looks import bar_style, distinct, looks
from analysis.records.floor import Floor
from analysis.records.record import Published
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, MOST, key, legend, styled
from analysis.report.whiskers import DIFFERENCE, draw_intervals, ends
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.results.retained import retained
from analysis.tasks.catalog import metric_title, task_title

ABREAST = 3
"""Panels in a row at most."""
BAR = 0.11
"""Inches of a bar at least, or fewer panels stand in a row."""
BELOW = 0.05
"""Of the axis, below 0 at least: room for markers there."""
FILLED = 0.84
"""Of a group's width, that its bars take."""


def delta_figure(results: Results, scale: str) -> Plot | None:
    """Delta by objective, a panel for each transform, a group of bars for each task.

    None without any, or with more transforms or objectives than a figure can tell apart.
    """
    groups = [
        (task, metric)
        for task, metric in compared_metrics(results).items()
        if any(results.deltas(o, t, task, metric) for o in results.objectives for t in results.transforms)
    ]
    if not groups or len(results.transforms) > MOST or not distinct(results):
        return None
    panels, shown = results.transforms, []
    fitting = int(FULL / (BAR * len(groups) * len(results.objectives) / FILLED))
    columns = min(len(panels), ABREAST, fitting)
    rows = math.ceil(len(panels) / columns)
    with styled(FULL, 1.5 + 2.5 * rows, f"Loss in transfer by objective\n{scale}") as figure:
        axes = figure.subplots(rows, columns, sharey=True, squeeze=False)
        for panel, transform in zip(axes.flat, panels, strict=False):
            shown += _bars(panel, results, transform, groups)
            panel.set_title(results.transform_title(transform))
        for spare in axes.flat[len(panels) :]:
            spare.remove()
        for panel in axes[:, 0]:
            panel.set_ylabel("Δ = SUP − ZS, points")
        bottom, top = axes[0, 0].get_ylim()
        axes[0, 0].set_ylim(min(bottom, -BELOW * top), top)
        handles: list[Artist] = [
            Patch(label=results.objective_title(name), **bar_style(look)) for name, look in looks(results).items()
        ]
        if shown:
            handles.append(key("published, at the paper’s scale", INK, "D", "none"))
        floors = _floors(results, groups)
        if floors:
            handles.append(key("no transfer: Δ with ZS at the floor", INK, "", line=":"))
        legend(figure, handles, 3)
        several = len(results.seeds) > 1
        caption = f"{SUP} {ZS} {DELTA} Lines on the bars are 95 % intervals " + (
            "over seeds." if several else "over the test items of one seed, which say nothing of other seeds."
        )
        if shown:
            caption += " White markers are the paper’s own numbers, at a far larger scale."
        if floors:
            caption += (
                " A dotted line is SUP less the floor: as much is lost where ZS is what the strongest baseline of "
                "words has that learns from the source alone, and nothing is transferred."
            )
        records = [r for r in results.records if r.measure in ("SUP", "ZS") and (r.task, r.metric) in groups]
        title = "Figure 2: Δ by objective, transform and task"
        return Plot(figure, "figure-2-delta", title, caption, records, shown, floors=floors)


def _bars(panel: Axes, results: Results, transform: str, groups: list[tuple[str, str]]) -> list[Published]:
    """Bars with intervals, and what the paper prints of the same metric, which it returns."""
    n, shown = len(results.objectives), []
    width = FILLED / n
    for group, (task, metric) in enumerate(groups):
        for i, (objective, look) in enumerate(looks(results).items()):
            x = group + (i - (n - 1) / 2) * width
            if delta := mean(results.deltas(objective, transform, task, metric)):
                y = 100 * delta.mean
                panel.bar(x, y, 0.92 * width, **bar_style(look))
                draw_intervals(panel, [x - width / 6], ends([delta], DIFFERENCE), INK)
            if found := retained(results, objective, transform, task, metric):
                panel.plot([x - width / 2, x + width / 2], [100 * found.sup.mean] * 2, ":", color=INK, linewidth=1.2)
            if printed := results.printed(3, "DELTA", objective, transform, task, metric):
                y = 100 * printed.value
                panel.plot(x + width / 6, y, "D", color=INK, markerfacecolor="#ffffff", markersize=4, zorder=4)
                shown.append(printed)
    panel.axhline(0, color=INK, linewidth=0.8)
    labels = [f"{task_title(task)}\n{metric_title(metric)}".replace("on bare", "on\nbare") for task, metric in groups]
    panel.set_xticks(range(len(groups)), labels)
    panel.grid(visible=False, axis="x")
    return shown


def _floors(results: Results, groups: list[tuple[str, str]]) -> list[Floor]:
    """The floors that lines are drawn for, each once."""
    cells = [(objective, transform) for transform in results.transforms for objective in results.objectives]
    found = (retained(results, *cell, *group) for cell in cells for group in groups)
    return list(dict.fromkeys(one.floor for one in found if one))
