"""Figures 2 and 3 of ALIGN-MLM, scores above their floors, and alignment over the steps of pretraining.

Each is None where records cannot fill it, or with more objectives or transforms than a figure can tell apart.
"""

from typing import Any

from matplotlib.axes import Axes

from analysis.papers.columns import score_title
from analysis.papers.looks import BY_NAME, GIVEN, Look, bar_keys, keys, looks
from analysis.papers.texts import heading, plot
from analysis.records.record import ALIGNMENT, DELTA, Floor, Published
from analysis.report.drawing import (
    DIFFERENCE,
    FULL,
    INK,
    MOST,
    SOFT,
    Fill,
    draw_intervals,
    draw_points,
    ends,
    fills,
    grid,
    key,
    legend,
    spread,
    steps_axis,
    styled,
)
from analysis.report.plot import Plot
from analysis.results.measured import mean, means
from analysis.results.results import Point, Results
from analysis.results.retained import retained
from analysis.statistics.correlation import FEWEST, SIGN, Correlation, spearman
from analysis.tasks.catalog import PRIMARY, PRINTED, metric_title, task_title

ABREAST = 3  # panels in a row at most
BAR = 0.11  # inches of a bar at least, or fewer panels stand in a row
BELOW = 0.05  # of the axis, below 0 at least: room for markers there
FILLED = 0.84  # of a group's width, that its bars or scores take
SAME, LINE = 1.0, 0.065
"""Points between lines of one name that have one label, and the part of a panel's height that a label takes."""
FAINT = "#6a6a6a"
"""Of labels of lines in the background: dark enough to be read."""
METRICS = ("all", "held-out")
BARS, MARKERS = 3, 8  # intervals and markers on a line, about: more would hide the lines
NUMBERED = {"D": 9.5, "^": 13, "v": 13, "*": 15}
"""Sizes of markers with a number in them that are not as wide as others of a size."""
FURTHER = 3.4  # inches of height that another line of panels takes


def compared_metrics(results: Results) -> dict[str, str]:
    """The metric of each task that was measured: the paper's, where its numbers are at hand, else our primary one."""
    printed = {(p.task, p.metric) for p in results.published if (p.table, p.measure) == (3, DELTA)}
    return {t: PRINTED[t] if (t, PRINTED[t]) in printed else PRIMARY[t] for t in results.main_tasks}


def delta_figure(results: Results, scale: str) -> Plot | None:
    """Delta by objective, a panel for each transform, a group of bars for each task."""
    look, transforms = looks(results), results.transforms
    cells = [(o, t) for t in transforms for o in results.objectives]
    metrics = compared_metrics(results).items()
    groups = [group for group in metrics if any(results.deltas(*cell, *group) for cell in cells)]
    if not groups or len(transforms) > MOST or not look:
        return None
    numbers: list[Published] = []
    columns = min(len(transforms), ABREAST, int(FULL / (BAR * len(groups) * len(look) / FILLED)))
    height = 1.5 + 2.5 * -(-len(transforms) // columns)
    with styled(FULL, height, heading("figure-2-delta", scale)) as figure:
        axes = grid(figure, len(transforms), columns, sharey=True)
        for panel, transform in zip(axes.flat, transforms, strict=False):
            numbers += _bars(panel, results, look, transform, groups)
            panel.set_title(results.transform_title(transform))
        for panel in axes[:, 0]:
            panel.set_ylabel("Δ = SUP − ZS, points")
        bottom, top = axes[0, 0].get_ylim()
        axes[0, 0].set_ylim(min(bottom, -BELOW * top), top)
        handles = bar_keys(results, look)
        handles += [key("published, at the paper’s scale", INK, "D", "none")] if numbers else []
        kept = (retained(results, *cell, *group) for cell in cells for group in groups)
        floors = list(dict.fromkeys(each.floor for each in kept if each))
        handles += [key("no transfer: Δ with ZS at the floor", INK, "", line=":")] if floors else []
        legend(figure, handles, 3)
    records = results.select(("SUP", "ZS"), dict(groups))
    return plot("figure-2-delta", figure, results, records, numbers, floors)


def _bars(
    panel: Axes, results: Results, look: dict[str, Look], transform: str, groups: list[tuple[str, str]]
) -> list[Published]:
    """Bars with intervals, and what the paper prints of the same metric, which it returns."""
    width, numbers = FILLED / len(look), []
    for group, (task, metric) in enumerate(groups):
        for i, objective in enumerate(look):
            x = group + (i - (len(look) - 1) / 2) * width
            if delta := mean(results.deltas(objective, transform, task, metric)):
                panel.bar(x, 100 * delta.mean, 0.92 * width, **look[objective].bar)
                draw_intervals(panel, [x - width / 6], ends([delta], DIFFERENCE), INK)
            if kept := retained(results, objective, transform, task, metric):
                panel.plot([x - width / 2, x + width / 2], [100 * kept.sup.mean] * 2, ":", color=INK, linewidth=1.2)
            if printed := results.printed(3, DELTA, objective, transform, task, metric):
                style: dict[str, Any] = {"color": INK, "markerfacecolor": "#ffffff", "markersize": 4, "zorder": 4}
                panel.plot(x + width / 6, 100 * printed.value, "D", **style)
                numbers.append(printed)
    panel.axhline(0, color=INK, linewidth=0.8)
    labels = [f"{task_title(task)}\n{metric_title(metric)}".replace("on bare", "on\nbare") for task, metric in groups]
    panel.set_xticks(range(len(groups)), labels)
    panel.grid(visible=False, axis="x")
    return numbers


def floor_figure(results: Results, scale: str) -> Plot | None:
    """A panel a task, a group a transform: every objective's SUP and ZS, and a line for each baseline."""
    tasks = [task for task in results.main_tasks if results.floors.baselines([task])]
    look, transforms = looks(results), results.transforms
    if not tasks or len(transforms) > MOST or not look:
        return None
    with styled(FULL, 1.7 + 2.4 * len(tasks), heading("figure-floors", scale)) as figure:
        axes = figure.subplots(len(tasks), 1, squeeze=False)[:, 0]
        for panel, task in zip(axes, tasks, strict=True):
            for group, transform in enumerate(transforms):
                _scores(panel, results, look, group, transform, task)
                _floor_lines(panel, results, group, transform, task)
            panel.set_ylim(-3, 103)
            panel.set_xlim(-0.5, len(transforms) - 0.5)
            _labels(panel, results, transforms[-1], task)
            panel.set_xticks(range(len(transforms)), [results.transform_title(name) for name in transforms])
            panel.set_ylabel(f"{score_title(task)}, %")
            panel.grid(visible=False, axis="x")
        handles = [
            *keys(results, look),
            key("ZS", INK, "o"),
            key("SUP", INK, "o", "none"),
            key("baseline learnt in the source", INK, "", line="-"),
            key("baseline learnt in the derived language", SOFT, "", line="--"),
        ]
        legend(figure, handles, 3)
    metrics = {task: PRIMARY[task] for task in tasks}
    floors = [floor for floor in results.floors.all if metrics.get(floor.task) == floor.metric]
    return plot("figure-floors", figure, results, results.select(("SUP", "ZS"), metrics), floors=floors)


def _scores(panel: Axes, results: Results, look: dict[str, Look], group: int, transform: str, task: str) -> None:
    """A marker for each objective's SUP and ZS, one above the other, with their intervals."""
    for place, (objective, (colour, marker, _)) in enumerate(look.items()):
        x = group + (place - (len(look) - 1) / 2) * FILLED / len(look)
        size = 9 if marker == "*" else 6  # a small open star looks like a full one
        for measure, fill in (("SUP", "none"), ("ZS", "full")):
            if score := mean(results.scores(measure, objective, transform, task, PRIMARY[task])):
                shape: dict[str, Any] = {"marker": marker, "fillstyle": fill, "markersize": size}
                draw_points(panel, [(x, score)], colour, linestyle="none", zorder=3, **shape)


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
        arrow = {"arrowstyle": "-", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5), "color": colour}
        style: dict[str, Any] = {"xycoords": "axes fraction", "color": colour, "fontsize": 8, "va": "center"}
        panel.annotate(title, (1, height), xytext=(1.03, place), arrowprops=arrow, **style)


def _floors(results: Results, transform: str, task: str, learnt: str) -> list[Floor]:
    return list(results.floors.of(task, PRIMARY[task], transform, learnt).values())


def growth_figure(results: Results, scale: str) -> Plot | None:
    """alignment@1 by step, a row for each transform, all types next to held-out ones."""
    metrics = [metric for metric in METRICS if results.has(ALIGNMENT, metric)]
    records = [r for r in results.records if r.measure == ALIGNMENT and r.metric in metrics]
    look, rows = looks(results), results.transforms
    if len({r.step for r in records}) < 2 or len(rows) > MOST or not look:
        return None
    with styled(FULL, 1.5 + 2.1 * len(rows), heading("figure-growth", scale)) as figure:
        axes = figure.subplots(len(rows), len(metrics), sharex=True, sharey="row", squeeze=False)
        for row, transform in zip(axes, rows, strict=True):
            for panel, metric in zip(row, metrics, strict=True):
                _lines(panel, results, look, transform, metric)
                panel.set_title(f"{results.transform_title(transform)}, {metric} types")
            row[0].set_ylabel("alignment@1, %")
            row[0].set_ylim(bottom=0)
        steps_axis(axes[0, 0])
        for panel in axes[-1]:
            panel.set_xlabel("step of pretraining")
        legend(figure, keys(results, look, line=None), 4)
    return plot("figure-growth", figure, results, records)


def _lines(panel: Axes, results: Results, look: dict[str, Look], transform: str, metric: str) -> None:
    """A line for each objective, with intervals over seeds at steps where no other line has its own."""
    for place, (objective, (colour, marker, dash)) in enumerate(look.items()):
        points = means(results.growth(objective, transform, metric).items())
        steps, values = [step for step, _ in points], [100 * estimate.mean for _, estimate in points]
        spacing = 1 + len(points) // MARKERS
        panel.plot(steps, values, dash, color=colour, marker=marker, markersize=5, markevery=spacing)
        stride = max(1, len(points) // BARS)
        first = place * stride // len(look)  # each objective's bars begin at a step of their own
        barred = [(step, estimate) for step, estimate in points[first::stride] if estimate.seeds > 1]
        draw_intervals(panel, [step for step, _ in barred], ends([estimate for _, estimate in barred]), colour)


def correlation_figure(results: Results, scale: str) -> Plot | None:
    """alignment@1 against -Delta with rho, a panel for each task.

    Points rise where rho is positive. More than `MOST` transforms are told apart by a number in each point.
    """
    metrics, look = compared_metrics(results), looks(results)
    cells = {task: points for task, metric in metrics.items() if (points := results.points(task, metric))}
    if not cells or not look:
        return None
    numbered = len(results.transforms) > MOST
    fill = {} if numbered else fills(results.transforms)
    printed = {task: _printed(results, task, metrics[task]) for task in cells}
    columns = min(len(cells), ABREAST)
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
                mark = fill.get(point.transform, 1 + results.transforms.index(point.transform))
                _draw_point(panel, point, look[point.objective], mark, 3 + place)
            panel.axhline(0, color=INK, linewidth=0.8)
            panel.set_xlabel("alignment@1 of all types, %")
            panel.set_xlim(-5, 105)
            below = in_words(rho_of(points)).replace(", p", "\np")
            panel.set_title(f"{task_title(task)}, {metric_title(metrics[task])}\n{below}", fontsize=9.5)
        handles = keys(results, look)
        handles += [key(results.transform_title(transform), INK, "o", style) for transform, style in fill.items()]
        if numbered:
            names = enumerate(map(results.transform_title, results.transforms), start=1)
            handles += [key(name, INK, f"${number}$") for number, name in names]
        numbers = list(dict.fromkeys(number for pairs in printed.values() for pair in pairs for number in pair))
        handles += [key("published, shapes as above", SOFT, "o", small=True)] if numbers else []
        legend(figure, handles, 3)
    details = [
        f"ρ is Spearman’s rank correlation {SIGN}. Brackets hold its 95 % bootstrap interval over points, where "
        f"there are {FEWEST} at least. p is the fraction of pairings as far from their mean as ours, where only "
        "points of one transform change partners."
    ]
    for task, metric in metrics.items():  # where the panel shows the paper's metric
        if metric != PRIMARY[task] and (points := results.points(task, PRIMARY[task])):
            details.append(f"{task_title(task)} by {metric_title(PRIMARY[task])}: {in_words(rho_of(points))}.")
    for task, points in () if numbered else cells.items():
        transforms = dict.fromkeys(point.transform for point in points)
        within = {name: [point for point in points if point.transform == name] for name in transforms}
        rhos = (f"{results.transform_title(name)} {in_words(rho_of(its, False))}" for name, its in within.items())
        details.append(f"{task_title(task)} within each transform: {', '.join(rhos)}.")
    for task, pairs in printed.items():
        groups = [alignment.transform for alignment, _ in pairs]
        if rho := spearman([a.value for a, _ in pairs], [d.value for _, d in pairs], groups=groups):
            title = f"{task_title(task)} ({metric_title(metrics[task])})"
            details.append(f"{title}, published, {rho.n} cells: {in_words(rho)}.")
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
    """rho over the points of a task, whose partners change `within` their transforms or across them."""
    groups = [point.transform for point in points] if within else None
    return spearman([p.alignment.mean for p in points], [p.delta.mean for p in points], groups=groups)


def _printed(results: Results, task: str, metric: str) -> list[tuple[Published, Published]]:
    """The paper's cells that have both: a published alignment and the published Delta that belongs to it."""
    aligned = (p for p in results.published if (p.table, p.measure) == (8, ALIGNMENT))
    pairs = ((p, results.printed(3, DELTA, p.objective, p.transform, task, metric)) for p in aligned)
    return [(alignment, delta) for alignment, delta in pairs if delta]


def _draw_point(panel: Axes, point: Point, look: Look, mark: Fill | int, layer: int) -> None:
    """A point with its intervals, cut where shares and differences end; a filled marker, or one with its number in it.

    Marker and number are on the same `layer`, so that no number stands on another point.
    """
    x, y = 100 * point.alignment.mean, -100 * point.delta.mean
    along = [both and (-both[1], -both[0]) for both in ends([point.delta], DIFFERENCE)]
    draw_intervals(panel, [x], along, look.colour)
    draw_intervals(panel, [y], ends([point.alignment]), look.colour, across=True)
    if isinstance(mark, int):
        panel.plot(x, y, look.marker, color=look.colour, markersize=NUMBERED.get(look.marker, 11), zorder=layer)
        text: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": 7.5, "zorder": layer + 0.5}
        panel.annotate(str(mark), (x, y), color="#ffffff", **text)
    else:  # hollow is filled with white, so that error bars do not cross it
        face: dict[str, Any] = {"markerfacecolor": "#ffffff" if mark == "none" else look.colour}
        face["fillstyle"] = "full" if mark == "none" else mark
        panel.plot(x, y, look.marker, color=look.colour, markerfacecoloralt="#ffffff", markersize=8, **face)
