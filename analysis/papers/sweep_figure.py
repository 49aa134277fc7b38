"""Plot the results of a sweep against the values of a setting."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from calque.analysis.papers.looks import Look, keys, looks
from calque.analysis.papers.sweep import SweepResults, column_of, sweep_question
from calque.analysis.report.drawing import (
    HALF,
    INK,
    LETTER,
    MOST,
    Point,
    draw_points,
    key,
    legend,
    level,
    small_multiples,
    wrapped,
)
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import listed

PANELS = 4  # maximum number of columns of panels
TICKS = 12  # maximum number of values on an axis
SERIES = ("#440154", "#31688e", "#35b779", "#b8a100", "#c2410c", "#7a7a7a")  # of a setting's values
MARKERS = "osD^vP"


class _Axis(NamedTuple):
    place: dict[str, float]
    labels: list[str]
    turned: bool = False
    scale: str = ""

    def draw(self, panel: Axes) -> None:
        places, style = list(self.place.values()), dict[str, Any]()
        if self.turned:
            style = {"rotation": 40, "ha": "right"}
        panel.set_xticks(places, self.labels, **style)
        margin = (panel.margins() or (0.0, 0.0))[0] * (max(places) - min(places))
        panel.set_xlim(min(places) - margin, max(places) + margin)


def _axis(values: Sequence[str], inches: float) -> _Axis:
    """Choose positions for values on an axis of the given length. Numbers get a linear scale or, if labels
    would overlap, a logarithmic one; if they would still overlap, or if values are not numbers, they are
    evenly spaced. Labels are rotated if there is too little room."""
    if not _is_numeric(values):
        turned = sum(len(value) + 1 for value in values) * LETTER > inches
        return _Axis({value: float(place) for place, value in enumerate(values)}, list(values), turned)
    numbers = [float(value) for value in values]
    labels = [f"{number:,.10g}" for number in numbers]
    widths = {False: max(map(len, labels)) + 1, True: 2}  # widths in letters, by whether labels are rotated
    for turned, letters in widths.items():
        gap = letters * LETTER / inches
        if _apart(numbers, gap):
            return _Axis(dict(zip(values, numbers, strict=True)), labels, turned)
        if min(numbers) > 0 and _apart(logs := [math.log10(number) for number in numbers], gap):
            return _Axis(dict(zip(values, logs, strict=True)), labels, turned, " (log scale)")
    order = sorted(numbers)
    places = {value: float(order.index(number)) for value, number in zip(values, numbers, strict=True)}
    return _Axis(places, labels, widths[False] * len(labels) * LETTER > inches)


def _apart(places: Sequence[float], gap: float) -> bool:
    """Whether all neighbours are at least a fraction `gap` of the axis apart."""
    gaps = [b - a for a, b in pairwise(sorted(places))]
    return min(gaps) >= gap * sum(gaps) > 0


def _is_numeric(values: Sequence[str]) -> bool:
    try:
        return all(map(math.isfinite, map(float, values)))
    except ValueError:
        return False


Panel = tuple[str, str, str]  # a language, an objective ("" for all) and a column


@dataclass(frozen=True)
class _Drawing:
    """Everything that the panels share. `x` is the index of the setting on the horizontal axis; `series` is
    the index of the second setting, if any, which has one line per value."""

    sweep: SweepResults
    look: Mapping[str, Look]
    x: int
    series: int | None
    axis: _Axis

    @property
    def values(self) -> list[str]:
        return [] if self.series is None else self.sweep.values[self.series]

    def points(self, language: str, objective: str, column: str, value: str | None = None) -> list[Point]:
        """Return an objective's numbers by their position on the axis; with `value`, only one line's."""
        numbers, points = self.sweep.numbers[column], list[Point]()
        for row in self.sweep.rows:
            of_line = self.series is None or value in (None, row.values[self.series])
            if row[:2] == (language, objective) and row in numbers and of_line:
                points.append((self.axis.place[row.values[self.x]], numbers[row]))
        return sorted(points, key=lambda point: point[0])

    def draw(self, panel: Axes, content: Panel) -> None:
        language, group, column = content
        if column.endswith("Δ"):
            panel.axhline(0, color=INK, linewidth=0.8)
        for objective, its in self.look.items():
            points, baseline = self.points(language, objective, column), objective in self.sweep.baselines
            if baseline and self.draw_level(panel, points, its):
                continue
            if self.series is None:
                draw_points(panel, points, its.colour, its.marker, linestyle=its.dash)
            elif not baseline and objective == group:
                for value, colour, marker in zip(self.values, SERIES, MARKERS, strict=False):
                    line = self.points(language, objective, column, value)
                    draw_points(panel, line, colour, marker, linestyle="-")
        self.axis.draw(panel)

    def draw_level(self, panel: Axes, points: Sequence[Point], look: Look) -> bool:
        """Draw a number as a horizontal line if it is the same for all values; return whether it is."""
        if len({estimate for _, estimate in points}) != 1:
            return False
        places = list(self.axis.place.values())
        level(panel, points[0][1].mean, [min(places), max(places)], "--", look.colour, linewidth=1.2)
        return True


def sweep_figure(sweep: SweepResults, scale: str) -> Plot | None:
    """Plot each number against a setting's values, with one panel per measure and one row of panels per
    language. A single setting gets one line per objective; a second setting gets one line per value, in a row
    of panels for each objective. Baselines are horizontal lines. Return None if there are more than two
    settings, or more values or languages than a figure can show."""
    columns, look = list(sweep.numbers)[:PANELS], looks(sweep.objectives)
    if not columns or not look or len(sweep.keys) > 2:
        return None
    x, series = _roles(sweep)
    groups = _groups(sweep, look, series)
    several = len(groups) > 1
    across = min(len(columns), PANELS if several else 2)
    axis = _axis(sweep.values[x], (HALF - 0.5) / across - 0.25)
    drawing = _Drawing(sweep, look, x, series, axis)
    if len(groups) > MOST or len(drawing.values) > len(SERIES) or len(axis.place) > TICKS:
        return None
    panels: list[tuple[str, Panel]] = []
    for language, objective in groups:
        head = ", ".join(filter(None, (language, sweep.objectives.objective_title(objective))))
        panels += [(f"{head}\n{name}" if several else name, (language, objective, name)) for name in columns]
    shared: dict[str, Any] = {"sharex": True, "sharey": "col"} if several else {}
    shared["labels"] = wrapped(sweep.titles[x] + axis.scale, (HALF - 0.5) / across), "%"
    with small_multiples(sweep_question(sweep), panels, drawing.draw, across, 1.9, **shared) as (figure, _):
        title = None if series is None else sweep.titles[series]
        legend(figure, _entries(sweep, look, drawing.values), 4, title=title)
    records = [
        r for results in sweep.variants.values() for r in results.records if column_of(r, results) in columns
    ]
    by = listed(sweep.titles)
    caption = f"Percent, by {by}. Bars are 95 % intervals {_over(sweep)}. Scale: {scale}."
    return Plot(figure, "figure-sweep", f"{sweep.first.study} by {by}", caption, records)


def _entries(sweep: SweepResults, look: Mapping[str, Look], values: Sequence[str]) -> list[Artist]:
    entries: list[Artist] = [key(value, SERIES[i], MARKERS[i], line="-") for i, value in enumerate(values)]
    if not values:
        own = {name: its for name, its in look.items() if name not in sweep.baselines}
        entries = keys(sweep.objectives, own)
    for name in sweep.baselines:
        entries.append(key(sweep.objectives.objective_title(name), look[name].colour, "", line="--"))
    return entries


def _over(sweep: SweepResults) -> str:
    several = {len(each.seeds) > 1 for each in sweep.variants.values()}
    kinds = {"over seeds": True, "over the test items of one seed": False}
    return ", or ".join(kind for kind, of_seeds in kinds.items() if of_seeds in several)


def _groups(sweep: SweepResults, look: Mapping[str, Look], series: int | None) -> list[tuple[str, str]]:
    objectives = [""] if series is None else [name for name in look if name not in sweep.baselines]
    there = {row[:2] for row in sweep.rows} | {(row.language, "") for row in sweep.rows}
    languages = dict.fromkeys(row.language for row in sweep.rows)
    return [pair for pair in product(languages, objectives) if pair in there]


def _roles(sweep: SweepResults) -> tuple[int, int | None]:
    """Return the indices of the setting for the horizontal axis (a numeric one if possible, then the one with
    more values), and of the setting with one line per value, if there are two."""
    if len(sweep.keys) == 1:
        return 0, None
    first, second = sweep.values
    swapped = (_is_numeric(second), len(second)) > (_is_numeric(first), len(first))
    return (1, 0) if swapped else (0, 1)
