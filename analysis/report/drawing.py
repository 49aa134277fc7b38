"""The style of figures and their parts: panels, legends, points with intervals, and labels that do not meet."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from analysis.report.table import visible
from analysis.statistics.intervals import Estimate

Fill = Literal["full", "left", "right", "bottom", "top", "none"]
Dash = Literal["", "-", "--", ":", "-."]
INK, SOFT = "#222222", "#9a9a9a"
"""Of letters and lines, and of what stands behind."""
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "legend.frameon": False,
    "figure.dpi": 100,
    "svg.hashsalt": "calque",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
LOOKS = (
    ("#0072B2", "o"),
    ("#009E73", "s"),
    ("#E69F00", "^"),
    ("#D55E00", "D"),
    ("#CC79A7", "v"),
    ("#56B4E9", "P"),
    ("#882255", "X"),
    ("#8A8A00", "*"),
    ("#7F7F7F", "h"),
    ("#5B3A8C", "p"),
)
"""Colours and markers, distinguishable with any common colour vision (Okabe and Ito's first), and by marker in grey."""
FILLS: tuple[Fill, ...] = ("full", "none", "left", "bottom", "right", "top")
MOST = len(FILLS)  # transforms that a figure can tell apart, or give a panel each; tables have room for more
FULL = 7.4  # inches of a figure: as wide as a page, and legible on a phone
SHARE, DIFFERENCE = (0.0, 1.0), (-1.0, 1.0)  # the bounds of a share, and of a difference of two
WIDE = 40.0  # longer intervals are thin and pale, so that they do not hide what they say little about
USUAL, FAINT = (1.0, 0.75), (0.7, 0.35)  # points of a line's width, and its opacity
Ends = tuple[float, float] | None
Point = tuple[float, Estimate]
"""A place on one axis, and the mean there with its interval."""


def key(label: str, colour: str, marker: str, fill: Fill = "full", line: Dash = "", small: bool = False) -> Line2D:
    """One entry of a legend."""
    size = 4 if small else 8
    return Line2D([], [], color=colour, marker=marker, fillstyle=fill, linestyle=line, markersize=size, label=label)


def legend(figure: Figure, handles: Sequence[Any], columns: int, **options: Any) -> Legend:
    """The key of a figure, below it, in as many columns as the names leave room for and `columns` at most."""
    for number in range(min(columns, len(handles)), 0, -1):
        box = figure.legend(handles=handles, loc="outside lower center", ncols=number, **options)
        if number == 1 or box.get_window_extent().width <= figure.bbox.width:
            break
        box.remove()
    return box


def fills(transforms: Sequence[str]) -> dict[str, Fill]:
    """How each transform's markers are filled, up to `MOST` of them."""
    return dict(zip(transforms, FILLS, strict=False))


@contextmanager
def styled(width: float, height: float, title: str) -> Iterator[Figure]:
    """A new figure, in inches, drawn in the common style."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        figure.suptitle(visible(title), fontsize=12, wrap=True)
        yield figure


def ends(estimates: Sequence[Estimate], bounds: tuple[float, float] = SHARE) -> list[Ends]:
    """Where the intervals begin and end, in percent and cut at `bounds`; None where there is none."""
    intervals = [one.interval for one in estimates]
    return [both and (100 * max(both[0], bounds[0]), 100 * min(both[1], bounds[1])) for both in intervals]


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
    bars = [(place, *both) for place, both in zip(places, intervals, strict=True) if both]
    if not bars:
        return
    at, low, high = zip(*bars, strict=True)
    widths, opacities = zip(*(FAINT if b - a > wide else USUAL for _, a, b in bars), strict=True)
    draw = axes.hlines if across else axes.vlines
    colours = [to_rgba(colour, opacity) for opacity in opacities]
    draw(at, low, high, colors=colours, linewidths=widths, zorder=zorder)


def draw_points(
    axes: Axes,
    points: Sequence[Point],
    colour: str,
    across: bool = False,
    bounds: tuple[float, float] = SHARE,
    **style: Any,
) -> None:
    """Draw means in percent at places of the other axis, as markers or a line, with their intervals behind them."""
    places, means = [place for place, _ in points], [100 * one.mean for _, one in points]
    axes.plot(*((means, places) if across else (places, means)), color=colour, **style)
    draw_intervals(axes, places, ends([one for _, one in points], bounds), colour, across)


def grid(figure: Figure, number: int, columns: int, **options: Any) -> np.ndarray:
    """So many panels in at most as many columns, as an array of rows; places that are left over are removed."""
    axes: np.ndarray = figure.subplots(-(-number // columns), columns, squeeze=False, **options)
    for spare in axes.flat[number:]:
        spare.remove()
    return axes


def steps_axis(panel: Axes) -> None:
    """A few whole numbers along the axis of steps."""
    panel.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def spread(values: Sequence[float], gap: float) -> list[float]:
    """The values, from 0 to 1, moved so that no two are nearer than `gap` and none leaves; their order stays.

    More than fit are spread around the middle.
    """
    groups: list[tuple[list[int], float]] = []  # those that touch, and the place of their middle
    for i in sorted(range(len(values)), key=lambda i: values[i]):
        groups.append(([i], _inside(values[i], 1, gap)))
        while len(groups) > 1 and _distance(groups[-2], groups[-1], gap) < gap - 1e-12:
            (more, at), (few, before) = groups.pop(), groups.pop()
            both = [*few, *more]
            groups.append((both, _inside((at * len(more) + before * len(few)) / len(both), len(both), gap)))
    moved = [0.0] * len(values)
    for members, middle in groups:
        for rank, i in enumerate(members):
            moved[i] = middle + gap * (rank - (len(members) - 1) / 2)
    return moved


def _inside(middle: float, members: int, gap: float) -> float:
    """The middle of a group moved so that the group lies between 0 and 1, or around the middle of these."""
    half = min(0.5, gap * (members - 1) / 2)
    return min(max(middle, half), 1 - half)


def _distance(below: tuple[list[int], float], above: tuple[list[int], float], gap: float) -> float:
    """From the last member of a group to the first of the next."""
    return above[1] - below[1] - gap * (len(above[0]) + len(below[0]) - 2) / 2
