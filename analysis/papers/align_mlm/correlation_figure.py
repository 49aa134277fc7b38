"""Figure 3 of ALIGN-MLM: alignment of word embeddings against transfer, with rho."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from analysis.papers.align_mlm.compared import compared_metrics
from analysis.papers.align_mlm.wording import ALIGNED
from analysis.papers.looks import BY_NAME, GIVEN, Look, distinct, looks
from analysis.records.record import ALIGNMENT, Published
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, MOST, SOFT, Fill, fills, key, legend, styled
from analysis.report.whiskers import DIFFERENCE, draw_intervals, ends
from analysis.results.results import Point, Results
from analysis.statistics.correlation import FEWEST, SIGN, Correlation, spearman, within
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

GAIN = "−Δ = ZS − SUP is transfer: 0 is perfect, and the lower a point, the more is lost."
COLUMNS = 3
"""Panels side by side: more would have no room for what stands above and below them."""
NUMBERED = {"D": 9.5, "^": 13, "v": 13, "*": 15}
"""Sizes of markers that are not as wide as others of a size, where a number stands in them."""
FURTHER = 3.4
"""Inches of height that another line of panels takes."""
Cell = tuple[Published, Published]
"""A published alignment and the published Delta that belongs to it."""


def correlation_figure(results: Results, scale: str, seed: int = 0) -> Plot | None:
    """alignment@1 against -Delta with rho, a panel for each task; None without a cell that has both.

    Points rise where rho is positive. More than `MOST` transforms are told apart by a number in each point.
    """
    metrics = compared_metrics(results)
    cells = {task: results.points(task, metric) for task, metric in metrics.items()}
    cells = {task: points for task, points in cells.items() if points}
    if not cells or not distinct(results):
        return None
    look, numbered = looks(results), len(results.transforms) > MOST
    fill = {} if numbered else fills(results.transforms)
    published: list[Published] = []
    columns = min(len(cells), COLUMNS)
    lines = -(-len(cells) // columns)
    height = 5.0 + 0.12 * len(results.transforms) + FURTHER * (lines - 1)
    with styled(FULL, height, f"Alignment and transfer\n{scale}") as figure:
        panels = figure.subplots(lines, columns, squeeze=False)
        axes = panels.flat[: len(cells)]
        for panel in panels.flat[len(cells) :]:
            panel.remove()
        for panel in panels[:, 0]:
            panel.set_ylabel("−Δ = ZS − SUP, points")
        for panel, (task, points) in zip(axes, cells.items(), strict=True):
            printed = _printed(results, task, metrics[task])
            _theirs(panel, printed)
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
            published += [number for cell in printed for number in cell]
        handles = [key(results.objective_title(name), one.colour, one.marker) for name, one in look.items()]
        handles += [key(results.transform_title(transform), INK, "o", filled) for transform, filled in fill.items()]
        if numbered:
            names = enumerate(map(results.transform_title, results.transforms), start=1)
            handles += [key(name, INK, f"${number}$") for number, name in names]
        if published:
            handles.append(key("published, shapes as above", SOFT, "o", small=True))
        legend(figure, handles, 3)
        caption = f"Each point is one objective on one derived language, a mean over seeds. {ALIGNED} {GAIN}"
        if published:
            caption += " Small grey markers are the paper’s own cells, with the shapes of their objectives."
        details = [
            f"ρ is Spearman’s rank correlation {SIGN}. Brackets hold its 95 % bootstrap interval over points, where "
            f"there are {FEWEST} at least. p is the fraction of pairings as far from their mean as ours, where only "
            "points of one transform change partners."
        ]
        details += _other_metrics(results, metrics, seed)
        if not numbered:
            details += [
                f"{task_title(task)} within each transform: {_within(results, points, seed)}."
                for task, points in cells.items()
            ]
        details += [
            f"{task_title(task)} ({metric_title(metrics[task])}), published, {rho.n} cells: {in_words(rho)}."
            for task in cells
            if (printed := _printed(results, task, metrics[task])) and (rho := _theirs_rho(printed))
        ]
        records = results.select(("SUP", "ZS", ALIGNMENT), metrics | {"": "all"})
        title = "Figure 3: alignment and transfer"
        shown = list(dict.fromkeys(published))
        return Plot(figure, "figure-3-correlation", title, caption, records, shown, details=details)


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


def _theirs_rho(cells: list[Cell]) -> Correlation | None:
    alignments, deltas = [a.value for a, _ in cells], [d.value for _, d in cells]
    return spearman(alignments, deltas, groups=[a.transform for a, _ in cells])


def _printed(results: Results, task: str, metric: str) -> list[Cell]:
    """What the paper's own tables have of both."""
    aligned = (p for p in results.published if (p.table, p.measure) == (8, ALIGNMENT))
    pairs = ((p, results.printed(3, "DELTA", p.objective, p.transform, task, metric)) for p in aligned)
    return [(alignment, delta) for alignment, delta in pairs if delta]


def _other_metrics(results: Results, metrics: Mapping[str, str], seed: int) -> list[str]:
    """rho by our primary metric, where the panel shows the paper's."""
    return [
        f"{task_title(task)} by {metric_title(PRIMARY[task])}: {in_words(_rho(points, seed))}."
        for task, metric in metrics.items()
        if metric != PRIMARY[task] and (points := results.points(task, PRIMARY[task]))
    ]


def _within(results: Results, points: list[Point], seed: int) -> str:
    groups: dict[str, tuple[list[float], list[float]]] = {}
    for p in points:
        alignment, delta = groups.setdefault(p.transform, ([], []))
        alignment.append(p.alignment.mean)
        delta.append(p.delta.mean)
    return ", ".join(f"{results.transform_title(name)} {in_words(rho)}" for name, rho in within(groups, seed).items())


def _place(point: Point) -> tuple[float, float]:
    """Of a point in a panel: alignment across, -Delta up, in percent."""
    return 100 * point.alignment.mean, -100 * point.delta.mean


def _theirs(panel: Axes, cells: list[Cell]) -> None:
    """The paper's own points, behind ours."""
    for alignment, delta in cells:
        marker = BY_NAME.get(alignment.objective, GIVEN).marker
        panel.plot(100 * alignment.value, -100 * delta.value, marker, color=SOFT, markersize=4, zorder=1.5)


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
    look_of_text: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": 7.5, "zorder": layer + 0.5}
    panel.annotate(str(number), (x, y), color="#ffffff", **look_of_text)
