"""When each quantity leaves its null: a panel for each language, a row for each objective."""

from __future__ import annotations

from matplotlib.axes import Axes

from analysis.papers.growth.axes import places, step_axis
from analysis.papers.growth.curves import Curves
from analysis.papers.growth.onset import NEVER, Onsets, onsets
from analysis.papers.growth.quantities import QUANTITIES, Quantity
from analysis.papers.growth.tables import NOTE
from analysis.report.plot import Plot
from analysis.report.style import FULL, LOOKS, MOST, key, legend, styled
from analysis.results.results import Results

LINES = dict(zip((quantity.name for quantity in QUANTITIES), LOOKS, strict=False))
"""Colour and marker of each quantity."""
LETTERS = 8.0


def onset_figure(results: Results, scale: str) -> Plot | None:
    """The median step of each quantity's onset, and the range over seeds. None without two steps."""
    curves, columns = Curves(results), results.transforms
    if len(curves.steps) < 2 or len(columns) > MOST:
        return None
    title = "What comes first: the step at which each quantity leaves its null"
    with styled(FULL, 1.7 + 0.62 * len(results.objectives), f"{title}\n{scale}") as figure:
        panels = figure.subplots(1, len(columns), sharex=True, sharey=True, squeeze=False)[0]
        for panel, transform in zip(panels, columns, strict=True):
            for row, objective in enumerate(results.objectives):
                _row(panel, row, onsets(curves, objective, transform), curves.steps)
            panel.set_title(results.transform_title(transform), fontsize=9.5)
            step_axis(panel, curves.steps)
            panel.set_xlim(right=_never(curves.steps) * 1.4)
            panel.axvline(max(curves.steps) * 1.25, color="#bbbbbb", linewidth=0.8)
            panel.tick_params(labelsize=LETTERS, length=2)
            panel.xaxis.label.set_size(LETTERS)
            panel.grid(axis="y", visible=False)
            panel.text(_never(curves.steps), -0.55, "never", fontsize=LETTERS - 1, ha="center", va="bottom")
        panels[0].set_yticks(range(len(results.objectives)), [results.objective_title(o) for o in results.objectives])
        panels[0].set_ylim(len(results.objectives) - 0.5, -0.75)
        handles = [key(name, *look) for name, look in LINES.items()]
        legend(figure, handles, 4, fontsize=LETTERS)
        caption = (
            f"{NOTE} Lines reach from the earliest to the latest seed; an open marker stands where a quantity "
            f"never leaves "
            "in half of the seeds or more. Within an objective, quantities stand one below the other, always in "
            "the same "
            "order."
        )
        return Plot(figure, "figure-onset", title, caption, curves.records(*QUANTITIES))


def _row(panel: Axes, row: int, found: dict[Quantity, Onsets], steps: list[int]) -> None:
    """The quantities of one objective, one below the other."""
    if row % 2:
        panel.axhspan(row - 0.5, row + 0.5, color="#f3f3f3", linewidth=0, zorder=0)
    for place, quantity in enumerate(QUANTITIES):
        if quantity not in found:
            continue
        one, (colour, marker) = found[quantity], LINES[quantity.name]
        y = row + 0.84 * (place / (len(QUANTITIES) - 1) - 0.5)
        low, middle, high = (_place(step, steps) for step in (one.low, one.middle, one.high))
        panel.plot([low, high], [y, y], color=colour, linewidth=1.6, solid_capstyle="butt")
        fill = "none" if one.middle == NEVER else colour
        panel.plot(middle, y, marker=marker, color=colour, markerfacecolor=fill, markersize=5, linestyle="")


def _place(step: float, steps: list[int]) -> float:
    return _never(steps) if step == NEVER else places([step], steps)[0]


def _never(steps: list[int]) -> float:
    return max(steps) * 1.9
