"""Intervals of figures: in percent, within the range of the measure, and faint where they are wide."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from analysis.statistics.intervals import Estimate

SHARE, DIFFERENCE = (0.0, 1.0), (-1.0, 1.0)
"""The bounds of a share, and of a difference of two."""
WIDE = 40.0
"""Longer intervals are thin and pale, so that they do not hide what they say little about."""
USUAL, FAINT = (1.0, 0.75), (0.7, 0.35)
"""Points of a line's width, and its opacity."""
Ends = tuple[float, float] | None


def ends(estimates: Sequence[Estimate], bounds: tuple[float, float] = SHARE) -> list[Ends]:
    """Where the intervals begin and end, in percent and cut at `bounds`; None where there is none."""
    return [
        (100 * max(one.low, bounds[0]), 100 * min(one.high, bounds[1]))
        if one.low is not None and one.high is not None
        else None
        for one in estimates
    ]


def draw_intervals(
    axes: Axes,
    places: Sequence[float],
    intervals: Sequence[Ends],
    colour: str,
    across: bool = False,
    wide: float = WIDE,
    zorder: float = 1.8,
) -> None:
    """Draw intervals as lines behind their points, at `places` of the other axis; `across` draws them horizontally."""
    known = [(place, *both) for place, both in zip(places, intervals, strict=True) if both]
    if not known:
        return
    at, low, high = zip(*known, strict=True)
    widths, opacities = zip(*(FAINT if b - a > wide else USUAL for _, a, b in known), strict=True)
    draw = axes.hlines if across else axes.vlines
    colours = [to_rgba(colour, opacity) for opacity in opacities]
    draw(at, low, high, colors=colours, linewidths=widths, zorder=zorder)
