"""Prepare training curves, such as loss and speed, for the page's script to draw."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calque.analysis.report.html import script_json, scroll, text, themed
from calque.analysis.report.table import visible

Point = tuple[int, float | None]  # a step, and a value if it is finite
POINTS = 200  # maximum number of points on a curve
LEFT_OUT = {"step", "of", "tokens", "learning rate", "mfu"}
PROBE, MEASURE = "probe", "alignment@1"  # the probe's key in a run's metrics, and its title


@dataclass(frozen=True)
class Curves:
    """The metrics recorded while a run was trained; each row contains a `step`."""

    run: str
    group: str
    colour: str
    rows: Sequence[Mapping[str, Any]]


def curves_html(curves: Sequence[Curves]) -> str:
    """Return an element with the curves' data, in which the script draws them, or "" without curves."""
    panels, steps = _panels(curves), list[list[int]]()
    if not panels:
        return ""
    drawn = []
    for name, lines in panels.items():
        numbered = []
        for run, points in lines:
            x = [step for step, _ in points]
            if x not in steps:
                steps.append(x)
            numbered.append([run, steps.index(x), [number for _, number in points]])
        drawn.append([visible(name), numbered])
    runs = [[visible(run.run), visible(run.group)] for run in curves]
    data = {"runs": runs, "steps": steps, "panels": drawn}
    groups = {run.group: run.colour for run in curves}
    switches = "".join(
        f'<button type=button aria-pressed=true data-s="{i}" '
        f'style="--c:{themed(colour)}">{text(group)}</button>'
        for i, (group, colour) in enumerate(groups.items())
    )
    return (
        f"<div id=training><p class=legend role=group aria-label=Series>{switches}</p>\n"
        "<div class=curves></div>\n"
        "<p><label>Step <input type=range min=0 value=0></label> <output></output></p>\n"
        f"{scroll('Means at the step', '<table></table>', 'scroll steps')}\n"
        "<noscript><p>Curves are drawn by a script.</p></noscript>"
        f'<script type="application/json">{script_json(data)}</script></div>'
    )


def _panels(curves: Sequence[Curves]) -> dict[str, list[tuple[int, list[Point]]]]:
    panels: dict[str, dict[int, list[Point]]] = {}
    for number, run in enumerate(curves):
        for row in run.rows:
            for name, value in _quantities(row):
                shown = float(f"{value:.4g}") if math.isfinite(value) else None
                panels.setdefault(name, {}).setdefault(number, []).append((row["step"], shown))
    order = sorted(panels, key=lambda name: (name.startswith(PROBE), not name.startswith("loss")))
    titles = {name: name.replace(f"{PROBE}: ", f"{MEASURE}, ") for name in order}
    return {titles[name]: [(run, _thinned(points)) for run, points in panels[name].items()] for name in order}


def _quantities(row: Mapping[str, Any]) -> Iterable[tuple[str, float]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            numbers = {f"{name}: {part}": number for part, number in value.items()}
        else:
            numbers = {} if name in LEFT_OUT else {name: value}
        yield from ((title, number) for title, number in numbers.items() if isinstance(number, int | float))


def _thinned(points: list[Point]) -> list[Point]:
    if len(points) <= POINTS:
        return points
    return [points[round(i * (len(points) - 1) / (POINTS - 1))] for i in range(POINTS)]
