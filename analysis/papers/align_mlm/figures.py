"""Figures 2 and 3 of ALIGN-MLM and the growth of alignment, each from records, with the records beside it."""

from __future__ import annotations

import math
from pathlib import Path

from matplotlib.axes import Axes

from analysis.records.record import ALIGNMENT, Published
from analysis.records.results import (
    PRIMARY,
    PRINTED,
    Point,
    Results,
    mean,
    metric_name,
    objective_name,
    task_name,
    transform_name,
)
from analysis.report.plot import FILLS, INK, Drawing, Fill, distinct, fills, key, looks, save, styled
from analysis.statistics.correlation import SIGN, Correlation, spearman, within

SUP = "SUP is the score of a model that was fine-tuned on the derived language itself."
ZS = "ZS (zero-shot) is the score on the derived language of a model that was fine-tuned on the source language only."
DELTA = "Δ = SUP − ZS is what is lost on the way: 0 is perfect transfer, and smaller is better."
ALIGNED = (
    "alignment@1 is the share of the source’s types (words and pieces of words) whose most similar type in the "
    "derived language is their own counterpart."
)
WIDE, NARROWEST = 4.2, 6.2  # inches a panel, inches a figure
ABREAST = 3
"""Panels of bars in a row."""
MOST = len(FILLS)
"""Transforms that a figure can tell apart, or give a panel each; tables have room for more."""


def delta_figure(results: Results, folder: Path, scale: str) -> Drawing | None:
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
        return save(figure, folder, "figure-2-delta", title, caption, records, shown)


def correlation_figure(results: Results, folder: Path, scale: str, seed: int = 0) -> Drawing | None:
    """Figure 3: alignment@1 against Delta with rho, a panel for each task; None without a cell that has both.

    More than `MOST` transforms all look the same.
    """
    cells = {task: results.points(task, metric) for task, metric in PRIMARY.items()}
    cells = {task: points for task, points in cells.items() if points}
    if not cells or not distinct(results.objectives):
        return None
    apart = len(results.transforms) <= MOST
    fill = fills(results.transforms) if apart else dict.fromkeys(results.transforms, FILLS[0])
    with styled(max(NARROWEST, WIDE * len(cells)), 4.9, f"Alignment and transfer, {scale}") as figure:
        axes = figure.subplots(1, len(cells), squeeze=False)[0]
        for panel, (task, points) in zip(axes, cells.items(), strict=True):
            _scatter(panel, points, results, fill)
            panel.set_title(f"{task_name(task)}, {metric_name(PRIMARY[task])}\n{in_words(_rho(points, seed))}")
        axes[0].set_ylabel("Δ = SUP − ZS, points")
        handles = [key(objective_name(name), *look) for name, look in looks(results.objectives).items()]
        handles += [key(transform_name(t), INK, "o", filled) for t, filled in fill.items() if apart]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)))
        caption = f"Each point is one objective on one derived language, a mean over seeds. {ALIGNED} {DELTA}"
        details = [f"ρ is Spearman’s rank correlation {SIGN}. Brackets hold its 95 % bootstrap interval over points."]
        details += [
            f"{task_name(task)} within each transform: {_within(points, seed)}."
            for task, points in cells.items()
            if apart
        ]
        details += _published_rho(results)
        records = results.select(("SUP", "ZS", ALIGNMENT), PRIMARY | {"": "all"})
        title = f"Figure 3: alignment and transfer, {scale}"
        return save(figure, folder, "figure-3-correlation", title, caption, records, details=details)


def growth_figure(results: Results, folder: Path, scale: str) -> Drawing | None:
    """alignment@1 over the steps of pretraining, a line for each objective.

    None without two steps to join, or with more transforms or objectives than a figure can tell apart.
    """
    metrics = ("all", "held-out")
    panels = [
        t
        for t in results.transforms
        if any(len(results.growth(o, t, metric)) > 1 for o in results.objectives for metric in metrics)
    ]
    if not 0 < len(panels) <= MOST or not distinct(results.objectives):
        return None
    with styled(max(NARROWEST, WIDE * len(panels)), 6.8, f"How alignment grows, {scale}") as figure:
        axes = figure.subplots(len(metrics), len(panels), sharex=True, sharey="row", squeeze=False)
        for row, metric in zip(axes, metrics, strict=True):
            for panel, transform in zip(row, panels, strict=True):
                _lines(panel, results, transform, metric)
                panel.set_title(f"{transform_name(transform)}, {metric} types")
            row[0].set_ylabel("alignment@1, %")
            row[0].set_ylim(bottom=0)
            row[0].set_xlim(left=0)
        for panel in axes[-1]:
            panel.set_xlabel("step of pretraining")
        handles = [key(objective_name(name), *look, line="-") for name, look in looks(results.objectives).items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)))
        caption = (
            f"{ALIGNED} Held-out types are those that are not in the dictionary which DICT-MLM and ALIGN-MLM are "
            "given: only they show what a model found by itself."
        ) + (" Bands are 95 % intervals over seeds." if len(results.seeds) > 1 else " One seed, so no bands.")
        records = [r for r in results.records if r.measure == ALIGNMENT and r.metric in metrics]
        title = f"Alignment over the steps of pretraining, {scale}"
        return save(figure, folder, "figure-growth", title, caption, records)


def in_words(found: Correlation | None) -> str:
    """rho with its interval and p."""
    if found is None:
        return "ρ is not defined"
    between = "" if found.low is None or found.high is None else f" [{found.low:.2f}, {found.high:.2f}]"
    p = f"p = {found.p:.4f}" if found.p >= 1e-4 else "p < 0.0001"
    return f"ρ = {found.rho:.3f}{between}, {p}".replace("-", "−")


def _rho(points: list[Point], seed: int) -> Correlation | None:
    return spearman([p.alignment.mean for p in points], [p.delta.mean for p in points], seed)


def _published_rho(results: Results) -> list[str]:
    """What the paper's own cells give, where its tables are at hand."""
    found = []
    for task, metric in PRINTED.items():
        pairs = [
            (aligned.value, delta.value)
            for aligned in results.published
            if (aligned.table, aligned.measure) == (8, ALIGNMENT)
            if (delta := results.printed(3, "DELTA", aligned.objective, aligned.transform, task, metric))
        ]
        if rho := spearman([a for a, _ in pairs], [d for _, d in pairs]):
            found.append(f"{task_name(task)} ({metric_name(metric)}), published, {rho.n} cells: {in_words(rho)}.")
    return found


def _within(points: list[Point], seed: int) -> str:
    groups: dict[str, tuple[list[float], list[float]]] = {}
    for p in points:
        alignment, delta = groups.setdefault(p.transform, ([], []))
        alignment.append(p.alignment.mean)
        delta.append(p.delta.mean)
    return ", ".join(f"{transform_name(name)} {in_words(rho)}" for name, rho in within(groups, seed).items())


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


def _scatter(panel: Axes, points: list[Point], results: Results, fill: dict[str, Fill]) -> None:
    look = looks(results.objectives)
    for p in points:
        colour, marker = look[p.objective]
        x, y = 100 * p.alignment.mean, 100 * p.delta.mean
        across, along = (None if e.half is None else 100 * e.half for e in (p.alignment, p.delta))
        panel.errorbar(x, y, along, across, color=colour, ecolor=f"{colour}80", elinewidth=1)
        hollow = fill[p.transform] == "none"  # filled with white, so that the error bars do not cross it
        style, face = ("full", "white") if hollow else (fill[p.transform], colour)
        panel.plot(
            x, y, marker, color=colour, fillstyle=style, markerfacecolor=face, markerfacecoloralt="white", markersize=9
        )
    panel.axhline(0, color=INK, linewidth=0.8)
    panel.set_xlabel("alignment@1 of all types, %")
    panel.set_xlim(-5, 105)


def _lines(panel: Axes, results: Results, transform: str, metric: str) -> None:
    for objective, (colour, marker) in looks(results.objectives).items():
        steps = {step: mean(shares) for step, shares in results.growth(objective, transform, metric).items()}
        known = {step: found for step, found in steps.items() if found}
        panel.plot(
            list(known), [100 * found.mean for found in known.values()], color=colour, marker=marker, markersize=5
        )
        banded = {
            step: (found.low, found.high)
            for step, found in known.items()
            if found.seeds > 1 and found.low is not None and found.high is not None
        }
        low = [100 * max(0.0, low) for low, _ in banded.values()]
        high = [100 * min(1.0, high) for _, high in banded.values()]
        panel.fill_between(list(banded), low, high, color=colour, alpha=0.15, linewidth=0)
