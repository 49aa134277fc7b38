"""Prepare training curves for the page's script to draw: loss, gradient norm, speed and probes for every
run."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calque.analysis.report.html import script_json, text, themed
from calque.analysis.report.table import visible

Point = tuple[int, float | None]  # a step and a value, None if the value is not finite
POINTS = 200  # maximum number of points on a curve
LEFT_OUT = {"step", "of", "tokens", "learning rate", "mfu"}
PROBE, MEASURE = "probe", "alignment@1"  # the probe's key in a run's metrics, and its title


@dataclass(frozen=True)
class Curves:
    """The metrics recorded during a run's training, in rows with a `step` each."""

    run: str
    group: str
    colour: str
    rows: Sequence[Mapping[str, Any]]


def curves_html(curves: Sequence[Curves]) -> str:
    """Return an HTML element with the curves' data, in which the script draws them; "" if there are no
    curves."""
    panels, steps = _panels(curves), list[list[int]]()
    if not panels:
        return ""
    drawn = []
    for name, lines in panels.items():
        numbered = []
        for run, points in lines:
            x, y = [step for step, _ in points], [number for _, number in points]
            numbered.append([run, _number(steps, x), y])
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
        "<div class='scroll steps' tabindex=0 role=region aria-label='Means at the step'>"
        "<table></table></div>\n"
        "<noscript><p>Curves are drawn by a script.</p></noscript>"
        f'<script type="application/json">{script_json(data)}</script></div>'
    )


def _panels(curves: Sequence[Curves]) -> dict[str, list[tuple[int, list[Point]]]]:
    panels: dict[str, dict[int, list[Point]]] = {}
    for number, run in enumerate(curves):
        for row in run.rows:
            for name, value in quantities(row):
                shown = float(f"{value:.4g}") if math.isfinite(value) else None
                panels.setdefault(name, {}).setdefault(number, []).append((row["step"], shown))
    order = sorted(panels, key=lambda name: (name.startswith(PROBE), not name.startswith("loss")))
    titles = {name: name.replace(f"{PROBE}: ", f"{MEASURE}, ") for name in order}
    return {titles[name]: [(run, _thinned(points)) for run, points in panels[name].items()] for name in order}


def quantities(row: Mapping[str, Any]) -> Iterable[tuple[str, float]]:
    """Yield the names and values of a row's numbers that are drawn, such as `loss: mlm`."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from (
                (f"{name}: {part}", number)
                for part, number in value.items()
                if isinstance(number, int | float)
            )
        elif name not in LEFT_OUT and isinstance(value, int | float):
            yield name, value


def _thinned(points: list[Point]) -> list[Point]:
    if len(points) <= POINTS:
        return points
    return [points[round(i * (len(points) - 1) / (POINTS - 1))] for i in range(POINTS)]


def _number(all_steps: list[list[int]], steps: list[int]) -> int:
    if steps not in all_steps:
        all_steps.append(steps)
    return all_steps.index(steps)
