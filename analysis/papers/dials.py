"""Show transfer and alignment by word-order distance from the source and by shared vocabulary."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from calque.analysis.papers.columns import (
    RETAINED,
    Cell,
    Column,
    column_table,
    columns_of,
    main_metrics,
    score_title,
    task_columns,
)
from calque.analysis.papers.looks import keys, looks
from calque.analysis.papers.texts import TEXTS, heading, plot
from calque.analysis.records.record import ALIGNMENT, DELTA, ORDER, SHARING, Floor, Record
from calque.analysis.report.drawing import (
    INK,
    LOOKS,
    SOFT,
    Dash,
    Plot,
    Point,
    draw_points,
    key,
    legend,
    small_multiples,
)
from calque.analysis.report.table import Table
from calque.analysis.results.measured import mean, means
from calque.analysis.results.results import Results
from calque.analysis.tasks.catalog import PRIMARY
from calque.derive.transforms import REWRITES

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
    for objective, language, (measure, *of) in product(results.objectives, languages, numbers):
        records += results.last(measure, objective, language, *of).values()
    return records


def order_figure(results: Results) -> Plot | None:
    """Plot ZS, Delta and alignment@1 against order distance, with one line per objective and parameter."""
    parameters, columns, look = _parameters(results), _order_columns(results), looks(results)
    if not columns or len(parameters) > len(DASHES) or not look:
        return None
    dash = dict(zip(parameters, DASHES, strict=False))
    distance = dict[Cell, float]()
    for cell in product(look, results.transforms):
        if its := mean(results.scores(ORDER, *cell, "", "kendall")):
            distance[cell] = its.mean

    def line(column: Column, objective: str, transforms: Sequence[str]) -> list[Point]:
        measured = [(objective, t) for t in transforms if (objective, t) in distance]
        points = means((distance[cell], column.values(results, *cell)) for cell in measured)
        return sorted(points, key=lambda point: point[0])

    lines = (line(*cell) for cell in product(columns, look, parameters.values()))
    if max(map(len, lines), default=0) < FEWEST:
        return None
    floors = list[Floor]()

    def draw(panel: Axes, column: Column) -> None:
        if column.measure == "ZS":
            floors.extend(_draw_floors(panel, results, column, distance))
        for (objective, (colour, marker, _)), (name, transforms) in product(look.items(), parameters.items()):
            points = line(column, objective, transforms)
            if len(points) > 1:
                face = colour if dash[name] == DASHES[0] else "#ffffff"
                draw_points(panel, points, colour, marker, linestyle=dash[name], markerfacecolor=face)

    panels, title = [(column.head, column) for column in columns], heading("figure-order")
    with small_multiples(title, panels, draw, 2, 1.8, ("order distance", ""), sharex=True) as (figure, _):
        handles = keys(results, look, line="-")
        handles += [key(name, INK, line=dash[name]) for name in parameters]
        handles += [key("floor of ZS", SOFT, line=FLOOR)] if floors else []
        legend(figure, handles, 3, handlelength=3)
    numbers = sorted([*SCORES, (ALIGNMENT, "", "all"), (ALIGNMENT, "", "held-out"), (ORDER, "", "kendall")])
    records = _last_records(results, results.transforms, numbers)
    return plot("figure-order", figure, results, records, floors=floors)


def _draw_floors(
    panel: Axes, results: Results, column: Column, distance: Mapping[Cell, float]
) -> list[Floor]:
    low = list[tuple[float, Floor]]()
    for transform in results.transforms:
        floor = column.floor(results, transform)
        places = [place for (_, name), place in distance.items() if name == transform]
        low += [(places[0], floor)] if floor and places else []
    low.sort(key=lambda point: point[0])
    if low:
        x, y = [place for place, _ in low], [100 * floor.value for _, floor in low]
        panel.plot(x, y, FLOOR, color=SOFT, linewidth=1.5, zorder=1)
    return [floor for _, floor in low]


def _parameters(results: Results) -> dict[str, list[str]]:
    """Group transforms by the title of the parameter that differs, beginning with those that keep the
    source's order."""
    scripts, orders = dict[str, list[Mapping[str, Any]]](), dict[str, list[str]]()
    for name in results.transforms:
        parts = results.transform(name).parts
        if not REWRITES & {part["kind"] for part in parts}:
            scripts[name] = [part for part in parts if part["kind"] in SHARED]
            orders[name] = [_parameter(part) for part in parts if part["kind"] not in SHARED]
    parameters: dict[str, list[str]] = {}
    for name, order in orders.items():
        if order:
            still = [other for other in orders if scripts[other] == scripts[name] and not orders[other]]
            parameters.setdefault(" + ".join(order) + _script(scripts[name]), still).append(name)
    return parameters


def _parameter(part: Mapping[str, Any]) -> str:
    if part["kind"] == "Reorder":
        return f"towards {part['superstrate']}" + (", by sentences" if part["p"] != 1 else "")
    return PARAMETERS.get(part["kind"], str(part["kind"]))


def _script(parts: Sequence[Mapping[str, Any]]) -> str:
    if not parts:
        return ", the source’s script"
    if parts[0]["kind"] == "Cognates":
        return f", {100 * parts[0]['share']:g} % of the stems shared"
    overlap, by = parts[0]["overlap"], parts[0].get("by", "")
    return f", {100 * overlap:g} % of the types shared{f' ({by})' if by else ''}" if overlap else ""


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
    found = []
    for language in results.transforms:
        parts = results.transform(language).parts
        shares = (mean(results.scores(SHARING, o, language, "", "tokens")) for o in results.objectives)
        share = next(filter(None, shares), None)
        if share and len(parts) == 1 and parts[0]["kind"] in SHARED:
            kind = SHARED[parts[0]["kind"]][parts[0].get("by", "uniform")] if share.mean else NEW
            found.append(Sharer(language, kind, share.mean))
    return sorted(found, key=lambda sharer: sharer.tokens)


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
    languages, rows, look = _sharers(results), results.objectives, looks(results)
    columns = [Column(f"{score_title(t)}, Δ", DELTA, metric, t) for t, metric in main_metrics(results)]
    columns += [Column("alignment@1, %", ALIGNMENT, "held-out")] if results.has(ALIGNMENT) else []
    few = len({sharer.tokens for sharer in languages}) < FEWEST
    if few or not columns or len(rows) > MOST_ROWS or not look:
        return None

    def draw(panel: Axes, cell: tuple[str, Column]) -> None:
        objective, column = cell
        colour = look[objective].colour

        def points(*kinds: str) -> list[Point]:
            some = (s for s in languages if s.kind in kinds)
            return means((100 * s.tokens, column.values(results, objective, s.language)) for s in some)

        for kind, marker in MARKERS.items():
            if own := points(kind):
                draw_points(panel, own, colour, marker)
            if len(own) > 1:
                x, y = zip(*((share, 100 * value.mean) for share, value in points(NEW, kind)), strict=True)
                panel.plot(x, y, "-", color=colour, linewidth=1, zorder=1)
        if column.task:
            panel.axhline(0, color=INK, linewidth=0.8)

    cells = product(rows, columns)
    panels = [(f"{results.objective_title(o)}\n{column.head}", (o, column)) for o, column in cells]
    shared: dict[str, Any] = {"labels": ("shared, %", ""), "sharex": True, "sharey": "col"}
    title = heading("figure-overlap")
    with small_multiples(title, panels, draw, len(columns), 1.8, **shared) as (figure, _):
        kinds = {sharer.kind for sharer in languages}
        legend(figure, [key(kind, INK, marker) for kind, marker in MARKERS.items() if kind in kinds], 4)
    numbers = [(SHARING, "", "tokens"), (ALIGNMENT, "", "held-out"), *SCORES]
    records = _last_records(results, [sharer.language for sharer in languages], numbers)
    return plot("figure-overlap", figure, results, records)
