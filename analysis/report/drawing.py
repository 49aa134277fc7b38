"""The style of figures and their parts: panels, legends, and points with intervals."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib import rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from calque.analysis.report.table import visible
from calque.analysis.statistics.intervals import Estimate

T = TypeVar("T")
Fill = Literal["full", "left", "right", "bottom", "top", "none"]
Dash = Literal["", "-", "--", ":", "-."]
INK, SOFT = "#222222", "#9a9a9a"
"""Colours of letters and lines, and of the background."""
FONT = "DejaVu Sans"
STYLE = rc_params_from_file(Path(__file__).with_name("figure.mplstyle"), use_default_template=False)
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
MOST = len(FILLS)  # most transforms that a figure can distinguish, or give a panel each; tables have room for more
FULL, HALF = 7.4, 4.8  # widths of figures in inches; half a page (3.3 inches) shows the letters of HALF in 7 points
LETTER = 0.082  # mean width of a letter in inches
ENTRY = 2.0  # width of an entry of a legend in inches
HEAD = 0.6  # inches for a figure's title and the label of its lower axis
SHARE, DIFFERENCE = (0.0, 1.0), (-1.0, 1.0)  # the bounds of a share, and of a difference of two
FILLED = 0.84  # part of a group's room that its members take
WIDE = 40.0  # longer intervals are thin and pale and do not stretch the axis, so that points stay apart
USUAL, FAINT = (1.0, 0.75), (0.6, 0.35)  # line width in points, and opacity
Ends = tuple[float, float] | None
Point = tuple[float, Estimate]  # A place on one axis, and the mean there with its interval


def prefer_own_font() -> None:
    """Draw with Matplotlib's own files of FONT: in a system's, glyphs have other numbers, and SVGs would differ."""
    fontManager.ttflist[:] = [font for font in fontManager.ttflist if font.name != FONT]
    for style in ("", "-Bold", "-Oblique", "-BoldOblique"):
        fontManager.addfont(Path(mpl.get_data_path(), "fonts", "ttf", f"DejaVuSans{style}.ttf"))


prefer_own_font()


def key(label: str, colour: str, marker: str, fill: Fill = "full", line: Dash = "", small: bool = False) -> Line2D:
    """One entry of a legend."""
    size = 4 if small else 7
    return Line2D([], [], color=colour, marker=marker, fillstyle=fill, linestyle=line, markersize=size, label=label)


def wrapped(text: str, inches: float) -> str:
    """A text in lines that fit a width."""
    letters = max(8, int(inches / LETTER))
    lines = (textwrap.wrap(line, letters, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join("\n".join(line) for line in lines)


def legend(figure: Figure, handles: Sequence[Any], columns: int, **options: Any) -> Legend:
    """The legend of a figure, below it, in all the columns that fit, at most `columns`; the figure grows by it."""
    for handle in handles:
        handle.set_label(wrapped(handle.get_label(), ENTRY))
    for number in range(min(columns, len(handles)), 0, -1):
        box = figure.legend(handles=handles, loc="outside lower center", ncols=number, **options)
        extent = box.get_window_extent()
        if number == 1 or extent.width <= figure.bbox.width:
            break
        box.remove()
    figure.set_figheight(figure.get_figheight() + extent.height / figure.dpi)
    return box


@contextmanager
def styled(width: float, height: float, title: str) -> Iterator[Figure]:
    """A new figure, in inches, drawn in the common style."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        figure.suptitle(visible(title), wrap=True)
        yield figure


def ends(estimates: Sequence[Estimate], bounds: tuple[float, float] = SHARE) -> list[Ends]:
    """Both ends of each interval, in percent and clipped to `bounds`; None if there is none."""
    intervals = [estimate.interval for estimate in estimates]
    return [both and (100 * max(both[0], bounds[0]), 100 * min(both[1], bounds[1])) for both in intervals]


def draw_intervals(
    axes: Axes,
    places: Sequence[float],
    intervals: Sequence[Ends],
    colour: str,
    across: bool = False,
    wide: float = WIDE,
) -> None:
    """Draw intervals as lines behind their points, at `places` of the other axis; `across` draws them horizontally. The
    axis does not stretch to intervals longer than `wide`, which end at the frame."""
    bars = [(place, both) for place, both in zip(places, intervals, strict=True) if both]
    for faint, (width, opacity) in enumerate((USUAL, FAINT)):
        some = [
            [(end, place) if across else (place, end) for end in both]
            for place, both in bars
            if (both[1] - both[0] > wide) == faint
        ]
        if some:
            lines = LineCollection(some, colors=[to_rgba(colour, opacity)], linewidths=width, zorder=1.8)
            axes.add_collection(lines, autolim=not faint)


def draw_points(
    axes: Axes,
    points: Sequence[Point],
    colour: str,
    across: bool = False,
    bounds: tuple[float, float] = SHARE,
    **style: Any,
) -> None:
    """Draw means in percent at places of the other axis, as markers or a line, with their intervals behind them."""
    places, means = [place for place, _ in points], [100 * estimate.mean for _, estimate in points]
    axes.plot(*((means, places) if across else (places, means)), color=colour, **style)
    draw_intervals(axes, places, ends([estimate for _, estimate in points], bounds), colour, across)


def grid(figure: Figure, number: int, columns: int, **options: Any) -> np.ndarray:
    """`number` panels in at most `columns` columns, as an array of rows; spare panels are removed."""
    axes: np.ndarray = figure.subplots(-(-number // columns), columns, squeeze=False, **options)
    for spare in axes.flat[number:]:
        spare.remove()
    return axes


@contextmanager
def small_multiples(
    title: str,
    panels: Sequence[tuple[str, T]],
    draw: Callable[[Axes, T], None],
    columns: int,
    height: float,
    labels: tuple[str, str] = ("", ""),
    width: float = HALF,
    **shared: Any,
) -> Iterator[tuple[Figure, np.ndarray]]:
    """A figure of panels of one kind, each with a title and its content drawn by `draw`. A row of panels is `height`
    inches high; `labels` are for both axes, below the last row and left of the first column. Yields the figure and its
    panels, for a legend and further changes."""
    columns = min(columns, len(panels))
    with styled(width, HEAD + height * -(-len(panels) // columns), title) as figure:
        axes = grid(figure, len(panels), columns, **shared)
        for place, (panel, (name, content)) in enumerate(zip(axes.flat, panels, strict=False)):
            draw(panel, content)
            panel.set_title(wrapped(name, (width - 0.5) / columns))
            panel.set_xlabel(labels[0] if place >= len(panels) - columns else "")
            panel.set_ylabel(labels[1] if place % columns == 0 else "")
        yield figure, axes


def in_groups(members: Sequence[str], groups: Sequence[T]) -> Iterator[tuple[float, str, T]]:
    """Every member of every group with its place: groups are around 0, 1, 2 ..., and their members side by side."""
    for group, content in enumerate(groups):
        for i, member in enumerate(members):
            yield group + (i - (len(members) - 1) / 2) * FILLED / len(members), member, content
