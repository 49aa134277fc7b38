"""Figure 2 of ALIGN-MLM: what is lost in transfer, by objective."""

from __future__ import annotations

import math

from matplotlib.axes import Axes

from analysis.papers.align_mlm.wording import DELTA, SUP, ZS
from analysis.records.record import Published
from analysis.records.results import (
    PRIMARY,
    PRINTED,
    Results,
    mean,
    metric_name,
    objective_name,
    task_name,
    transform_name,
)
from analysis.report.plot import Plot
from analysis.report.style import INK, MOST, NARROWEST, distinct, key, looks, styled

ABREAST = 3
"""Panels of bars in a row."""


def delta_figure(results: Results, scale: str) -> Plot | None:
    """Figure 2: Delta by objective, a panel for each transform, bars for each task and metric.

    None without any, or with more transforms or objectives than a figure can tell apart.
    """
    groups = [
        (task, metric)
        for task in PRIMARY
        for metric in dict.fromkeys((PRIMARY[task], PRINTED[task]))
        if any(results.deltas(o, t, task, metric) for o in results.objectives for t in results.transforms)
    ]
    if not groups or len(results.transforms) > MOST or not distinct(results.objectives):
        return None
    panels, shown = results.transforms, []
    columns, rows = min(len(panels), ABREAST), math.ceil(len(panels) / ABREAST)
    wide = max(NARROWEST, 1.45 * len(groups) * columns)
    with styled(wide, 1.2 + 3.3 * rows, f"Loss in transfer by objective, {scale}") as figure:
        axes = figure.subplots(rows, columns, sharey=True, squeeze=False)
        for panel, transform in zip(axes.flat, panels, strict=False):
            shown += _bars(panel, results, transform, groups)
            panel.set_title(transform_name(transform))
        for spare in axes.flat[len(panels) :]:
            spare.remove()
        for panel in axes[:, 0]:
            panel.set_ylabel("Δ = SUP − ZS, points")
        handles = [key(objective_name(name), *look) for name, look in looks(results.objectives).items()]
        if shown:
            handles.append(key("published, at the paper’s scale", INK, "o", "none"))
        figure.legend(handles=handles, loc="outside lower center", ncols=min(3, len(handles)))
        several = len(results.seeds) > 1
        caption = f"{SUP} {ZS} {DELTA} Lines on the bars are 95 % intervals " + (
            "over seeds." if several else "over the test items of one seed, which say nothing of other seeds."
        )
        if shown:
            caption += " White markers are the paper’s own numbers, at a far larger scale."
        records = [r for r in results.records if r.measure in ("SUP", "ZS") and (r.task, r.metric) in groups]
        title = f"Figure 2: Δ by objective, transform and task, {scale}"
        return Plot(figure, "figure-2-delta", title, caption, records, shown)


def _bars(panel: Axes, results: Results, transform: str, groups: list[tuple[str, str]]) -> list[Published]:
    """Bars with intervals, and what the paper prints of the same metric, which it returns."""
    n, shown = len(results.objectives), []
    width = 0.84 / n
    for group, (task, metric) in enumerate(groups):
        for i, (objective, (colour, marker)) in enumerate(looks(results.objectives).items()):
            x = group + (i - (n - 1) / 2) * width
            if delta := mean(results.deltas(objective, transform, task, metric)):
                y, half = 100 * delta.mean, None if delta.half is None else 100 * delta.half
                panel.bar(x, y, 0.92 * width, color=colour)
                panel.errorbar(x - width / 5, y, half, color=INK, marker=marker, markersize=4, capsize=2, elinewidth=1)
            printed = results.printed(3, "DELTA", objective, transform, task, metric)
            if printed:
                y = 100 * printed.value
                panel.plot(x + width / 4, y, marker, color=INK, markerfacecolor="white", markersize=6, zorder=4)
                shown.append(printed)
    panel.axhline(0, color=INK, linewidth=0.8)
    labels = [f"{task_name(task)}\n{metric_name(metric)}".replace("on bare", "on\nbare") for task, metric in groups]
    panel.set_xticks(range(len(groups)), labels)
    panel.grid(visible=False, axis="x")
    return shown
