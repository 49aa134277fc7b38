"""Plot scores on derived languages: Figures 2 and 3 of the ALIGN-MLM paper, and scores by word-order distance
and by shared vocabulary."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

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
from calque.analysis.papers.columns import (
    ABREAST,
    RETAINED,
    Cell,
    Column,
    column_table,
    columns_of,
    main_metrics,
    score_title,
    shown_records,
    task_columns,
)
from calque.analysis.papers.looks import Look, keys, looks
from calque.analysis.papers.texts import TEXTS, chart
from calque.analysis.records.record import ALIGNMENT, DELTA, ORDER, SHARING, Floor, Published, Record
from calque.analysis.report import drawing
from calque.analysis.report.drawing import (
    FILLED,
    FILLS,
    HALF,
    INK,
    LOOKS,
    MOST,
    SOFT,
    Dash,
    Fill,
    Plot,
    draw_points,
    key,
    level,
    wrapped,
)
from calque.analysis.report.table import Table
from calque.analysis.results import Point, Results, mean, means, retained
from calque.analysis.tasks.catalogue import PRIMARY, metric_title, task_title
from calque.derive.transforms import REWRITES

BAR, LABEL = (0.11, 0.65)  # minimum widths in inches of a bar and of a task's label
BELOW = 0.05  # the axis extends below 0 by at least this fraction of its maximum, so that markers fit


def delta_figure(results: Results) -> Plot | None:
    """Plot Delta by objective, with one panel per transform and one group of bars per task."""
    look, transforms, metrics = looks(results), results.transforms, compared_metrics(results).items()
    pairs = list(product(results.objectives, transforms))
    groups = [group for group in metrics if any(results.scores(DELTA, *pair, *group) for pair in pairs)]
    if len(pairs) * len(groups) < 2 or len(transforms) > MOST or not look:
        return None
    width = FILLED / len(look)
    ticks = [f"{task_title(task)}\n{metric_title(m)}".replace("on bare", "on\nbare") for task, m in groups]
    bars = [(objective, t, *group) for t, group, objective in product(transforms, groups, look)]
    printed = {bar: number for bar in bars if (number := results.printed(3, DELTA, *bar))}
    at_floor = {bar: transfer for bar in bars if (transfer := retained(results, *bar))}

    def draw(panel: Axes, transform: str) -> None:
        for x, objective, group in drawing.in_groups(list(look), groups):
            bar, sides = (objective, transform, *group), [x - width / 2, x + width / 2]
            if delta := mean(results.scores(DELTA, *bar)):
                panel.bar(x, 100 * delta.mean, 0.92 * width, **look[objective].bar)
                drawing.draw_intervals(panel, [(x - width / 6, delta)], INK)
            if bar in at_floor:
                level(panel, at_floor[bar].sup.mean, sides, ":", INK, linewidth=1.2)
            if bar in printed:
                style: dict[str, Any] = {"markerfacecolor": "#ffffff", "markersize": 3.5, "zorder": 4}
                panel.plot(x + width / 6, 100 * printed[bar].value, "D", color=INK, **style)
        panel.axhline(0, color=INK, linewidth=0.8)
        panel.set_xticks(range(len(groups)), ticks)
        panel.grid(visible=False, axis="x")

    handles: list[Any] = [Patch(label=results.objective_title(o), **style.bar) for o, style in look.items()]
    handles += [key("published, at the paper’s scale", INK, "D", "none")] if printed else []
    handles += [key("no transfer: Δ with ZS at the floor", INK, line=":")] if at_floor else []
    columns = max(1, min(ABREAST, int(HALF / (max(BAR * len(look) / FILLED, LABEL) * len(groups)))))
    plot = chart(
        "figure-2-delta",
        results,
        [(results.transform_title(transform), transform) for transform in transforms],
        draw,
        (columns, 2.0),
        handles,
        shown_records(results, task_columns(("SUP", "ZS"), groups)),
        list(printed.values()),
        list(dict.fromkeys(transfer.floor for transfer in at_floor.values())),
        labels=("", "Δ = SUP − ZS, points"),
        sharey=True,
    )
    first = plot.figure.axes[0]
    bottom, top = first.get_ylim()
    first.set_ylim(min(bottom, -BELOW * top), top)
    return plot


def correlation_figure(results: Results) -> Plot | None:
    """Plot alignment@1 against -Delta, with one panel for each task whose rho is defined."""
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
        panels.append((f"{task_title(task)}, {metric_title(metrics[task])}\nρ = {rho_cell(rho)}\n{p}", task))
    handles = keys(results, look)
    handles += [key(results.transform_title(t), INK, "o", style) for t, style in fill.items()]
    numbers = list(dict.fromkeys(p for pairs in printed.values() for pair in pairs for p in pair))
    if numbers:
        note = "" if look.keys() >= {p.objective for p in numbers} else "; dots: other objectives"
        handles.append(key(f"published, shapes as above{note}", SOFT, "o", size=4))
    columns = [*task_columns(("SUP", "ZS"), metrics.items()), Column("alignment@1", ALIGNMENT, "all")]
    records, labels = shown_records(results, columns), ("", "−Δ = ZS − SUP, points")
    name, grid = "figure-3-correlation", (ABREAST, 2.6)
    return chart(name, results, panels, draw, grid, handles, records, numbers, labels=labels)


def _printed(results: Results, task: str, metric: str) -> list[tuple[Published, Published]]:
    """Return the paper's alignments, each with the Delta of the same objective and transform."""
    pairs = []
    for p in results.published:
        delta = results.printed(3, DELTA, p.objective, p.transform, task, metric)
        if delta and (p.table, p.measure) == (8, ALIGNMENT):
            pairs.append((p, delta))
    return pairs


def _draw_point(panel: Axes, point: Point, look: Look, fill: Fill) -> None:
    x, y = 100 * point.alignment.mean, -100 * point.delta.mean
    drawing.draw_intervals(panel, [(x, point.delta)], look.colour, unit=-100)
    drawing.draw_intervals(panel, [(y, point.alignment)], look.colour, across=True)
    hollow = fill == "none"  # a white fill hides the intervals behind a hollow marker
    style: dict[str, Any] = {"fillstyle": "full" if hollow else fill, "markersize": 7}
    style |= {"markerfacecolor": "#ffffff" if hollow else look.colour, "markerfacecoloralt": "#ffffff"}
    panel.plot(x, y, look.marker, color=look.colour, **style)


# Figures by word-order distance and by shared vocabulary

FEWEST = 3  # minimum number of points on the longest line, and of distinct shares of sub-words
FLOOR: Dash = ":"
DASHES: tuple[Dash, ...] = ("-", "--", ":", "-.")
PARAMETERS = {"Invert": "inversion", "Permute": "random order"}
NEW = "a new script"
SHARED: dict[str, dict[str, str]] = TEXTS["shared"]
"""Titles of the kinds of sharing, by transform and choice of words."""
KINDS = [kind for kinds in SHARED.values() for kind in kinds.values()]
MARKERS = dict(zip((NEW, *KINDS), (marker for _, marker in LOOKS), strict=False))  # by kind of sharing
SCORES = [(measure, task, metric) for task, metric in PRIMARY.items() for measure in ("SUP", "ZS")]
MOST_ROWS = 4  # maximum number of objectives in a figure with one row for each


def _last_records(
    results: Results, languages: Iterable[str], numbers: Iterable[tuple[str, str, str]]
) -> list[Record]:
    """Return every objective's records at the last step, for numbers given as (measure, task, metric)."""
    records = list[Record]()
    for objective, language, (measure, *metric) in product(results.objectives, languages, numbers):
        records += results.last(measure, objective, language, *metric).values()
    return records


def order_figure(results: Results) -> Plot | None:
    """Plot ZS, Delta and alignment@1 against order distance, with one line per objective and parameter."""
    parameters, columns, look = _parameters(results), _order_columns(results), looks(results)
    if not columns or len(parameters) > len(DASHES) or not look:
        return None
    dash = dict(zip(parameters, DASHES, strict=False))
    distances, lines = dict[Cell, float](), dict[tuple[str, ...], list[drawing.Point]]()
    for cell in product(look, results.transforms):
        if distance := mean(results.scores(ORDER, *cell, "", "kendall")):
            distances[cell] = distance.mean
    for column, objective, (name, transforms) in product(columns, look, parameters.items()):
        cells = [(objective, t) for t in transforms if (objective, t) in distances]
        points = means((distances[cell], column.values(results, *cell)) for cell in cells)
        lines[column.head, objective, name] = sorted(points, key=lambda point: point[0])
    if max(map(len, lines.values()), default=0) < FEWEST:
        return None
    low = {column.head: _floors(results, column, distances) for column in columns if column.measure == "ZS"}
    floors = [floor for points in low.values() for _, floor in points]

    def draw(panel: Axes, column: Column) -> None:
        if points := low.get(column.head):
            places, values = zip(*((place, 100 * floor.value) for place, floor in points), strict=True)
            panel.plot(places, values, FLOOR, color=SOFT, linewidth=1.5, zorder=1)
        for (objective, (colour, marker, _)), name in product(look.items(), parameters):
            if len(line := lines[column.head, objective, name]) > 1:
                face = colour if dash[name] == DASHES[0] else "#ffffff"
                draw_points(panel, line, colour, marker, linestyle=dash[name], markerfacecolor=face)

    handles = keys(results, look, line="-") + [key(name, INK, line=dash[name]) for name in parameters]
    handles += [key("floor of ZS", SOFT, line=FLOOR)] if floors else []
    numbers = sorted([*SCORES, (ALIGNMENT, "", "all"), (ALIGNMENT, "", "held-out"), (ORDER, "", "kendall")])
    return chart(
        "figure-order",
        results,
        [(column.head, column) for column in columns],
        draw,
        (2, 1.8),
        handles,
        _last_records(results, results.transforms, numbers),
        floors=floors,
        labels=("order distance", ""),
        sharex=True,
        legend={"handlelength": 3},
    )


def _floors(results: Results, column: Column, distances: Mapping[Cell, float]) -> list[tuple[float, Floor]]:
    """Return the column's floors, with each language's order distance, in ascending order."""
    by_language, points = dict[str, float](), list[tuple[float, Floor]]()
    for (_, language), distance in distances.items():
        by_language.setdefault(language, distance)
    for language, distance in by_language.items():
        if floor := column.floor(results, language):
            points.append((distance, floor))
    return sorted(points, key=lambda point: point[0])


def _parameters(results: Results) -> dict[str, list[str]]:
    """Group transforms by the title of the parameter that differs; the source's order comes first."""
    scripts, orders = dict[str, list[Mapping[str, Any]]](), dict[str, list[str]]()
    for name in results.transforms:
        parts = results.transform(name).parts
        if not REWRITES & {part["kind"] for part in parts}:
            scripts[name] = [part for part in parts if part["kind"] in SHARED]
            orders[name] = [_parameter(part) for part in parts if part["kind"] not in SHARED]
    parameters: dict[str, list[str]] = {}
    for name, order in orders.items():
        if order:
            unordered = [base for base in orders if scripts[base] == scripts[name] and not orders[base]]
            parameters.setdefault(" + ".join(order) + _script(scripts[name]), unordered).append(name)
    return parameters


def _parameter(part: Mapping[str, Any]) -> str:
    """Return the title of the parameter that a transform varies."""
    if part["kind"] == "Reorder":
        return f"towards {part['superstrate']}" + (", by sentences" if part["p"] != 1 else "")
    return PARAMETERS.get(part["kind"], str(part["kind"]))


def _script(parts: Sequence[Mapping[str, Any]]) -> str:
    """Return a suffix that describes the vocabulary shared with the source; "" for a new script."""
    if not parts:
        return ", the source’s script"
    if parts[0]["kind"] == "Cognates":
        return f", {100 * parts[0]['share']:g} % of the stems shared"
    overlap, words = parts[0]["overlap"], parts[0].get("by", "")
    return f", {100 * overlap:g} % of the types shared{f' ({words})' if words else ''}" if overlap else ""


def _order_columns(results: Results) -> list[Column]:
    columns = []
    for task, metric in main_metrics(results):
        columns.append(Column(f"{score_title(task)}, ZS, %", "ZS", metric, task))
        columns.append(Column(f"{score_title(task)}, Δ, points", DELTA, metric, task))
    if results.has(ALIGNMENT):
        columns += [Column(f"alignment@1, {m} types, %", ALIGNMENT, m) for m in ("all", "held-out")]
    return columns


class Sharer(NamedTuple):
    """A language, and the kind and share (in sub-word tokens) of the vocabulary shared with its source."""

    language: str
    kind: str
    tokens: float


def _sharers(results: Results) -> list[Sharer]:
    """Return the languages whose shared vocabulary was measured, in ascending order."""
    sharers = []
    for language in results.transforms:
        parts = results.transform(language).parts
        shares = (mean(results.scores(SHARING, o, language, "", "tokens")) for o in results.objectives)
        share = next(filter(None, shares), None)
        if share and len(parts) == 1 and parts[0]["kind"] in SHARED:
            kind = SHARED[parts[0]["kind"]][parts[0].get("by", "uniform")] if share.mean else NEW
            sharers.append(Sharer(language, kind, share.mean))
    return sorted(sharers, key=lambda sharer: sharer.tokens)


def overlap_table(results: Results) -> Table | None:
    """Tabulate transfer and alignment by shared vocabulary; None if no language shares any."""
    languages = _sharers(results)
    if not any(0 < sharer.tokens < 1 for sharer in languages):
        return None
    tasks = task_columns(("ZS", DELTA, RETAINED), main_metrics(results))
    columns = [*columns_of("overlap"), *(replace(column, remarks=False) for column in tasks)]
    columns += [Column(f"alignment@1 {metric}", ALIGNMENT, metric) for metric in ("all", "held-out")]
    return column_table("overlap", results, columns, [sharer.language for sharer in languages])


def overlap_figure(results: Results) -> Plot | None:
    """Plot Delta and alignment@1 against shared sub-words, with one row per objective."""
    sharers, rows, look = _sharers(results), results.objectives, looks(results)
    columns = [Column(f"{score_title(t)}, Δ", DELTA, metric, t) for t, metric in main_metrics(results)]
    columns += [Column("alignment@1, %", ALIGNMENT, "held-out")] if results.has(ALIGNMENT) else []
    few = len({sharer.tokens for sharer in sharers}) < FEWEST
    if few or not columns or len(rows) > MOST_ROWS or not look:
        return None

    def points(objective: str, column: Column, *kinds: str) -> list[drawing.Point]:
        """Return an objective's means against the shares of some kinds of sharing."""
        chosen = [sharer for sharer in sharers if sharer.kind in kinds]
        return means((100 * s.tokens, column.values(results, objective, s.language)) for s in chosen)

    def draw(panel: Axes, cell: tuple[str, Column]) -> None:
        objective, column = cell
        colour = look[objective].colour
        for kind, marker in MARKERS.items():
            if markers := points(*cell, kind):
                draw_points(panel, markers, colour, marker)
            if len(markers) > 1:
                line = [(share, 100 * value.mean) for share, value in points(*cell, NEW, kind)]
                panel.plot(*zip(*line, strict=True), "-", color=colour, linewidth=1, zorder=1)
        if column.task:
            panel.axhline(0, color=INK, linewidth=0.8)

    kinds = {sharer.kind for sharer in sharers}
    numbers = [(SHARING, "", "tokens"), (ALIGNMENT, "", "held-out"), *SCORES]
    cells = product(rows, columns)
    return chart(
        "figure-overlap",
        results,
        [(f"{results.objective_title(o)}\n{column.head}", (o, column)) for o, column in cells],
        draw,
        (len(columns), 1.8),
        [key(kind, INK, marker) for kind, marker in MARKERS.items() if kind in kinds],
        _last_records(results, [sharer.language for sharer in sharers], numbers),
        across=4,
        labels=("shared, %", ""),
        sharex=True,
        sharey="col",
    )


COLUMNS = 3  # panels in a row
LINE = 0.27  # height in inches per objective
NAMES = 1.9  # width of the objectives' names, in inches


def objectives_figure(results: Results) -> Plot | None:
    """Plot ZS with the strongest baseline, with one panel per task and one row per objective."""
    tasks, look = zero_shot_columns(results), looks(results)
    if not tasks or len(results.transforms) > MOST or not look:
        return None
    rows = [(objective, transform) for transform in results.transforms for objective in results.objectives]

    def draw(panel: Axes, column: Column) -> None:
        for place, (objective, transform) in enumerate(rows):
            if score := mean(column.values(results, objective, transform)):
                colour, marker, _ = look[objective]
                draw_points(panel, [(place, score)], colour, marker, across=True, zorder=3)
        panel.xaxis.set_major_locator(MaxNLocator(2))
        panel.margins(x=0.15)
        for transform in results.transforms:
            if floor := column.floor(results, transform):
                places = [place for place, (_, name) in enumerate(rows) if name == transform]
                ends = [places[0] - 0.5, places[-1] + 0.5]
                level(panel, floor.value, ends, "-", INK, across=True, linewidth=1, zorder=1)
        panel.set_yticks(range(len(rows)), [_row_title(results, *row) for row in rows])
        panel.set_ylim(len(rows) - 0.4, -0.6)

    heads = {f"{task_title(column.task)}, {metric_title(column.metric)}": column for column in tasks}
    heads[f"mean of {len(tasks)} tasks"] = mean_of_tasks(results)
    of_words = [f for f in results.floors.all if f.learnt == results.source and not f.surface]
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
