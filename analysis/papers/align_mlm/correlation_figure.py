"""Figure 3 of ALIGN-MLM: alignment of word embeddings against transfer, with rho."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from analysis.papers.align_mlm.figures import compared_metrics
from analysis.papers.looks import BY_NAME, GIVEN, Look, distinct, looks, objective_keys
from analysis.papers.texts import heading, plot
from analysis.records.record import ALIGNMENT, DELTA, Published
from analysis.report.drawing import DIFFERENCE, draw_intervals, ends, grid, key, legend, styled
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, MOST, SOFT, Fill, fills
from analysis.results.results import Point, Results
from analysis.statistics.correlation import FEWEST, SIGN, Correlation, spearman
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

COLUMNS = 3  # panels side by side: more would have no room for the text above and below them
NUMBERED = {"D": 9.5, "^": 13, "v": 13, "*": 15}
"""Sizes of markers with a number in them that are not as wide as others of a size."""
FURTHER = 3.4  # inches of height that another line of panels takes
Cell = tuple[Published, Published]
"""A published alignment and the published Delta that belongs to it."""


def correlation_figure(results: Results, scale: str, seed: int = 0) -> Plot | None:
    """alignment@1 against -Delta with rho, a panel for each task; None without a cell that has both.

    Points rise where rho is positive. More than `MOST` transforms are told apart by a number in each point.
    """
    metrics = compared_metrics(results)
    cells = {task: points for task, metric in metrics.items() if (points := results.points(task, metric))}
    if not cells or not distinct(results):
        return None
    look, numbered = looks(results), len(results.transforms) > MOST
    fill = {} if numbered else fills(results.transforms)
    printed = {task: _printed(results, task, metrics[task]) for task in cells}
    columns = min(len(cells), COLUMNS)
    height = 5.0 + 0.12 * len(results.transforms) + FURTHER * (-(-len(cells) // columns) - 1)
    with styled(FULL, height, heading("figure-3-correlation", scale)) as figure:
        axes = grid(figure, len(cells), columns)
        for panel in axes[:, 0]:
            panel.set_ylabel("−Δ = ZS − SUP, points")
        for panel, (task, points) in zip(axes.flat, cells.items(), strict=False):
            for aligned, delta in printed[task]:
                marker = BY_NAME.get(aligned.objective, GIVEN).marker
                panel.plot(100 * aligned.value, -100 * delta.value, marker, color=SOFT, markersize=4, zorder=1.5)
            for place, point in enumerate(points):
                one = look[point.objective]
                _interval(panel, point, one.colour)
                if numbered:
                    _number(panel, point, one, 1 + results.transforms.index(point.transform), 3 + place)
                else:
                    _marker(panel, point, one, fill[point.transform])
            panel.axhline(0, color=INK, linewidth=0.8)
            panel.set_xlabel("alignment@1 of all types, %")
            panel.set_xlim(-5, 105)
            below = in_words(_rho(points, seed)).replace(", p", "\np")
            panel.set_title(f"{task_title(task)}, {metric_title(metrics[task])}\n{below}", fontsize=9.5)
        handles = objective_keys(results)
        handles += [key(results.transform_title(transform), INK, "o", style) for transform, style in fill.items()]
        if numbered:
            names = enumerate(map(results.transform_title, results.transforms), start=1)
            handles += [key(name, INK, f"${number}$") for number, name in names]
        shown = list(dict.fromkeys(number for pairs in printed.values() for pair in pairs for number in pair))
        handles += [key("published, shapes as above", SOFT, "o", small=True)] if shown else []
        legend(figure, handles, 3)
    details = [
        f"ρ is Spearman’s rank correlation {SIGN}. Brackets hold its 95 % bootstrap interval over points, where "
        f"there are {FEWEST} at least. p is the fraction of pairings as far from their mean as ours, where only "
        "points of one transform change partners."
    ]
    details += _other_metrics(results, metrics, seed)
    for task, points in () if numbered else cells.items():
        details.append(f"{task_title(task)} within each transform: {_within(results, points, seed)}.")
    for task, pairs in printed.items():
        groups = [alignment.transform for alignment, _ in pairs]
        if rho := spearman([a.value for a, _ in pairs], [d.value for _, d in pairs], groups=groups):
            title = f"{task_title(task)} ({metric_title(metrics[task])})"
            details.append(f"{title}, published, {rho.n} cells: {in_words(rho)}.")
    records = results.select(("SUP", "ZS", ALIGNMENT), metrics | {"": "all"})
    return plot("figure-3-correlation", figure, results, records, shown, details=details)


def in_words(rho: Correlation | None) -> str:
    """rho with its interval and p."""
    if rho is None:
        return "ρ is not defined"
    between = "" if rho.low is None or rho.high is None else f" [{rho.low:.2f}, {rho.high:.2f}]"
    p = f"p = {rho.p:.3f}" if rho.p >= 1e-3 else "p < 0.001"
    return f"ρ = {rho.rho:.2f}{between}, {p}".replace("-", "−")


def _rho(points: list[Point], seed: int) -> Correlation | None:
    groups = [p.transform for p in points]
    return spearman([p.alignment.mean for p in points], [p.delta.mean for p in points], seed, groups=groups)


def _printed(results: Results, task: str, metric: str) -> list[Cell]:
    """The paper's cells that have both."""
    aligned = (p for p in results.published if (p.table, p.measure) == (8, ALIGNMENT))
    pairs = ((p, results.printed(3, DELTA, p.objective, p.transform, task, metric)) for p in aligned)
    return [(alignment, delta) for alignment, delta in pairs if delta]


def _other_metrics(results: Results, metrics: Mapping[str, str], seed: int) -> list[str]:
    """rho by our primary metric, where the panel shows the paper's."""
    return [
        f"{task_title(task)} by {metric_title(PRIMARY[task])}: {in_words(_rho(points, seed))}."
        for task, metric in metrics.items()
        if metric != PRIMARY[task] and (points := results.points(task, PRIMARY[task]))
    ]


def _within(results: Results, points: list[Point], seed: int) -> str:
    """rho within each transform."""
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(point.transform, []).append(point)
    rhos = {
        name: spearman([p.alignment.mean for p in its], [p.delta.mean for p in its], seed)
        for name, its in groups.items()
    }
    return ", ".join(f"{results.transform_title(name)} {in_words(rho)}" for name, rho in rhos.items())


def _place(point: Point) -> tuple[float, float]:
    """Of a point in a panel: alignment across, -Delta up, in percent."""
    return 100 * point.alignment.mean, -100 * point.delta.mean


def _interval(panel: Axes, point: Point, colour: str) -> None:
    """The intervals of both, cut where shares and differences end."""
    x, y = _place(point)
    along = [both and (-both[1], -both[0]) for both in ends([point.delta], DIFFERENCE)]
    draw_intervals(panel, [x], along, colour)
    draw_intervals(panel, [y], ends([point.alignment]), colour, across=True)


def _marker(panel: Axes, point: Point, look: Look, fill: Fill) -> None:
    style: Fill = "full" if fill == "none" else fill  # hollow is filled with white, so that error bars do not cross it
    face: dict[str, Any] = {"markerfacecolor": "#ffffff" if fill == "none" else look.colour, "fillstyle": style}
    panel.plot(*_place(point), look.marker, color=look.colour, markerfacecoloralt="#ffffff", markersize=8, **face)


def _number(panel: Axes, point: Point, look: Look, number: int, layer: int) -> None:
    """A point with its number in it, both on the same `layer`, so that no number stands on another point."""
    x, y = _place(point)
    panel.plot(x, y, look.marker, color=look.colour, markersize=NUMBERED.get(look.marker, 11), zorder=layer)
    text: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": 7.5, "zorder": layer + 0.5}
    panel.annotate(str(number), (x, y), color="#ffffff", **text)
