"""Show how transfer and alignment depend on word-order distance from the source, and on the vocabulary shared
with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from calque.analysis.papers.columns import (
    RETAINED,
    Column,
    columns_of,
    last_records,
    main_metrics,
    rows_of,
    score_title,
    task_columns,
)
from calque.analysis.papers.looks import keys, looks
from calque.analysis.papers.texts import TEXTS, heading, plot, table
from calque.analysis.records.record import ALIGNMENT, DELTA, ORDER, SHARING, Floor
from calque.analysis.report.drawing import (
    INK,
    LOOKS,
    SOFT,
    Dash,
    Point,
    draw_points,
    key,
    legend,
    small_multiples,
)
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import Table
from calque.analysis.results.measured import mean, means
from calque.analysis.results.results import Results
from calque.analysis.tasks.catalog import PRIMARY
from calque.derive.transforms import REWRITES

FEWEST = 3  # minimum number of points on a line, and of distinct shares of sub-words
FLOOR: Dash = ":"
DASHES: tuple[Dash, ...] = ("-", "--", ":", "-.")
PARAMETERS = {"Invert": "inversion", "Permute": "random order"}
NEW = "a new script"
# Titles of the kinds of sharing, by transform and choice of words.
SHARED: dict[str, dict[str, str]] = TEXTS["shared"]
KINDS = [kind for kinds in SHARED.values() for kind in kinds.values()]
MARKERS = dict(zip((NEW, *KINDS), (marker for _, marker in LOOKS), strict=False))  # by kind of sharing
MOST_ROWS = 4  # maximum number of objectives, with one row per objective


def order_figure(results: Results, scale: str) -> Plot | None:
    """Plot each task's ZS and Delta, and alignment@1, against order distance, with one line per objective and
    parameter. Return None if no parameter has three settings, or if there are too many parameters or
    objectives to distinguish."""
    parameters, columns, look = _parameters(results), _order_columns(results), looks(results)
    if not columns or len(parameters) > len(DASHES) or not look:
        return None
    dash = dict(zip(parameters, DASHES, strict=False))
    distances = {
        (o, t): mean(results.scores(ORDER, o, t, "", "kendall")) for o in look for t in results.transforms
    }
    distance = {cell: its.mean for cell, its in distances.items() if its}

    def line(column: Column, objective: str, transforms: Sequence[str]) -> list[Point]:
        """Return a point (distance, value) for each setting, in order of increasing distance."""
        measured = (t for t in transforms if (objective, t) in distance)
        return sorted(
            means((distance[objective, t], column.values(results, objective, t)) for t in measured),
            key=lambda point: point[0],
        )

    lines = [
        line(column, o, transforms) for column in columns for o in look for transforms in parameters.values()
    ]
    if max(map(len, lines), default=0) < FEWEST:
        return None
    floors = list[Floor]()

    def draw(panel: Axes, column: Column) -> None:
        floors.extend(_draw_floors(panel, results, column, distance))
        for objective, (colour, marker, _) in look.items():
            for name, transforms in parameters.items():
                face = colour if dash[name] == DASHES[0] else "#ffffff"
                style: dict[str, Any] = {"marker": marker, "markersize": 5, "markerfacecolor": face}
                points = line(column, objective, transforms)
                if len(points) > 1:
                    draw_points(panel, points, colour, bounds=column.bounds, linestyle=dash[name], **style)

    panels, title = [(column.head, column) for column in columns], heading("figure-order")
    with small_multiples(title, panels, draw, 2, 1.8, ("order distance", ""), sharex=True) as (figure, _):
        handles = [
            *keys(results, look, line="-"),
            *(key(name, INK, "", line=dash[name]) for name in parameters),
        ]
        handles += [key("floor of ZS", SOFT, "", line=FLOOR)] if floors else []
        legend(figure, handles, 3, handlelength=3)
    numbers = {(measure, task, metric) for task, metric in PRIMARY.items() for measure in ("SUP", "ZS")}
    numbers |= {(ALIGNMENT, "", "all"), (ALIGNMENT, "", "held-out"), (ORDER, "", "kendall")}
    records = last_records(results, results.transforms, sorted(numbers))
    return plot("figure-order", figure, results, scale, records, floors=floors)


def _draw_floors(
    panel: Axes, results: Results, column: Column, distance: Mapping[tuple[str, str], float]
) -> list[Floor]:
    low = list[tuple[float, Floor]]()
    for transform in results.transforms if column.measure == "ZS" else ():
        floor = results.floors.highest(column.task, column.metric, transform, results.source)
        places = [place for (_, name), place in distance.items() if name == transform]
        low += [(places[0], floor)] if floor and places else []
    if low := sorted(low, key=lambda point: point[0]):
        x, y = [place for place, _ in low], [100 * floor.value for _, floor in low]
        panel.plot(x, y, FLOOR, color=SOFT, linewidth=1.5, zorder=1)
    return [floor for _, floor in low]


def _parameters(results: Results) -> dict[str, list[str]]:
    parts_of = {name: results.transform(name).parts for name in results.transforms}
    parts_of = {
        name: parts for name, parts in parts_of.items() if not REWRITES & {part["kind"] for part in parts}
    }
    scripts = {name: [part for part in parts if part["kind"] in SHARED] for name, parts in parts_of.items()}
    orders = {
        name: [_parameter(part) for part in parts if part["kind"] not in SHARED]
        for name, parts in parts_of.items()
    }
    parameters: dict[str, list[str]] = {}
    for name, order in orders.items():
        if order:
            still = [other for other in parts_of if scripts[other] == scripts[name] and not orders[other]]
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
        heads = (("ZS, %", "ZS"), ("Δ, points", DELTA))
        columns += [Column(f"{score_title(task)}, {head}", measure, metric, task) for head, measure in heads]
    if results.has(ALIGNMENT):
        columns += [Column(f"alignment@1, {m} types, %", ALIGNMENT, m) for m in ("all", "held-out")]
    return columns


class Sharer(NamedTuple):
    """A language, which kind of vocabulary it shares with its source, and the share of its sub-word tokens in
    common."""

    language: str
    kind: str
    tokens: float


def sharers(results: Results) -> list[Sharer]:
    """Return the languages whose shared vocabulary was measured, in ascending order of the share of
    sub-words."""
    found = []
    for language in results.transforms:
        parts = results.transform(language).parts
        shares = (mean(results.scores(SHARING, o, language, "", "tokens")) for o in results.objectives)
        share = next(filter(None, shares), None)
        if share and len(parts) == 1 and parts[0]["kind"] in SHARED:
            kind = SHARED[parts[0]["kind"]][parts[0].get("by", "uniform")] if share.mean else NEW
            found.append(Sharer(language, kind, share.mean))
    return sorted(found, key=lambda sharer: sharer.tokens)


def overlap_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield a table of transfer and alignment by shared vocabulary, if any language shares some of its
    vocabulary."""
    if any(0 < sharer.tokens < 1 for sharer in sharers(results)):
        columns = columns_of("overlap")
        columns += [
            replace(column, remarks=False)
            for column in task_columns(("ZS", DELTA, RETAINED), main_metrics(results))
        ]
        columns += [Column(f"alignment@1 {metric}", ALIGNMENT, metric) for metric in ("all", "held-out")]
        header = ("objective", "language", *(column.head for column in columns))
        rows = rows_of(results, columns, [sharer.language for sharer in sharers(results)])
        yield "overlap", table("overlap", results, scale, header, rows, 2)


def overlap_figure(results: Results, scale: str) -> Plot | None:
    """Plot each task's Delta and alignment@1 against the share of sub-words in common, with one row per
    objective and one marker per kind of sharing. Return None if there are fewer than three distinct shares or
    more than four objectives."""
    languages, rows = sharers(results), results.objectives
    columns = [Column(f"{score_title(t)}, Δ", DELTA, metric, t) for t, metric in main_metrics(results)]
    columns += [Column("alignment@1, %", ALIGNMENT, "held-out")] if results.has(ALIGNMENT) else []
    few, look = len({sharer.tokens for sharer in languages}) < FEWEST, looks(results)
    if few or not columns or len(rows) > MOST_ROWS or not look:
        return None

    def draw(panel: Axes, cell: tuple[str, Column]) -> None:
        objective, column = cell
        colour = look[objective].colour
        for kind, marker in MARKERS.items():
            own, dial = (
                means(
                    (100 * s.tokens, column.values(results, objective, s.language))
                    for s in languages
                    if s.kind in those
                )
                for those in ((kind,), (NEW, kind))
            )
            if own:
                draw_points(
                    panel, own, colour, bounds=column.bounds, marker=marker, markersize=5, linestyle="none"
                )
            if len(own) > 1:
                x, y = [share for share, _ in dial], [100 * value.mean for _, value in dial]
                panel.plot(x, y, "-", color=colour, linewidth=1, zorder=1)
        if column.task:
            panel.axhline(0, color=INK, linewidth=0.8)

    panels = [
        (f"{results.objective_title(o)}\n{column.head}", (o, column)) for o in rows for column in columns
    ]
    title, labels = heading("figure-overlap"), ("shared, %", "")
    shared: dict[str, Any] = {"sharex": True, "sharey": "col"}
    with small_multiples(title, panels, draw, len(columns), 1.8, labels, **shared) as (figure, _):
        kinds = {sharer.kind for sharer in languages}
        legend(figure, [key(kind, INK, marker) for kind, marker in MARKERS.items() if kind in kinds], 4)
    numbers = [(SHARING, "", "tokens"), (ALIGNMENT, "", "held-out")]
    numbers += [(measure, task, metric) for task, metric in PRIMARY.items() for measure in ("SUP", "ZS")]
    records = last_records(results, [sharer.language for sharer in languages], numbers)
    return plot("figure-overlap", figure, results, scale, records)
