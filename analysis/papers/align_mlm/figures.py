"""Figures 2 and 3 of ALIGN-MLM, and scores above their floors.

Each is None if records cannot fill it, or if there are too many objectives or transforms to distinguish.
"""

from typing import Any

from matplotlib.axes import Axes

from calque.analysis.papers.columns import score_title
from calque.analysis.papers.looks import BY_NAME, GIVEN, Look, bar_keys, keys, looks
from calque.analysis.papers.texts import heading, plot
from calque.analysis.records.record import ALIGNMENT, DELTA, Floor, Published
from calque.analysis.report import drawing
from calque.analysis.report.drawing import DIFFERENCE, FILLED, FILLS, FULL, INK, MOST, SOFT, Fill
from calque.analysis.report.plot import Plot
from calque.analysis.results.measured import mean
from calque.analysis.results.results import Point, Results
from calque.analysis.results.retained import retained
from calque.analysis.statistics.correlation import FEWEST, SIGN, Correlation, spearman
from calque.analysis.tasks.catalog import PRIMARY, PRINTED, metric_title, task_title

ABREAST = 3  # most panels in a row
BAR = 0.11  # least width of a bar in inches; otherwise a row has fewer panels
BELOW = 0.05  # least part of the axis below 0, as room for markers
SAME, LINE = 1.0, 0.065
"""Lines of one name this close in points share a label; a label takes this part of a panel's height."""
FAINT = "#6a6a6a"  # labels of background lines: dark enough to read


def compared_metrics(results: Results) -> dict[str, str]:
    """The metric of each measured task: the paper's if its numbers are available, else the primary one."""
    printed = {(p.task, p.metric) for p in results.published if (p.table, p.measure) == (3, DELTA)}
    return {t: PRINTED[t] if (t, PRINTED[t]) in printed else PRIMARY[t] for t in results.main_tasks}


def delta_figure(results: Results, scale: str) -> Plot | None:
    """Delta by objective, one panel per transform, one group of bars per task."""
    look, transforms = looks(results), results.transforms
    cells = [(o, t) for t in transforms for o in results.objectives]
    metrics = compared_metrics(results).items()
    groups = [group for group in metrics if any(results.deltas(*cell, *group) for cell in cells)]
    if not groups or len(transforms) > MOST or not look:
        return None
    width = FILLED / len(look)
    labels = [f"{task_title(task)}\n{metric_title(metric)}".replace("on bare", "on\nbare") for task, metric in groups]
    marker: dict[str, Any] = {"color": INK, "markerfacecolor": "#ffffff", "markersize": 4, "zorder": 4}
    numbers, floors = list[Published](), list[Floor]()

    def draw(panel: Axes, transform: str) -> None:
        for x, objective, group in drawing.in_groups(list(look), groups):
            cell = (objective, transform, *group)
            if delta := mean(results.deltas(*cell)):
                panel.bar(x, 100 * delta.mean, 0.92 * width, **look[objective].bar)
                drawing.draw_intervals(panel, [x - width / 6], drawing.ends([delta], DIFFERENCE), INK)
            if kept := retained(results, *cell):
                panel.plot([x - width / 2, x + width / 2], [100 * kept.sup.mean] * 2, ":", color=INK, linewidth=1.2)
                floors.append(kept.floor)
            if printed := results.printed(3, DELTA, *cell):
                panel.plot(x + width / 6, 100 * printed.value, "D", **marker)
                numbers.append(printed)
        panel.axhline(0, color=INK, linewidth=0.8)
        panel.set_xticks(range(len(groups)), labels)
        panel.grid(visible=False, axis="x")

    panels, title = [(results.transform_title(t), t) for t in transforms], heading("figure-2-delta", scale)
    columns = min(ABREAST, int(FULL / (BAR * len(groups) * len(look) / FILLED)))
    axes_labels = ("", "Δ = SUP − ZS, points")
    with drawing.small_multiples(title, panels, draw, columns, (1.5, 2.5), axes_labels, sharey=True) as (figure, axes):
        bottom, top = axes[0, 0].get_ylim()
        axes[0, 0].set_ylim(min(bottom, -BELOW * top), top)
        handles = bar_keys(results, look)
        handles += [drawing.key("published, at the paper’s scale", INK, "D", "none")] if numbers else []
        handles += [drawing.key("no transfer: Δ with ZS at the floor", INK, "", line=":")] if floors else []
        drawing.legend(figure, handles, 3)
    records = results.select(("SUP", "ZS"), dict(groups))
    return plot("figure-2-delta", figure, results, records, numbers, list(dict.fromkeys(floors)))


def floor_figure(results: Results, scale: str) -> Plot | None:
    """One panel per task, one group per transform: every objective's SUP and ZS, and one line per baseline."""
    tasks = [task for task in results.main_tasks if results.floors.baselines([task])]
    look, transforms = looks(results), results.transforms
    if not tasks or len(transforms) > MOST or not look:
        return None

    def draw(panel: Axes, task: str) -> None:
        for x, objective, transform in drawing.in_groups(list(look), transforms):
            colour, marker, _ = look[objective]
            size = 9 if marker == "*" else 6  # a small open star looks like a full one
            for measure, fill in (("SUP", "none"), ("ZS", "full")):
                if score := mean(results.scores(measure, objective, transform, task, PRIMARY[task])):
                    shape: dict[str, Any] = {"marker": marker, "fillstyle": fill, "markersize": size}
                    drawing.draw_points(panel, [(x, score)], colour, linestyle="none", zorder=3, **shape)
        for group, transform in enumerate(transforms):
            sides = [group - FILLED / 2 - 0.04, group + FILLED / 2 + 0.04]
            for learnt, dash, colour, width in ((transform, "--", SOFT, 1), (results.source, "-", INK, 0.9)):
                for floor in results.floors.of(task, PRIMARY[task], transform, learnt).values():
                    panel.plot(sides, [100 * floor.value] * 2, dash, color=colour, linewidth=width, zorder=1)
        panel.set_ylim(-3, 103)
        panel.set_xlim(-0.5, len(transforms) - 0.5)
        _label_floors(panel, results, transforms[-1], task)
        panel.set_xticks(range(len(transforms)), [results.transform_title(name) for name in transforms])
        panel.grid(visible=False, axis="x")

    panels, title = [("", task) for task in tasks], heading("figure-floors", scale)
    with drawing.small_multiples(title, panels, draw, 1, (1.7, 2.4)) as (figure, axes):
        for panel, task in zip(axes.flat, tasks, strict=True):
            panel.set_ylabel(f"{score_title(task)}, %")
        handles = [
            *keys(results, look),
            drawing.key("ZS", INK, "o"),
            drawing.key("SUP", INK, "o", "none"),
            drawing.key("baseline learnt in the source", INK, "", line="-"),
            drawing.key("baseline learnt in the derived language", SOFT, "", line="--"),
        ]
        drawing.legend(figure, handles, 3)
    metrics = {task: PRIMARY[task] for task in tasks}
    floors = [floor for floor in results.floors.all if metrics.get(floor.task) == floor.metric]
    return plot("figure-floors", figure, results, results.select(("SUP", "ZS"), metrics), floors=floors)


def _label_floors(panel: Axes, results: Results, transform: str, task: str) -> None:
    """Label the lines right of the last group, in order of height and without overlap."""
    lines: list[tuple[float, str, str]] = []
    for learnt, colour in ((results.source, INK), (transform, FAINT)):
        for floor in results.floors.of(task, PRIMARY[task], transform, learnt).values():
            value = 100 * floor.value
            if not any(title == floor.title and abs(height - value) < SAME for height, title, _ in lines):
                lines.append((value, floor.title, colour))
    low, high = panel.get_ylim()
    heights = [(value - low) / (high - low) for value, _, _ in lines]
    for (_, title, colour), height, place in zip(lines, heights, drawing.spread(heights, LINE), strict=True):
        arrow = {"arrowstyle": "-", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5), "color": colour}
        style: dict[str, Any] = {"xycoords": "axes fraction", "color": colour, "fontsize": 8, "va": "center"}
        panel.annotate(title, (1, height), xytext=(1.03, place), arrowprops=arrow, **style)


def correlation_figure(results: Results, scale: str) -> Plot | None:
    """alignment@1 against -Delta with rho, one panel per task. Points rise if rho is positive."""
    metrics, look = compared_metrics(results), looks(results)
    cells = {task: points for task, metric in metrics.items() if (points := results.points(task, metric))}
    if not cells or len(results.transforms) > MOST or not look:
        return None
    fill = dict(zip(results.transforms, FILLS, strict=False))
    printed = {task: _printed(results, task, metrics[task]) for task in cells}

    def draw(panel: Axes, task: str) -> None:
        for aligned, delta in printed[task]:
            marker = BY_NAME.get(aligned.objective, GIVEN).marker
            panel.plot(100 * aligned.value, -100 * delta.value, marker, color=SOFT, markersize=4, zorder=1.5)
        for point in cells[task]:
            _draw_point(panel, point, look[point.objective], fill[point.transform])
        panel.axhline(0, color=INK, linewidth=0.8)
        panel.set_xlim(-5, 105)

    rhos = {task: in_words(rho_of(points)).replace(", p", "\np") for task, points in cells.items()}
    panels = [(f"{task_title(task)}, {metric_title(metrics[task])}\n{rho}", task) for task, rho in rhos.items()]
    further = 3.4  # inches of height of another row of panels
    height = 5.0 - further + 0.12 * len(results.transforms), further
    title, labels = heading("figure-3-correlation", scale), ("alignment@1 of all types, %", "−Δ = ZS − SUP, points")
    with drawing.small_multiples(title, panels, draw, ABREAST, height, labels, 9.5) as (figure, axes):
        for panel in axes.flat[: len(panels)]:
            panel.set_xlabel(labels[0])
        handles = keys(results, look)
        handles += [
            drawing.key(results.transform_title(transform), INK, "o", style) for transform, style in fill.items()
        ]
        numbers = list(dict.fromkeys(number for pairs in printed.values() for pair in pairs for number in pair))
        handles += [drawing.key("published, shapes as above", SOFT, "o", small=True)] if numbers else []
        drawing.legend(figure, handles, 3)
    details = [
        f"ρ is Spearman’s rank correlation {SIGN}. Brackets hold its 95 % bootstrap interval over points, where "
        f"there are {FEWEST} at least. p is the fraction of pairings as far from their mean as ours, where only "
        "points of one transform change partners."
    ]
    for task, metric in metrics.items():  # if the panel shows the paper's metric
        if metric != PRIMARY[task] and (points := results.points(task, PRIMARY[task])):
            details.append(f"{task_title(task)} by {metric_title(PRIMARY[task])}: {in_words(rho_of(points))}.")
    for task, points in cells.items():
        transforms = dict.fromkeys(point.transform for point in points)
        within = {name: [point for point in points if point.transform == name] for name in transforms}
        each = (f"{results.transform_title(name)} {in_words(rho_of(its, False))}" for name, its in within.items())
        details.append(f"{task_title(task)} within each transform: {', '.join(each)}.")
    for task, pairs in printed.items():
        groups = [alignment.transform for alignment, _ in pairs]
        if rho := spearman([a.value for a, _ in pairs], [d.value for _, d in pairs], groups=groups):
            scored = f"{task_title(task)} ({metric_title(metrics[task])})"
            details.append(f"{scored}, published, {rho.n} cells: {in_words(rho)}.")
    records = results.select(("SUP", "ZS", ALIGNMENT), metrics | {"": "all"})
    return plot("figure-3-correlation", figure, results, records, numbers, details=details)


def in_words(rho: Correlation | None) -> str:
    """rho with its interval and p."""
    if rho is None:
        return "ρ is not defined"
    between = "" if rho.low is None or rho.high is None else f" [{rho.low:.2f}, {rho.high:.2f}]"
    p = f"p = {rho.p:.3f}" if rho.p >= 1e-3 else "p < 0.001"
    return f"ρ = {rho.rho:.2f}{between}, {p}".replace("-", "−")


def rho_of(points: list[Point], within: bool = True) -> Correlation | None:
    """rho over the points of a task; p permutes points `within` their transforms or across them."""
    groups = [point.transform for point in points] if within else None
    return spearman([p.alignment.mean for p in points], [p.delta.mean for p in points], groups=groups)


def _printed(results: Results, task: str, metric: str) -> list[tuple[Published, Published]]:
    """The paper's cells with both a published alignment and a published Delta."""
    aligned = (p for p in results.published if (p.table, p.measure) == (8, ALIGNMENT))
    pairs = ((p, results.printed(3, DELTA, p.objective, p.transform, task, metric)) for p in aligned)
    return [(alignment, delta) for alignment, delta in pairs if delta]


def _draw_point(panel: Axes, point: Point, look: Look, fill: Fill) -> None:
    """A point with its intervals, clipped to the bounds of shares and differences."""
    x, y = 100 * point.alignment.mean, -100 * point.delta.mean
    along = [both and (-both[1], -both[0]) for both in drawing.ends([point.delta], DIFFERENCE)]
    drawing.draw_intervals(panel, [x], along, look.colour)
    drawing.draw_intervals(panel, [y], drawing.ends([point.alignment]), look.colour, across=True)
    # hollow is filled with white, so that error bars do not cross it
    face: dict[str, Any] = {"markerfacecolor": "#ffffff" if fill == "none" else look.colour}
    face["fillstyle"] = "full" if fill == "none" else fill
    panel.plot(x, y, look.marker, color=look.colour, markerfacecoloralt="#ffffff", markersize=8, **face)
