"""Figure 3 of ALIGN-MLM: alignment of word embeddings against transfer, with rho."""

from __future__ import annotations

from matplotlib.axes import Axes

from analysis.papers.align_mlm.wording import ALIGNED, DELTA
from analysis.records.record import ALIGNMENT
from analysis.records.results import (
    PRIMARY,
    PRINTED,
    Point,
    Results,
    metric_name,
    objective_name,
    task_name,
    transform_name,
)
from analysis.report.plot import Plot
from analysis.report.style import FILLS, INK, MOST, NARROWEST, WIDE, Fill, distinct, fills, key, looks, styled
from analysis.statistics.correlation import SIGN, Correlation, spearman, within


def correlation_figure(results: Results, scale: str, seed: int = 0) -> Plot | None:
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
        return Plot(figure, "figure-3-correlation", title, caption, records, details=details)


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
