"""Figure 2 of ALIGN-MLM, scores above their floors, and alignment over the steps of pretraining."""

from __future__ import annotations

from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from analysis.papers.columns import score_title
from analysis.papers.looks import bar_keys, bar_style, distinct, looks, objective_keys
from analysis.papers.texts import heading, plot
from analysis.records.record import ALIGNMENT, DELTA, Floor, Published
from analysis.report.drawing import (
    DIFFERENCE,
    draw_intervals,
    draw_points,
    ends,
    grid,
    key,
    legend,
    spread,
    steps_axis,
    styled,
)
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, MOST, SOFT, Fill
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.results.retained import retained
from analysis.tasks.catalog import PRIMARY, PRINTED, metric_title, task_title

ABREAST = 3  # panels in a row at most
BAR = 0.11  # inches of a bar at least, or fewer panels stand in a row
BELOW = 0.05  # of the axis, below 0 at least: room for markers there
FILLED = 0.84  # of a group's width, that its bars or scores take
SCORES: tuple[tuple[str, Fill], ...] = (("SUP", "none"), ("ZS", "full"))
"""The measures that are shown above floors, and how their markers are filled."""
SAME, LINE = 1.0, 0.065
"""Points between lines of one name that have one label, and the part of a panel's height that a label takes."""
FAINT = "#6a6a6a"
"""Of labels of lines in the background: dark enough to be read."""
ARROW: dict[str, Any] = {"arrowstyle": "-", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5)}
METRICS = ("all", "held-out")
BARS, MARKERS = 3, 8  # intervals and markers on a line, about: more would hide the lines


def compared_metrics(results: Results) -> dict[str, str]:
    """The metric of each task that was measured: the paper's, where its numbers are at hand, else our primary one."""
    printed = {(p.task, p.metric) for p in results.published if (p.table, p.measure) == (3, DELTA)}
    return {t: PRINTED[t] if (t, PRINTED[t]) in printed else PRIMARY[t] for t in results.main_tasks}


def delta_figure(results: Results, scale: str) -> Plot | None:
    """Delta by objective, a panel for each transform, a group of bars for each task.

    None without any, or with more transforms or objectives than a figure can tell apart.
    """
    cells = [(o, t) for t in results.transforms for o in results.objectives]
    metrics = compared_metrics(results).items()
    groups = [group for group in metrics if any(results.deltas(*cell, *group) for cell in cells)]
    if not groups or len(results.transforms) > MOST or not distinct(results):
        return None
    transforms, shown = results.transforms, list[Published]()
    fitting = int(FULL / (BAR * len(groups) * len(results.objectives) / FILLED))
    columns = min(len(transforms), ABREAST, fitting)
    height = 1.5 + 2.5 * -(-len(transforms) // columns)
    with styled(FULL, height, heading("figure-2-delta", scale)) as figure:
        axes = grid(figure, len(transforms), columns, sharey=True)
        for panel, transform in zip(axes.flat, transforms, strict=False):
            shown += _bars(panel, results, transform, groups)
            panel.set_title(results.transform_title(transform))
        for panel in axes[:, 0]:
            panel.set_ylabel("Δ = SUP − ZS, points")
        bottom, top = axes[0, 0].get_ylim()
        axes[0, 0].set_ylim(min(bottom, -BELOW * top), top)
        handles: list[Artist] = bar_keys(results)
        handles += [key("published, at the paper’s scale", INK, "D", "none")] if shown else []
        kept = (retained(results, *cell, *group) for cell in cells for group in groups)
        floors = list(dict.fromkeys(one.floor for one in kept if one))
        handles += [key("no transfer: Δ with ZS at the floor", INK, "", line=":")] if floors else []
        legend(figure, handles, 3)
    records = results.select(("SUP", "ZS"), dict(groups))
    return plot("figure-2-delta", figure, results, records, shown, floors)


def _bars(panel: Axes, results: Results, transform: str, groups: list[tuple[str, str]]) -> list[Published]:
    """Bars with intervals, and what the paper prints of the same metric, which it returns."""
    n, shown = len(results.objectives), []
    width = FILLED / n
    for group, (task, metric) in enumerate(groups):
        for i, (objective, look) in enumerate(looks(results).items()):
            x = group + (i - (n - 1) / 2) * width
            if delta := mean(results.deltas(objective, transform, task, metric)):
                panel.bar(x, 100 * delta.mean, 0.92 * width, **bar_style(look))
                draw_intervals(panel, [x - width / 6], ends([delta], DIFFERENCE), INK)
            if kept := retained(results, objective, transform, task, metric):
                panel.plot([x - width / 2, x + width / 2], [100 * kept.sup.mean] * 2, ":", color=INK, linewidth=1.2)
            if printed := results.printed(3, DELTA, objective, transform, task, metric):
                style: dict[str, Any] = {"color": INK, "markerfacecolor": "#ffffff", "markersize": 4, "zorder": 4}
                panel.plot(x + width / 6, 100 * printed.value, "D", **style)
                shown.append(printed)
    panel.axhline(0, color=INK, linewidth=0.8)
    labels = [f"{task_title(task)}\n{metric_title(metric)}".replace("on bare", "on\nbare") for task, metric in groups]
    panel.set_xticks(range(len(groups)), labels)
    panel.grid(visible=False, axis="x")
    return shown


def floor_figure(results: Results, scale: str) -> Plot | None:
    """A panel a task, a group a transform: every objective's SUP and ZS, and a line for each baseline.

    None without floors, or with more transforms or objectives than a figure can tell apart.
    """
    tasks = [task for task in results.main_tasks if results.floors.baselines([task])]
    transforms = results.transforms
    if not tasks or len(transforms) > MOST or not distinct(results):
        return None
    with styled(FULL, 1.7 + 2.4 * len(tasks), heading("figure-floors", scale)) as figure:
        axes = figure.subplots(len(tasks), 1, squeeze=False)[:, 0]
        for panel, task in zip(axes, tasks, strict=True):
            for group, transform in enumerate(transforms):
                _scores(panel, results, group, transform, task)
                _floor_lines(panel, results, group, transform, task)
            panel.set_ylim(-3, 103)
            panel.set_xlim(-0.5, len(transforms) - 0.5)
            _labels(panel, results, transforms[-1], task)
            panel.set_xticks(range(len(transforms)), [results.transform_title(name) for name in transforms])
            panel.set_ylabel(f"{score_title(task)}, %")
            panel.grid(visible=False, axis="x")
        handles = [
            *objective_keys(results),
            key("ZS", INK, "o"),
            key("SUP", INK, "o", "none"),
            key("baseline learnt in the source", INK, "", line="-"),
            key("baseline learnt in the derived language", SOFT, "", line="--"),
        ]
        legend(figure, handles, 3)
    shown = {task: PRIMARY[task] for task in tasks}
    floors = [floor for floor in results.floors.all if shown.get(floor.task) == floor.metric]
    records = results.select(("SUP", "ZS"), shown)
    return plot("figure-floors", figure, results, records, floors=floors)


def _scores(panel: Axes, results: Results, group: int, transform: str, task: str) -> None:
    """A marker for each objective's SUP and ZS, one above the other, with their intervals."""
    n = len(results.objectives)
    for place, (objective, (colour, marker, _)) in enumerate(looks(results).items()):
        x = group + (place - (n - 1) / 2) * FILLED / n
        size = 9 if marker == "*" else 6  # a small open star looks like a full one
        for measure, fill in SCORES:
            if score := mean(results.scores(measure, objective, transform, task, PRIMARY[task])):
                style: dict[str, Any] = {
                    "marker": marker,
                    "linestyle": "none",
                    "fillstyle": fill,
                    "markersize": size,
                    "zorder": 3,
                }
                draw_points(panel, [x], [score], colour, **style)


def _floor_lines(panel: Axes, results: Results, group: int, transform: str, task: str) -> None:
    sides = [group - FILLED / 2 - 0.04, group + FILLED / 2 + 0.04]
    for floor in _floors(results, transform, task, transform):
        panel.plot(sides, [100 * floor.value] * 2, "--", color=SOFT, linewidth=1, zorder=1)
    for floor in _floors(results, transform, task, results.source):
        panel.plot(sides, [100 * floor.value] * 2, "-", color=INK, linewidth=0.9, zorder=1)


def _labels(panel: Axes, results: Results, transform: str, task: str) -> None:
    """Names of the lines right of the last group: higher lines have higher names, and no two names meet."""
    lines: list[tuple[float, str, str]] = []
    for learnt, colour in ((results.source, INK), (transform, FAINT)):
        for floor in _floors(results, transform, task, learnt):
            value = 100 * floor.value
            if not any(title == floor.title and abs(height - value) < SAME for height, title, _ in lines):
                lines.append((value, floor.title, colour))
    low, high = panel.get_ylim()
    heights = [(value - low) / (high - low) for value, _, _ in lines]
    for (_, title, colour), height, place in zip(lines, heights, spread(heights, LINE), strict=True):
        where: dict[str, Any] = {
            "xytext": (1.03, place),
            "xycoords": "axes fraction",
            "arrowprops": ARROW | {"color": colour},
        }
        panel.annotate(title, (1, height), **where, color=colour, fontsize=8, va="center")


def _floors(results: Results, transform: str, task: str, learnt: str) -> list[Floor]:
    return list(results.floors.of(task, PRIMARY[task], transform, learnt).values())


def growth_figure(results: Results, scale: str) -> Plot | None:
    """alignment@1 by step, a row for each transform, all types beside held-out ones.

    None without two steps, or with more transforms or objectives than a figure can tell apart.
    """
    metrics = [metric for metric in METRICS if results.has(ALIGNMENT, metric)]
    records = [r for r in results.records if r.measure == ALIGNMENT and r.metric in metrics]
    rows = results.transforms
    if len({r.step for r in records}) < 2 or len(rows) > MOST or not distinct(results):
        return None
    with styled(FULL, 1.5 + 2.1 * len(rows), heading("figure-growth", scale)) as figure:
        axes = figure.subplots(len(rows), len(metrics), sharex=True, sharey="row", squeeze=False)
        for row, transform in zip(axes, rows, strict=True):
            for panel, metric in zip(row, metrics, strict=True):
                _lines(panel, results, transform, metric)
                panel.set_title(f"{results.transform_title(transform)}, {metric} types")
            row[0].set_ylabel("alignment@1, %")
            row[0].set_ylim(bottom=0)
        steps_axis(axes[0, 0])
        for panel in axes[-1]:
            panel.set_xlabel("step of pretraining")
        legend(figure, objective_keys(results, lines=True), 4)
    return plot("figure-growth", figure, results, records)


def _lines(panel: Axes, results: Results, transform: str, metric: str) -> None:
    """A line for each objective, with intervals over seeds at steps where no other line has its own."""
    look = looks(results)
    for place, (objective, (colour, marker, dash)) in enumerate(look.items()):
        means = [(step, mean(its)) for step, its in results.growth(objective, transform, metric).items()]
        points = [(step, estimate) for step, estimate in means if estimate]
        steps, values = [step for step, _ in points], [100 * estimate.mean for _, estimate in points]
        spacing = 1 + len(points) // MARKERS
        panel.plot(steps, values, dash, color=colour, marker=marker, markersize=5, markevery=spacing)
        stride = max(1, len(points) // BARS)
        first = place * stride // len(look)  # each objective's bars begin at a step of their own
        barred = [(step, estimate) for step, estimate in points[first::stride] if estimate.seeds > 1]
        draw_intervals(panel, [step for step, _ in barred], ends([estimate for _, estimate in barred]), colour)
