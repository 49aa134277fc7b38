"""Transfer and alignment against the order distance from the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis.papers.align_mlm.wording import ALIGNED, DELTA, SUP, ZS
from analysis.papers.looks import Look, distinct, looks
from analysis.records.floor import Floor
from analysis.records.record import ALIGNMENT, ORDER, Record
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, SOFT, Dash, key, legend, styled
from analysis.report.whiskers import DIFFERENCE, SHARE, draw_intervals, ends
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

FEWEST = 3
"""The fewest points of a line that is drawn."""
DISTANCE = (
    "The order distance is the mean share of a sentence’s pairs of words that stand the other way round in the derived "
    "language (normalised Kendall τ): 0 is the source’s own order, 1 its mirror."
)
FLOOR: Dash = ":"
DASHES: tuple[Dash, ...] = ("-", "--", ":", "-.")
KINDS = ("all", "held-out")
STEEPEST: dict[str, Any] = {"linewidth": 6, "alpha": 0.25, "solid_capstyle": "butt"}
SCRIPTS = ("Transliterate", "Cognates")
PARAMETERS = {"Invert": "inversion", "Permute": "random order"}
Part = Mapping[str, Any]


@dataclass(frozen=True)
class Line:
    """One objective over the settings of a parameter: (distance, value) at each, the nearest order first."""

    objective: str
    parameter: str
    points: tuple[tuple[float, Estimate], ...]

    def worst(self, sign: int) -> tuple[int, float]:
        """The point after which the value changes most for the worse (in the direction of `sign`), and how much."""
        changes = [sign * (after.mean - before.mean) for (_, before), (_, after) in pairwise(self.points)]
        return max(enumerate(changes), key=lambda change: change[1])


@dataclass(frozen=True)
class Panel:
    """What a panel shows; `worse` is the sign of a change for the worse."""

    title: str
    worse: int
    measure: str
    task: str
    metric: str

    @property
    def bounds(self) -> tuple[float, float]:
        """Of the numbers that it shows."""
        return DIFFERENCE if self.measure == "DELTA" else SHARE

    def look(self, results: Results, objective: str, transform: str) -> BySeed:
        """Its numbers for one cell of the study."""
        if self.measure == "DELTA":
            return results.deltas(objective, transform, self.task, self.metric)
        return results.scores(self.measure, objective, transform, self.task, self.metric)


def order_figure(results: Results, scale: str) -> Plot | None:
    """ZS and Delta of each task and alignment@1 against order distance, a line for each objective and parameter.

    None where no parameter has three settings, or with more parameters or objectives than a figure can tell apart.
    """
    parameters = _parameters(results)
    rows = _rows(results)
    too_many = len(parameters) > len(DASHES) or not distinct(results)
    if not rows or too_many or _longest(results, parameters, rows) < FEWEST:
        return None
    look, dash = looks(results), dict(zip(parameters, DASHES, strict=False))
    details = []
    with styled(FULL, 1.6 + 2.3 * len(rows), f"Transfer against word order\n{scale}") as figure:
        axes = figure.subplots(len(rows), 2, sharex=True, squeeze=False)
        for drawn, row in zip(axes, rows, strict=True):
            for place, panel in zip(drawn, row, strict=True):
                lines = _lines(results, parameters, panel)
                _draw_floor(place, results, panel)
                for line in lines:
                    _draw(place, line, panel, look[line.objective], dash[line.parameter])
                place.set_title(panel.title)
                details += [f"{panel.title}: {'; '.join(_breaks(lines, panel.worse))}."] if lines else []
        for place in axes[-1]:
            place.set_xlabel("order distance")
        handles = [key(results.objective_title(name), one.colour, one.marker, line="-") for name, one in look.items()]
        handles += [key(name, INK, "", line=dash[name]) for name in parameters]
        floors = [floor for _, floor in chain.from_iterable(_floors(results, panel) for row in rows for panel in row)]
        handles += [key("floor of ZS", SOFT, "", line=FLOOR)] if floors else []
        handles.append(Line2D([], [], color=INK, label="largest loss between neighbours", **STEEPEST))
        legend(figure, handles, 3, handlelength=3)
        several = len(results.seeds) > 1
        caption = (
            f"{DISTANCE} Each line starts where the order is the source’s, and has a broad pale line behind it where "
            f"it worsens most between neighbouring points. {SUP} {ZS} {DELTA} {ALIGNED} Bars are 95 % intervals "
        ) + ("over seeds." if several else "over the test items of one seed, which say nothing of other seeds.")
        if floors:
            caption += " The floor is what the strongest baseline of words has that learns from the source alone."
        title = "Transfer and alignment against order distance"
        return Plot(figure, "figure-order", title, caption, _shown(results), details=details, floors=floors)


def _parameters(results: Results) -> dict[str, list[str]]:
    """Each parameter's name and its transforms, with those of the same script that leave the order as it is."""
    made = {name: results.transform(name).parts for name in results.transforms}
    scripts = {name: [part for part in parts if part["kind"] in SCRIPTS] for name, parts in made.items()}
    orders = {name: [_parameter(part) for part in parts if part["kind"] not in SCRIPTS] for name, parts in made.items()}
    turned: dict[str, list[str]] = {}
    for name, order in orders.items():
        if order:
            still = [other for other in made if scripts[other] == scripts[name] and not orders[other]]
            turned.setdefault(" + ".join(order) + _of_script(scripts[name]), still).append(name)
    return turned


def _parameter(part: Part) -> str:
    """What a part does to the order, however far: an interpolation and a fraction of sentences are two parameters."""
    if part["kind"] == "Reorder":
        return f"towards {part['superstrate']}" + (", by sentences" if part["p"] != 1 else "")
    return PARAMETERS.get(part["kind"], str(part["kind"]))


def _of_script(parts: Sequence[Part]) -> str:
    """What is said of a script that is not wholly new."""
    if not parts:
        return ", the source’s script"
    if parts[0]["kind"] == "Cognates":
        return f", {100 * parts[0]['share']:g} % of the stems shared"
    overlap, by = parts[0]["overlap"], parts[0].get("by", "")
    return f", {100 * overlap:g} % of the types shared{f' ({by})' if by else ''}" if overlap else ""


def _rows(results: Results) -> list[tuple[Panel, Panel]]:
    """A row a task with ZS beside Delta, and one of alignment: all types beside held-out ones."""
    rows = []
    for task in (task for task in PRIMARY if task in results.tasks):
        metric = PRIMARY[task]
        title = f"{task_title(task)} {metric_title(metric)}"
        zero_shot = Panel(f"{title}, ZS, %", -1, "ZS", task, metric)
        rows.append((zero_shot, Panel(f"{title}, Δ, points", 1, "DELTA", task, metric)))
    if any(record.measure == ALIGNMENT for record in results.records):
        all_types, held_out = (Panel(f"alignment@1, {kind} types, %", -1, ALIGNMENT, "", kind) for kind in KINDS)
        rows.append((all_types, held_out))
    return rows


def _lines(results: Results, parameters: dict[str, list[str]], panel: Panel) -> list[Line]:
    """The lines of a panel that have two points to join at least."""
    lines = []
    for objective in results.objectives:
        for parameter, transforms in parameters.items():
            estimates = [
                (mean(results.distances(objective, t)), mean(panel.look(results, objective, t))) for t in transforms
            ]
            known = sorted(((x.mean, y) for x, y in estimates if x and y), key=lambda point: point[0])
            if len(known) > 1:
                lines.append(Line(objective, parameter, tuple(known)))
    return lines


def _draw(axes: Axes, line: Line, panel: Panel, look: Look, dash: Dash) -> None:
    colour, marker, _ = look
    x = [distance for distance, _ in line.points]
    y = [100 * value.mean for _, value in line.points]
    draw_intervals(axes, x, ends([value for _, value in line.points], panel.bounds), colour)
    face = colour if dash == DASHES[0] else "#ffffff"
    axes.plot(x, y, dash, color=colour, marker=marker, markersize=5, markerfacecolor=face)
    after, change = line.worst(panel.worse)
    if change > 0:
        axes.plot(x[after : after + 2], y[after : after + 2], color=colour, zorder=1, **STEEPEST)


def _floors(results: Results, panel: Panel) -> list[tuple[float, Floor]]:
    """The floor of a panel of ZS at each order distance, ascending; none in other panels."""
    found = []
    for transform in results.transforms if panel.measure == "ZS" else ():
        floor = results.floors.highest(panel.task, panel.metric, transform, results.source)
        distances = [mean(results.distances(objective, transform)) for objective in results.objectives]
        known = [distance.mean for distance in distances if distance]
        if floor and known:
            found.append((known[0], floor))
    return sorted(found, key=lambda point: point[0])


def _draw_floor(axes: Axes, results: Results, panel: Panel) -> None:
    points = _floors(results, panel)
    if points:
        values = [100 * floor.value for _, floor in points]
        axes.plot([distance for distance, _ in points], values, FLOOR, color=SOFT, linewidth=1.5, zorder=1)


def _breaks(lines: list[Line], worse: int) -> list[str]:
    """Where each line worsens most."""
    said = []
    for line in lines:
        after, change = line.worst(worse)
        name = f"{line.objective} ({line.parameter})"
        if change > 0:
            (x, _), (y, _) = line.points[after : after + 2]
            said.append(f"{name} worsens most from distance {x:.2f} to {y:.2f}, by {100 * change:.1f} points")
        else:
            said.append(f"{name} never worsens")
    return said


def _longest(results: Results, parameters: dict[str, list[str]], rows: list[tuple[Panel, Panel]]) -> int:
    """The points of the longest line."""
    lines = (line for row in rows for panel in row for line in _lines(results, parameters, panel))
    return max((len(line.points) for line in lines), default=0)


def _shown(results: Results) -> list[Record]:
    kinds = {(measure, task, metric) for task, metric in PRIMARY.items() for measure in ("SUP", "ZS")}
    kinds |= {(ALIGNMENT, "", "all"), (ALIGNMENT, "", "held-out"), (ORDER, "", "kendall")}
    return [
        record
        for objective in results.objectives
        for transform in results.transforms
        for measure, task, metric in sorted(kinds)
        for record in results.last(measure, objective, transform, task, metric).values()
    ]
