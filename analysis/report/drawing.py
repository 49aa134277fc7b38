"""Draw the parts of figures, and record the values drawn so that a page can show them."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import matplotlib as mpl
import numpy as np
from matplotlib import rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter

from calque.analysis.report.table import visible
from calque.analysis.statistics.intervals import Estimate

T = TypeVar("T")
Fill = Literal["full", "left", "right", "bottom", "top", "none"]
Dash = Literal["", "-", "--", ":", "-."]
INK, SOFT = "#222222", "#9a9a9a"  # colours of text and main lines, and of secondary lines
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
"""Colours and markers that people with common forms of colour blindness can distinguish (Okabe and Ito's
colours come first). In greyscale, the markers suffice."""
FILLS: tuple[Fill, ...] = ("full", "none", "left", "bottom", "right", "top")
MOST = len(FILLS)  # maximum number of transforms in a figure
FULL, HALF = (7.4, 4.8)  # figure widths in inches; HALF's text is 7 points high in a column of 3.3 inches
LETTER = 0.082  # mean width of a letter in inches
ENTRY = 2.0  # width of a legend entry in inches
HEAD = 0.6  # height in inches of a figure's title and lower axis label
SPARE = "spare"  # the label of a panel without content
EDGE = 3  # a mark may lie this many pixels outside its panel
NOTHING = ("", "None", "none", " ", None)  # Matplotlib's values for a missing marker, dash or colour
FILLED = 0.84  # fraction of a group's width that its members fill
WIDE = 40.0  # in points; longer intervals are drawn thin and pale and do not affect the axis limits
USUAL, FAINT = (1.0, 0.75), (0.6, 0.35)  # line widths in points, and opacities
Ends = tuple[float, float] | None
Point = tuple[float, Estimate]  # a position on one axis, and the mean with its interval on the other

# Use Matplotlib's copy of the font, because glyph numbers, and therefore SVGs, differ between versions.
fontManager.ttflist[:] = [font for font in fontManager.ttflist if font.name != FONT]
for _style in ("", "-Bold", "-Oblique", "-BoldOblique"):
    fontManager.addfont(Path(mpl.get_data_path(), "fonts", "ttf", f"DejaVuSans{_style}.ttf"))


def key(
    label: str, colour: str, marker: str, fill: Fill = "full", line: Dash = "", small: bool = False
) -> Line2D:
    """Return a legend entry."""
    style: dict[str, Any] = {"marker": marker, "fillstyle": fill, "markersize": 4 if small else 7}
    return Line2D([], [], color=colour, linestyle=line, label=label, **style)


def wrapped(text: str, inches: float) -> str:
    """Break text into lines that fit a width."""
    wrap = textwrap.TextWrapper(max(8, int(inches / LETTER)), break_long_words=False, break_on_hyphens=False)
    return "\n".join("\n".join(wrap.wrap(line)) for line in text.split("\n"))


def legend(figure: Figure, handles: Sequence[Any], columns: int, **options: Any) -> None:
    """Add a legend in place of a spare panel if it fits there; otherwise add it below the figure, in at most
    `columns` columns, and make the figure higher."""
    for handle in handles:
        handle.set_label(wrapped(handle.get_label(), ENTRY))
    if spare := next((axes for axes in figure.axes if axes.get_label() == SPARE), None):
        if _legend_in(spare, figure, handles, options):
            return
        spare.remove()
    for number in range(min(columns, len(handles)), 0, -1):
        box = figure.legend(handles=handles, loc="outside lower center", ncols=number, **options)
        extent = box.get_window_extent()
        if number == 1 or extent.width <= figure.bbox.width:
            break
        box.remove()
    figure.set_figheight(figure.get_figheight() + extent.height / figure.dpi)


def _legend_in(spare: Axes, figure: Figure, handles: Sequence[Any], options: dict[str, Any]) -> bool:
    """Draw a legend in place of a panel if it fits and the figure is narrow; return whether it was drawn."""
    place = spare.get_gridspec()
    if place is None or figure.get_figwidth() > HALF:
        return False
    rows, columns = place.get_geometry()
    room: dict[str, Any] = {"bbox_to_anchor": (0, 0, 1, 1), "bbox_transform": spare.transAxes}
    box = figure.legend(handles=handles, loc="center right", **room, **options)
    box.set_in_layout(False)
    extent = box.get_window_extent()
    height = (figure.bbox.height - HEAD * figure.dpi) / rows
    fits = extent.width <= figure.bbox.width / columns and extent.height <= height
    if not fits:
        box.remove()
    return fits


_WIDTH: ContextVar[float] = ContextVar("width", default=0.0)


@contextmanager
def of_width(inches: float) -> Iterator[None]:
    """Within this context, draw figures for a printed paper: with the given width and without titles."""
    before = _WIDTH.set(inches)
    try:
        yield
    finally:
        _WIDTH.reset(before)


@contextmanager
def styled(width: float, height: float, title: str) -> Iterator[Figure]:
    """Yield a figure in the common style; width and height are in inches."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH.get() or width, height), layout="constrained")
        if not _WIDTH.get():
            figure.suptitle(visible(title), wrap=True)
        yield figure


def ends(estimates: Sequence[Estimate]) -> list[Ends]:
    """Return the ends of each estimate's interval, if any, in percent."""
    intervals = [estimate.interval for estimate in estimates]
    return [both and (100 * both[0], 100 * both[1]) for both in intervals]


def draw_intervals(
    axes: Axes, places: Sequence[float], intervals: Sequence[Ends], colour: str, across: bool = False
) -> None:
    """Draw vertical (with `across`, horizontal) intervals at positions on the other axis, behind points."""
    bars = [(place, both) for place, both in zip(places, intervals, strict=True) if both]
    for faint, (width, opacity) in enumerate((USUAL, FAINT)):
        some = [
            [(end, place) if across else (place, end) for end in both]
            for place, both in bars
            if (both[1] - both[0] > WIDE) == faint
        ]
        if some:
            lines = LineCollection(some, colors=[to_rgba(colour, opacity)], linewidths=width, zorder=1.8)
            axes.add_collection(lines, autolim=not faint)


def draw_points(
    axes: Axes,
    points: Sequence[Point],
    colour: str,
    marker: str,
    across: bool = False,
    linestyle: str = "none",
    markersize: float = 5,
    **style: Any,
) -> None:
    """Draw means in percent as markers, on a line unless `linestyle` is "none", in front of their intervals;
    with `across`, values are on the horizontal axis."""
    places, means = [place for place, _ in points], [100 * estimate.mean for _, estimate in points]
    intervals = ends([estimate for _, estimate in points])
    x, y = (means, places) if across else (places, means)
    style |= {"color": colour, "marker": marker, "linestyle": linestyle, "markersize": markersize}
    draw_line(axes, x, y, intervals, across, **style)
    draw_intervals(axes, places, intervals, colour, across)


def draw_line(
    axes: Axes,
    x: Any,
    y: Any,
    intervals: Sequence[Ends] = (),
    across: bool = False,
    fmt: str = "",
    place: str = "",
    **style: Any,
) -> None:
    """Draw a line as `axes.plot` does, and record the value at each marker; without markers, record the value
    of a horizontal or vertical line. `intervals` are recorded, not drawn. With `across`, values are on the
    horizontal axis."""
    (line,) = axes.plot(x, y, fmt, **style) if fmt else axes.plot(x, y, **style)
    points: list[tuple[float, float]] = np.array(line.get_data(orig=False), float).T.tolist()
    if line.get_marker() in NOTHING:
        level = len(points) == 2 and any(a == b for a, b in zip(*points, strict=True))
        points = [(sum(x) / 2, sum(y) / 2) for x, y in [zip(*points, strict=True)]] if level else []
    every = line.get_markevery()
    first, step = every if isinstance(every, tuple) else (0, 1)
    for i in range(int(first), len(points), int(step)):
        note(axes, points[i], line, intervals[i] if intervals else None, across, place)


def level(
    axes: Axes, share: float, ends: Sequence[float], dash: str, colour: str, across: bool = False, **line: Any
) -> None:
    """Draw a share as a horizontal (with `across`, vertical) line between two positions."""
    values = [100 * share] * 2
    x, y = (values, ends) if across else (ends, values)
    draw_line(axes, x, y, across=across, fmt=dash, color=colour, **line)


def bar(axes: Axes, x: float, height: float, width: float, interval: Ends = None, **style: Any) -> None:
    """Draw a vertical bar, and record its value and its interval, which is not drawn."""
    (patch,) = axes.bar(x, height, width, **style)
    note(axes, (x, height), patch, interval)


@dataclass(frozen=True)
class Mark:
    """A number drawn in a figure: its position in the SVG in points, its panel, its series in the legend, its
    position on the other axis in words, and its value with its interval."""

    x: float
    y: float
    panel: str
    series: str
    place: str
    value: str

    @property
    def words(self) -> str:
        return " · ".join(filter(None, astuple(self)[2:]))


class _Noted(NamedTuple):
    point: tuple[float, float]
    artist: Line2D | Patch
    interval: Ends
    across: bool
    place: str


_NOTED: WeakKeyDictionary[Axes, list[_Noted]] = WeakKeyDictionary()
_NAMES: WeakKeyDictionary[Axes, str] = WeakKeyDictionary()


def name_panel(panel: Axes, name: str) -> None:
    """Set the name that a page shows for a panel instead of its title."""
    _NAMES[panel] = name


def note(
    axes: Axes,
    point: tuple[float, float],
    artist: Line2D | Patch,
    interval: Ends = None,
    across: bool = False,
    place: str = "",
) -> None:
    """Record a number drawn at a point; `place` describes its position in words."""
    _NOTED.setdefault(axes, []).append(_Noted(point, artist, interval, across, place))


def marks_of(figure: Figure) -> list[Mark]:
    """Return the numbers recorded while a figure was drawn, except those outside their panel."""
    entries = {
        _look(handle)[:length]: _line(words.get_text())
        for length in (2, 3)
        for legend in figure.legends
        for words, handle in reversed(list(zip(legend.get_texts(), legend.legend_handles, strict=True)))
        if isinstance(handle, Line2D | Patch)
    }
    marks = []
    for axes in figure.axes:
        panel = _line(_NAMES.get(axes, "") or axes.get_title())
        for noted in _NOTED.get(axes, ()):
            right, up = axes.transData.transform(noted.point)
            if not axes.get_window_extent().padded(EDGE).contains(right, up):
                continue
            here, there = noted.point if noted.across else noted.point[::-1]
            place = noted.place or _place(axes.yaxis if noted.across else axes.xaxis, there)
            x, y = (round(float(length) * 72 / figure.dpi, 1) for length in (right, figure.bbox.height - up))
            look = _look(noted.artist)
            series = entries.get(look, entries.get(look[:2], ""))
            marks.append(Mark(x, y, panel, series, place, _value(here, noted.interval)))
    return marks


def _look(artist: Line2D | Patch) -> tuple[str, str, str]:
    if isinstance(artist, Patch):
        return to_hex(artist.get_facecolor()), "bar", artist.get_hatch() or ""
    if artist.get_marker() in NOTHING:
        return to_hex(artist.get_color()), "", str(artist.get_linestyle())
    hollow = artist.get_fillstyle() == "none" or artist.get_markerfacecolor() in ("none", "#ffffff")
    fill = "none" if hollow else str(artist.get_fillstyle())
    return to_hex(artist.get_color()), str(artist.get_marker()), fill


def _place(axis: Any, number: float) -> str:
    """Return the label of the tick at a position on an axis or, without such a tick, the position."""
    places, form = axis.get_major_locator(), axis.get_major_formatter()
    label = _line(axis.get_label_text())
    if isinstance(places, FixedLocator) and isinstance(form, FixedFormatter | FuncFormatter):
        ticks = dict(zip(places(), form.format_ticks(list(places())), strict=True))
        if not ticks:
            return label
        near = min(ticks, key=lambda tick: abs(tick - number))
        if abs(near - number) <= 0.5 and ticks[near]:
            return _line(ticks[near])
    return f"{label}: {_written(number)}" if label else _written(number)


def _value(number: float, interval: Ends) -> str:
    return _written(number) + (f" [{', '.join(map(_written, interval))}]" if interval else "")


def _line(words: str) -> str:
    return " ".join(words.split())


def _written(number: float) -> str:
    form = ",.0f" if number == int(number) else ",.1f" if abs(number) >= 10 else ".3g"
    return format(number, form).replace("-", "−")


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
    """Yield a figure and the array of its panels, each with a title and with its content drawn by `draw`."""
    columns, width = min(columns, len(panels)), _WIDTH.get() or width
    with styled(width, HEAD + height * -(-len(panels) // columns), title) as figure:
        axes = figure.subplots(-(-len(panels) // columns), columns, squeeze=False, **shared)
        for place, spare in enumerate(axes.flat[len(panels) :]):
            spare.set(label=SPARE)
            spare.set_axis_off()
            if place:  # only the first may be used for a legend
                spare.remove()
        for place, (panel, (name, content)) in enumerate(zip(axes.flat, panels, strict=False)):
            draw(panel, content)
            panel.set_title(wrapped(name, (width - 0.5) / columns))
            _NAMES.setdefault(panel, name)
            panel.set_xlabel(labels[0] if place >= len(panels) - columns else "")
            panel.set_ylabel(labels[1] if place % columns == 0 else "")
        yield figure, axes


def in_groups(members: Sequence[str], groups: Sequence[T]) -> Iterator[tuple[float, str, T]]:
    """For each member of each group, yield its position, the member and the group. Groups are centred at 0,
    1, 2 ..., with their members side by side."""
    for group, content in enumerate(groups):
        for i, member in enumerate(members):
            yield group + (i - (len(members) - 1) / 2) * FILLED / len(members), member, content
