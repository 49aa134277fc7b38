"""ALIGN-MLM's figures, scores by shared vocabulary, and scores by objective."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from calque.analysis.papers.align_mlm import (
    STRONGEST,
    compared_metrics,
    mean_of_tasks,
    rho_cell,
    rho_of,
    zero_shot_columns,
)
from calque.analysis.papers.colours import Look, keys, looks
from calque.analysis.papers.columns import (
    ABREAST,
    ALL_TYPES,
    Column,
    column_table,
    columns_of,
    main_metrics,
    score_title,
    shown_records,
    task_columns,
)
from calque.analysis.papers.texts import chart
from calque.analysis.records.record import ALIGNMENT, DELTA, SHARING, Published
from calque.analysis.report.drawing import (
    FILLED,
    FILLS,
    HALF,
    INK,
    MOST,
    SOFT,
    Fill,
    Plot,
    draw_intervals,
    draw_points,
    in_groups,
    key,
    level,
    wrapped,
)
from calque.analysis.report.table import Table
from calque.analysis.results import Point, Results, above_floor, mean

BAR, LABEL = (0.11, 0.65)  # minimum widths in inches of a bar and of a task's label
BELOW = 0.05  # the axis extends below 0 by at least this fraction of its maximum, so that markers fit


def paper_figures(results: Results) -> Iterator[Plot | None]:
    """Yield the ALIGN-MLM paper's Figures 2 and 3."""
    yield delta_figure(results)
    yield correlation_figure(results)


def equal_terms_figures(results: Results) -> Iterator[Plot | None]:
    """Yield the figures of a comparison of objectives with equal steps."""
    yield _objectives_figure(results)
    yield correlation_figure(results)


def delta_figure(results: Results) -> Plot | None:
    """Plot Delta by objective, with one panel per transform."""
    look, transforms, metrics = looks(results), results.transforms, compared_metrics(results).items()
    pairs = list(product(results.objectives, transforms))
    groups = [group for group in metrics if any(results.scores(DELTA, *pair, *group) for pair in pairs)]
    if len(pairs) * len(groups) < 2 or len(transforms) > MOST or not look:
        return None
    width = FILLED / len(look)
    ticks = [score_title(*group, "\n").replace("on bare", "on\nbare") for group in groups]
    bars = [(objective, t, *group) for t, group, objective in product(transforms, groups, look)]
    printed = {bar: number for bar in bars if (number := results.printed(3, DELTA, *bar))}
    no_transfer = {bar: found for bar in bars if (found := above_floor(results, *bar, "SUP"))}

    def draw(panel: Axes, transform: str) -> None:
        for x, objective, group in in_groups(list(look), groups):
            bar, sides = (objective, transform, *group), [x - width / 2, x + width / 2]
            if delta := mean(results.scores(DELTA, *bar)):
                panel.bar(x, 100 * delta.mean, 0.92 * width, **look[objective].bar)
                draw_intervals(panel, [(x - width / 6, delta)], INK)
            if bar in no_transfer:
                level(panel, no_transfer[bar][1].mean, sides, ":", INK, linewidth=1.2)
            if bar in printed:
                style: dict[str, Any] = {"markerfacecolor": "#ffffff", "markersize": 3.5, "zorder": 4}
                panel.plot(x + width / 6, 100 * printed[bar].value, "D", color=INK, **style)
        panel.axhline(0, color=INK, linewidth=0.8)
        panel.set_xticks(range(len(groups)), ticks)
        panel.grid(visible=False, axis="x")

    handles: list[Any] = [Patch(label=results.objective_title(o), **style.bar) for o, style in look.items()]
    handles += [key("published, at the paper’s scale", INK, "D", "none")] if printed else []
    handles += [key("no transfer: Δ with ZS at the floor", INK, line=":")] if no_transfer else []
    grid = max(1, min(ABREAST, int(HALF / (max(BAR * len(look) / FILLED, LABEL) * len(groups))))), 2.0
    panels = [(results.transform_title(transform), transform) for transform in transforms]
    layout: dict[str, Any] = {"labels": ("", "Δ = SUP − ZS, points"), "sharey": True}
    records, numbers = shown_records(results, task_columns(("SUP", "ZS"), groups)), list(printed.values())
    floors = list(dict.fromkeys(floor for floor, _ in no_transfer.values()))
    plot = chart("figure-2-delta", results, panels, draw, grid, handles, records, numbers, floors, **layout)
    bottom, top = plot.figure.axes[0].get_ylim()
    plot.figure.axes[0].set_ylim(min(bottom, -BELOW * top), top)
    return plot


def correlation_figure(results: Results) -> Plot | None:
    """Plot alignment@1 against -Delta for each task whose rho is defined."""
    metrics, look, transforms = compared_metrics(results), looks(results), results.transforms
    points = {task: results.points(task, metric) for task, metric in metrics.items()}
    rhos = {task: rho for task in metrics if (rho := rho_of(points[task]))}
    if not rhos or len(transforms) > MOST or not look:
        return None
    fill = dict(zip(transforms, FILLS, strict=False))
    printed = {task: _printed(results, task, metrics[task]) for task in rhos}

    def draw(panel: Axes, task: str) -> None:
        for alignment, delta in printed[task]:
            marker = look[alignment.objective].marker if alignment.objective in look else "."
            place = 100 * alignment.value, -100 * delta.value
            panel.plot(*place, marker, color=SOFT, markersize=4, zorder=1.5)
        for point in points[task]:
            _draw_point(panel, point, look[point.objective], fill[point.transform])
        panel.axhline(0, color=INK, linewidth=0.8)
        panel.set_xlim(-5, 105)
        panel.set_xlabel("alignment@1, %")

    panels = []
    for task, rho in rhos.items():
        p = f"p = {rho.p:.3f}" if rho.p >= 1e-3 else "p < 0.001"
        panels.append((f"{score_title(task, metrics[task], ', ')}\nρ = {rho_cell(rho)}\n{p}", task))
    handles = keys(results, look)
    handles += [key(results.transform_title(t), INK, "o", style) for t, style in fill.items()]
    numbers = list(dict.fromkeys(p for pairs in printed.values() for pair in pairs for p in pair))
    if numbers:
        note = "" if look.keys() >= {p.objective for p in numbers} else "; dots: other objectives"
        handles.append(key(f"published, shapes as above{note}", SOFT, "o", size=4))
    columns = [*task_columns(("SUP", "ZS"), metrics.items()), ALL_TYPES]
    records, labels = shown_records(results, columns), ("", "−Δ = ZS − SUP, points")
    name, grid = "figure-3-correlation", (ABREAST, 2.6)
    return chart(name, results, panels, draw, grid, handles, records, numbers, labels=labels)


def _printed(results: Results, task: str, metric: str) -> list[tuple[Published, Published]]:
    pairs = []
    for p in results.published:
        delta = results.printed(3, DELTA, p.objective, p.transform, task, metric)
        if delta and (p.table, p.measure) == (8, ALIGNMENT):
            pairs.append((p, delta))
    return pairs


def _draw_point(panel: Axes, point: Point, look: Look, fill: Fill) -> None:
    x, y = 100 * point.alignment.mean, -100 * point.delta.mean
    draw_intervals(panel, [(x, point.delta)], look.colour, unit=-100)
    draw_intervals(panel, [(y, point.alignment)], look.colour, across=True)
    hollow = fill == "none"  # a white fill hides the intervals behind a hollow marker
    style: dict[str, Any] = {"fillstyle": "full" if hollow else fill, "markersize": 7}
    style |= {"markerfacecolor": "#ffffff" if hollow else look.colour, "markerfacecoloralt": "#ffffff"}
    panel.plot(x, y, look.marker, color=look.colour, **style)


def overlap_table(results: Results) -> Table | None:
    """Tabulate transfer and alignment by shared vocabulary; None if no language shares any."""
    shares = _shares(results)
    if not any(0 < share < 1 for share in shares.values()):
        return None
    columns = [*columns_of("overlap"), *task_columns(("ZS", DELTA), main_metrics(results))]
    languages = sorted(shares, key=lambda language: shares[language])
    columns += [Column(f"alignment@1 {metric}", ALIGNMENT, metric) for metric in ("all", "held-out")]
    return column_table("overlap", results, columns, languages)


def _shares(results: Results) -> dict[str, float]:
    """Return the shares of sub-words of languages that differ from their source in script alone."""
    kinds = {name: [part["kind"] for part in results.languages[name].parts] for name in results.transforms}
    scripts = [name for name in kinds if kinds[name] == ["Transliterate"]]
    column, found = Column("shared", SHARING, "tokens"), dict[str, float]()
    for language, objective in product(scripts, results.objectives):
        if number := column.mean(results, objective, language):
            found.setdefault(language, number.mean)
    return found


COLUMNS = 3  # panels in a row
LINE = 0.27  # height in inches per objective
NAMES = 1.9  # width of the objectives' names, in inches


def _objectives_figure(results: Results) -> Plot | None:
    tasks, look = zero_shot_columns(results), looks(results)
    if not tasks or len(results.transforms) > MOST or not look:
        return None
    rows = results.models

    def draw(panel: Axes, column: Column) -> None:
        for place, (objective, transform) in enumerate(rows):
            if score := column.mean(results, objective, transform):
                draw_points(panel, [(place, score)], *look[objective][:2], across=True, zorder=3)
        panel.xaxis.set_major_locator(MaxNLocator(2))
        panel.margins(x=0.15)
        for transform in results.transforms:
            if floor := column.floor(results, transform):
                members = [place for place, (_, name) in enumerate(rows) if name == transform]
                ends = [members[0] - 0.5, members[-1] + 0.5]
                level(panel, floor.value, ends, "-", INK, across=True, linewidth=1, zorder=1)
        panel.set_yticks(range(len(rows)), [_row_title(results, *row) for row in rows])
        panel.set_ylim(len(rows) - 0.4, -0.6)

    heads = {score_title(column.task, separator=", "): column for column in tasks}
    heads[f"mean of {len(tasks)} tasks"] = mean_of_tasks(results)
    of_words = [f for f in results.floors if f.learnt == results.source and not f.surface]
    floors = [floor for floor in of_words if (floor.task, floor.metric) in main_metrics(results)]
    return chart(
        "figure-objectives",
        results,
        [(wrapped(head, 1.0), column) for head, column in heads.items()],
        draw,
        (COLUMNS, 0.75 + LINE * len(rows)),
        [key(STRONGEST, INK, line="-")] if floors else [],
        shown_records(results, tasks),
        floors=floors,
        labels=("ZS, %", ""),
        sharey=True,
    )


def _row_title(results: Results, objective: str, transform: str) -> str:
    under = f", {results.transform_title(transform)}" if len(results.transforms) > 1 else ""
    return wrapped(results.objective_title(objective) + under, NAMES)
