"""Transfer and alignment against the order distance from the source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis.papers.columns import Column, main_metrics, score_title
from analysis.papers.looks import Look, keys, looks
from analysis.papers.texts import heading, plot
from analysis.records.record import ALIGNMENT, DELTA, ORDER, Floor
from analysis.report.drawing import FULL, INK, SOFT, Dash, Point, draw_points, key, legend, styled
from analysis.report.plot import Plot
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY

FEWEST = 3  # the fewest points of a line that is drawn
FLOOR: Dash = ":"
DASHES: tuple[Dash, ...] = ("-", "--", ":", "-.")
STEEPEST: dict[str, Any] = {"linewidth": 6, "alpha": 0.25, "solid_capstyle": "butt"}
SCRIPTS = ("Transliterate", "Cognates")
PARAMETERS = {"Invert": "inversion", "Permute": "random order"}


@dataclass(frozen=True)
class Line:
    """One objective over the settings of a parameter: (distance, value) at each, the nearest order first."""

    objective: str
    parameter: str
    points: list[Point]

    def worst(self, sign: int) -> tuple[int, float]:
        """The point after which the value changes most for the worse (in the direction of `sign`), and how much."""
        changes = [sign * (after.mean - before.mean) for (_, before), (_, after) in pairwise(self.points)]
        return max(enumerate(changes), key=lambda change: change[1])


def order_figure(results: Results, scale: str) -> Plot | None:
    """ZS and Delta of each task and alignment@1 against order distance, a line for each objective and parameter.

    None where no parameter has three settings, or with more parameters or objectives than a figure can tell apart.
    """
    parameters, columns, look = _parameters(results), _columns(results), looks(results)
    if not columns or len(parameters) > len(DASHES) or not look:
        return None
    lines = {column.head: _lines(results, parameters, column) for column in columns}
    if max((len(line.points) for its in lines.values() for line in its), default=0) < FEWEST:
        return None
    dash = dict(zip(parameters, DASHES, strict=False))
    details, floors = [], list[Floor]()
    with styled(FULL, 1.6 + 2.3 * (len(columns) // 2), heading("figure-order", scale)) as figure:
        axes = figure.subplots(len(columns) // 2, 2, sharex=True, squeeze=False)
        for panel, column in zip(axes.flat, columns, strict=True):
            if low := _floors(results, column):
                distances, values = zip(*((distance, 100 * floor.value) for distance, floor in low), strict=True)
                panel.plot(distances, values, FLOOR, color=SOFT, linewidth=1.5, zorder=1)
            floors += [floor for _, floor in low]
            for line in lines[column.head]:
                _draw(panel, line, column, look[line.objective], dash[line.parameter])
            panel.set_title(column.head)
            if lines[column.head]:
                details.append(f"{column.head}: {'; '.join(_breaks(lines[column.head], _worse(column)))}.")
        for panel in axes[-1]:
            panel.set_xlabel("order distance")
        handles = keys(results, look, line="-")
        handles += [key(name, INK, "", line=dash[name]) for name in parameters]
        handles += [key("floor of ZS", SOFT, "", line=FLOOR)] if floors else []
        handles.append(Line2D([], [], color=INK, label="largest loss between neighbours", **STEEPEST))
        legend(figure, handles, 3, handlelength=3)
    numbers = {(measure, task, metric) for task, metric in PRIMARY.items() for measure in ("SUP", "ZS")}
    numbers |= {(ALIGNMENT, "", "all"), (ALIGNMENT, "", "held-out"), (ORDER, "", "kendall")}
    records = [
        record
        for objective in results.objectives
        for transform in results.transforms
        for measure, task, metric in sorted(numbers)
        for record in results.last(measure, objective, transform, task, metric).values()
    ]
    return plot("figure-order", figure, results, records, floors=floors, details=details)


def _parameters(results: Results) -> dict[str, list[str]]:
    """Each parameter's name and its transforms, with those of the same script that leave the order as it is."""
    parts_of = {name: results.transform(name).parts for name in results.transforms}
    scripts = {name: [part for part in parts if part["kind"] in SCRIPTS] for name, parts in parts_of.items()}
    orders = {
        name: [_parameter(part) for part in parts if part["kind"] not in SCRIPTS] for name, parts in parts_of.items()
    }
    parameters: dict[str, list[str]] = {}
    for name, order in orders.items():
        if order:
            still = [other for other in parts_of if scripts[other] == scripts[name] and not orders[other]]
            parameters.setdefault(" + ".join(order) + _script(scripts[name]), still).append(name)
    return parameters


def _parameter(part: Mapping[str, Any]) -> str:
    """What a part does to the order, however far: an interpolation and a fraction of sentences are two parameters."""
    if part["kind"] == "Reorder":
        return f"towards {part['superstrate']}" + (", by sentences" if part["p"] != 1 else "")
    return PARAMETERS.get(part["kind"], str(part["kind"]))


def _script(parts: Sequence[Mapping[str, Any]]) -> str:
    """The remark on a script that is not wholly new."""
    if not parts:
        return ", the source’s script"
    if parts[0]["kind"] == "Cognates":
        return f", {100 * parts[0]['share']:g} % of the stems shared"
    overlap, by = parts[0]["overlap"], parts[0].get("by", "")
    return f", {100 * overlap:g} % of the types shared{f' ({by})' if by else ''}" if overlap else ""


def _columns(results: Results) -> list[Column]:
    """A row of two panels a task, ZS and Delta, and one of alignment of all types and of held-out ones."""
    columns = []
    for task, metric in main_metrics(results):
        columns.append(Column(f"{score_title(task)}, ZS, %", "ZS", metric, task))
        columns.append(Column(f"{score_title(task)}, Δ, points", DELTA, metric, task))
    if results.has(ALIGNMENT):
        columns += [Column(f"alignment@1, {m} types, %", ALIGNMENT, m) for m in ("all", "held-out")]
    return columns


def _worse(column: Column) -> int:
    """The sign of a change for the worse."""
    return 1 if column.measure == DELTA else -1


def _distance(results: Results, objective: str, transform: str) -> float | None:
    """The mean distance between the source's word order and the derived language's."""
    distance = mean(results.scores(ORDER, objective, transform, "", "kendall"))
    return distance.mean if distance else None


def _lines(results: Results, parameters: dict[str, list[str]], column: Column) -> list[Line]:
    """The lines of a panel that have two points to join at least."""
    lines = []
    for objective in results.objectives:
        for parameter, transforms in parameters.items():
            pairs = [(_distance(results, objective, t), mean(column.values(results, objective, t))) for t in transforms]
            points = sorted(((x, y) for x, y in pairs if x is not None and y), key=lambda point: point[0])
            if len(points) > 1:
                lines.append(Line(objective, parameter, points))
    return lines


def _draw(axes: Axes, line: Line, column: Column, look: Look, dash: Dash) -> None:
    face = look.colour if dash == DASHES[0] else "#ffffff"
    style: dict[str, Any] = {"marker": look.marker, "markersize": 5, "markerfacecolor": face, "linestyle": dash}
    draw_points(axes, line.points, look.colour, bounds=column.bounds, **style)
    after, change = line.worst(_worse(column))
    if change > 0:
        x, y = zip(*((x, 100 * value.mean) for x, value in line.points[after : after + 2]), strict=True)
        axes.plot(x, y, color=look.colour, zorder=1, **STEEPEST)


def _floors(results: Results, column: Column) -> list[tuple[float, Floor]]:
    """The floor of a panel of ZS at each order distance, ascending; none in other panels."""
    found = []
    for transform in results.transforms if column.measure == "ZS" else ():
        floor = results.floors.highest(column.task, column.metric, transform, results.source)
        distances = (_distance(results, objective, transform) for objective in results.objectives)
        first = next((distance for distance in distances if distance is not None), None)
        if floor and first is not None:
            found.append((first, floor))
    return sorted(found, key=lambda point: point[0])


def _breaks(lines: list[Line], worse: int) -> list[str]:
    """Where each line worsens most."""
    sentences = []
    for line in lines:
        after, change = line.worst(worse)
        name = f"{line.objective} ({line.parameter})"
        if change > 0:
            (x, _), (y, _) = line.points[after : after + 2]
            sentences.append(f"{name} worsens most from distance {x:.2f} to {y:.2f}, by {100 * change:.1f} points")
        else:
            sentences.append(f"{name} never worsens")
    return sentences
