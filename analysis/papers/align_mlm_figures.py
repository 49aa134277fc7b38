"""Plot Figures 2 and 3 of the ALIGN-MLM paper, and scores next to their floors."""

from itertools import product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from calque.analysis.papers.align_mlm import compared_metrics, rho_cell, rho_of
from calque.analysis.papers.columns import ABREAST, Column, score_title, shown_records, task_columns
from calque.analysis.papers.looks import Look, keys, looks
from calque.analysis.papers.texts import heading, plot
from calque.analysis.records.record import ALIGNMENT, DELTA, Floor, Published
from calque.analysis.report import drawing
from calque.analysis.report.drawing import FILLED, FILLS, HALF, INK, MOST, SOFT, Fill, Plot
from calque.analysis.results.measured import mean
from calque.analysis.results.results import Point, Results, retained
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title

BAR, LABEL = (0.11, 0.65)  # minimum widths in inches of a bar and of a task's label
BELOW = 0.05  # the axis extends below 0 by at least this fraction of its maximum, so that markers fit


def delta_figure(results: Results) -> Plot | None:
    """Plot Delta by objective, with one panel per transform and one group of bars per task."""
    look, transforms = looks(results), results.transforms
    cells, metrics = list(product(results.objectives, transforms)), compared_metrics(results).items()
    groups = [group for group in metrics if any(results.scores(DELTA, *cell, *group) for cell in cells)]
    if len(cells) * len(groups) < 2 or len(transforms) > MOST or not look:
        return None
    width = FILLED / len(look)
    ticks = [f"{task_title(task)}\n{metric_title(m)}".replace("on bare", "on\nbare") for task, m in groups]
    numbers, floors = list[Published](), list[Floor]()

    def draw(panel: Axes, transform: str) -> None:
        for x, objective, group in drawing.in_groups(list(look), groups):
            found = _draw_delta(panel, x, width, look[objective], results, (objective, transform, *group))
            floors.extend(found[0])
            numbers.extend(found[1])
        panel.axhline(0, color=INK, linewidth=0.8)
        panel.set_xticks(range(len(groups)), ticks)
        panel.grid(visible=False, axis="x")

    panels = [(results.transform_title(t), t) for t in transforms]
    columns = max(1, min(ABREAST, int(HALF / (max(BAR * len(look) / FILLED, LABEL) * len(groups)))))
    shared: dict[str, Any] = {"labels": ("", "Δ = SUP − ZS, points"), "sharey": True}
    title = heading("figure-2-delta")
    with drawing.small_multiples(title, panels, draw, columns, 2.0, **shared) as (figure, axes):
        bottom, top = axes[0, 0].get_ylim()
        axes[0, 0].set_ylim(min(bottom, -BELOW * top), top)
        handles: list[Any] = [Patch(label=results.objective_title(o), **its.bar) for o, its in look.items()]
        handles += [drawing.key("published, at the paper’s scale", INK, "D", "none")] if numbers else []
        handles += [drawing.key("no transfer: Δ with ZS at the floor", INK, line=":")] if floors else []
        drawing.legend(figure, handles, 3)
    records = shown_records(results, task_columns(("SUP", "ZS"), groups))
    return plot("figure-2-delta", figure, results, records, numbers, list(dict.fromkeys(floors)))


def _draw_delta(
    panel: Axes, x: float, width: float, look: Look, results: Results, cell: tuple[str, ...]
) -> tuple[list[Floor], list[Published]]:
    """Draw a bar, the Delta expected without transfer, and the paper's number; return the floor and the
    number."""
    if delta := mean(results.scores(DELTA, *cell)):
        panel.bar(x, 100 * delta.mean, 0.92 * width, **look.bar)
        drawing.draw_intervals(panel, [x - width / 6], drawing.ends([delta]), INK)
    if kept := retained(results, *cell):
        drawing.level(panel, kept.sup.mean, [x - width / 2, x + width / 2], ":", INK, linewidth=1.2)
    if printed := results.printed(3, DELTA, *cell):
        style: dict[str, Any] = {"color": INK, "markerfacecolor": "#ffffff", "markersize": 3.5, "zorder": 4}
        panel.plot(x + width / 6, 100 * printed.value, "D", **style)
    return [kept.floor] if kept else [], [printed] if printed else []


def floor_figure(results: Results) -> Plot | None:
    """Plot SUP, ZS and the strongest baselines, with one panel per task and one group per transform."""
    tasks = [task for task in results.main_tasks if results.floors.baselines([task])]
    look, transforms, floors = looks(results), results.transforms, list[Floor]()
    titles = [drawing.wrapped(results.transform_title(name), HALF / 4) for name in transforms]
    columns = ABREAST if len(transforms) == 1 else 1
    if not tasks or len(transforms) > MOST or not look:
        return None

    def draw(panel: Axes, task: str) -> None:
        for x, objective, transform in drawing.in_groups(list(look), transforms):
            colour, marker, _ = look[objective]
            size = 7.5 if marker == "*" else 5  # small hollow stars look filled
            for measure, fill in (("SUP", "none"), ("ZS", "full")):
                if score := mean(results.scores(measure, objective, transform, task, PRIMARY[task])):
                    style: dict[str, Any] = {"fillstyle": fill, "markersize": size, "zorder": 3}
                    drawing.draw_points(panel, [(x, score)], colour, marker, **style)
        for group, transform in enumerate(transforms):
            sides = [group - FILLED / 2 - 0.04, group + FILLED / 2 + 0.04]
            for learnt, dash, colour in ((transform, "--", SOFT), (results.source, "-", INK)):
                baselines = results.floors.of(task, PRIMARY[task], transform, learnt).values()
                if floor := max(baselines, key=lambda floor: floor.value, default=None):
                    drawing.level(panel, floor.value, sides, dash, colour, linewidth=1, zorder=1)
                    floors.append(floor)
        panel.set(ylim=(-3, 103), xlim=(-0.5, len(transforms) - 0.5))
        ticks = range(len(transforms)) if columns == 1 else ()
        panel.set_xticks(ticks, titles[: len(ticks)])
        panel.grid(visible=False, axis="x")

    panels, title = [(f"{score_title(task)}, %", task) for task in tasks], heading("figure-floors")
    label = titles[0] if columns > 1 else ""
    with drawing.small_multiples(title, panels, draw, columns, 1.75, (label, ""), sharex=True) as (figure, _):
        handles = keys(results, look)
        handles += [drawing.key("ZS", INK, "o"), drawing.key("SUP", INK, "o", "none")]
        handles.append(drawing.key("baseline learnt in the source", INK, line="-"))
        handles.append(drawing.key("baseline learnt in the derived language", SOFT, line="--"))
        drawing.legend(figure, handles, 3)
    records = shown_records(results, task_columns(("SUP", "ZS"), [(task, PRIMARY[task]) for task in tasks]))
    return plot("figure-floors", figure, results, records, floors=floors)


def correlation_figure(results: Results) -> Plot | None:
    """Plot alignment@1 against -Delta, with one panel for each task whose rho is defined."""
    metrics, look, transforms = compared_metrics(results), looks(results), results.transforms
    cells = {task: results.points(task, metric) for task, metric in metrics.items()}
    rhos = {task: rho for task, points in cells.items() if (rho := rho_of(points))}
    if not rhos or len(transforms) > MOST or not look:
        return None
    fill = dict(zip(transforms, FILLS, strict=False))
    printed = {task: _printed(results, task, metrics[task]) for task in rhos}

    def draw(panel: Axes, task: str) -> None:
        for aligned, delta in printed[task]:
            marker = look[aligned.objective].marker if aligned.objective in look else "."
            panel.plot(100 * aligned.value, -100 * delta.value, marker, color=SOFT, markersize=4, zorder=1.5)
        for point in cells[task]:
            _draw_point(panel, point, look[point.objective], fill[point.transform])
        panel.axhline(0, color=INK, linewidth=0.8)
        panel.set_xlim(-5, 105)

    panels = []
    for task, rho in rhos.items():
        p = f"p = {rho.p:.3f}" if rho.p >= 1e-3 else "p < 0.001"
        panels.append((f"{task_title(task)}, {metric_title(metrics[task])}\nρ = {rho_cell(rho)}\n{p}", task))
    title, labels = heading("figure-3-correlation"), ("alignment@1, %", "−Δ = ZS − SUP, points")
    with drawing.small_multiples(title, panels, draw, ABREAST, 2.6, labels) as (figure, axes):
        for panel in axes.flat[: len(panels)]:
            panel.set_xlabel(labels[0])
        handles = keys(results, look)
        handles += [drawing.key(results.transform_title(t), INK, "o", style) for t, style in fill.items()]
        numbers = list(dict.fromkeys(p for pairs in printed.values() for pair in pairs for p in pair))
        if numbers:
            others = "" if look.keys() >= {p.objective for p in numbers} else "; dots: other objectives"
            handles.append(drawing.key(f"published, shapes as above{others}", SOFT, "o", size=4))
        drawing.legend(figure, handles, 3)
    columns = [*task_columns(("SUP", "ZS"), metrics.items()), Column("alignment@1", ALIGNMENT, "all")]
    return plot("figure-3-correlation", figure, results, shown_records(results, columns), numbers)


def _printed(results: Results, task: str, metric: str) -> list[tuple[Published, Published]]:
    aligned = (p for p in results.published if (p.table, p.measure) == (8, ALIGNMENT))
    pairs = ((p, results.printed(3, DELTA, p.objective, p.transform, task, metric)) for p in aligned)
    return [(alignment, delta) for alignment, delta in pairs if delta]


def _draw_point(panel: Axes, point: Point, look: Look, fill: Fill) -> None:
    x, y = 100 * point.alignment.mean, -100 * point.delta.mean
    interval = [both and (-both[1], -both[0]) for both in drawing.ends([point.delta])]
    drawing.draw_intervals(panel, [x], interval, look.colour)
    drawing.draw_intervals(panel, [y], drawing.ends([point.alignment]), look.colour, across=True)
    hollow = fill == "none"  # a white fill hides the intervals behind a hollow marker
    style: dict[str, Any] = {"fillstyle": "full" if hollow else fill, "markersize": 7}
    style |= {"markerfacecolor": "#ffffff" if hollow else look.colour, "markerfacecoloralt": "#ffffff"}
    panel.plot(x, y, look.marker, color=look.colour, **style)
