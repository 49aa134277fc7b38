"""Draw the parts of figures in one style, and save figures together with the records that they show."""

import dataclasses
import io
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import matplotlib as mpl
from matplotlib import rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.lines import Line2D

from calque.analysis.records import json_rows
from calque.analysis.records.record import Floor, Published, Record
from calque.analysis.report.table import visible
from calque.analysis.statistics import Estimate
from calque.derive.files import whole_file

T = TypeVar("T")
Fill = Literal["full", "left", "right", "bottom", "top", "none"]
Dash = Literal["", "-", "--", ":", "-."]
INK, SOFT = "#222222", "#9a9a9a"  # colours of text and main lines, and of secondary lines
FONT = "DejaVu Sans"
STYLE = rc_params_from_file(Path(__file__).with_name("figure.mplstyle"), use_default_template=False)
LOOKS = tuple(
    zip(
        "#0072B2 #009E73 #E69F00 #D55E00 #CC79A7 #56B4E9 #882255 #8A8A00 #7F7F7F #5B3A8C".split(),
        "os^DvPX*hp",
        strict=True,
    )
)
"""Colours that people with common forms of colour blindness can distinguish (Okabe and Ito's first), and
markers, which suffice in greyscale."""
FILLS: tuple[Fill, ...] = ("full", "none", "left", "bottom", "right", "top")
MOST = len(FILLS)  # maximum number of transforms in a figure
FULL, HALF = (7.4, 4.8)  # figure widths in inches; HALF's text is 7 points high in a column of 3.3 inches
LETTER = 0.082  # mean width of a letter in inches
ENTRY = 2.0  # width of a legend entry in inches
HEAD = 0.6  # height in inches of a figure's title and lower axis label
SPARE = "spare"  # the label of a panel without content
FILLED = 0.84  # fraction of a group's width that its members fill
WIDE = 40.0  # in points; longer intervals are drawn thin and pale and do not affect the axis limits
USUAL, FAINT = (1.0, 0.75), (0.6, 0.35)  # line widths in points, and opacities
Point = tuple[float, Estimate]  # a position on one axis, and the mean with its interval on the other

# Use Matplotlib's copy of the font, because glyph numbers, and therefore SVGs, differ between versions.
fontManager.ttflist[:] = [font for font in fontManager.ttflist if font.name != FONT]
for _style in ("", "-Bold", "-Oblique", "-BoldOblique"):
    fontManager.addfont(Path(mpl.get_data_path(), "fonts", "ttf", f"DejaVuSans{_style}.ttf"))


def key(
    label: str, colour: str, marker: str = "", fill: Fill = "full", line: Dash = "", size: float = 7
) -> Line2D:
    """Return a legend entry."""
    style: dict[str, Any] = {"marker": marker, "fillstyle": fill, "markersize": size}
    return Line2D([], [], color=colour, linestyle=line, label=label, **style)


def wrapped(text: str, inches: float) -> str:
    """Break text into lines that fit a width."""
    wrap = textwrap.TextWrapper(max(8, int(inches / LETTER)), break_long_words=False, break_on_hyphens=False)
    return "\n".join("\n".join(wrap.wrap(line)) for line in text.split("\n"))


def _legend(figure: Figure, handles: Sequence[Any], columns: int, options: Mapping[str, Any]) -> None:
    """Add a legend in place of a spare panel or, if it does not fit, below the figure, which grows."""
    for handle in handles:
        handle.set_label(wrapped(handle.get_label(), ENTRY))
    if spare := next((axes for axes in figure.axes if axes.get_label() == SPARE), None):
        if figure.get_figwidth() <= HALF and _legend_in(spare, figure, handles, options):
            return
        spare.remove()
    for number in range(min(columns, len(handles)), 0, -1):
        box = figure.legend(handles=handles, loc="outside lower center", ncols=number, **options)
        extent = box.get_window_extent()
        if number == 1 or extent.width <= figure.bbox.width:
            break
        box.remove()
    figure.set_figheight(figure.get_figheight() + extent.height / figure.dpi)


def _legend_in(spare: Axes, figure: Figure, handles: Sequence[Any], options: Mapping[str, Any]) -> bool:
    """Draw the legend in a spare panel, and return whether it fits."""
    room: dict[str, Any] = {"bbox_to_anchor": (0, 0, 1, 1), "bbox_transform": spare.transAxes}
    box = figure.legend(handles=handles, loc="center right", **room, **options)
    box.set_in_layout(False)
    extent, grid = box.get_window_extent(), spare.get_gridspec()
    rows, columns = grid.get_geometry() if grid else (1, 1)
    height = (figure.bbox.height - HEAD * figure.dpi) / rows
    fits = bool(extent.width <= figure.bbox.width / columns and extent.height <= height)
    if not fits:
        box.remove()
    return fits


def draw_intervals(
    axes: Axes, points: Sequence[Point], colour: str, across: bool = False, unit: float = 100
) -> None:
    """Draw vertical (with `across`, horizontal) intervals of shares, multiplied by `unit`."""
    for is_wide, (width, opacity) in enumerate((USUAL, FAINT)):
        lines = []
        for place, estimate in points:
            ends = sorted(unit * end for end in estimate.interval or ())
            if ends and (ends[1] - ends[0] > WIDE) == is_wide:
                lines.append([(end, place) if across else (place, end) for end in ends])
        if lines:
            style: dict[str, Any] = {"colors": [to_rgba(colour, opacity)], "linewidths": width}
            axes.add_collection(LineCollection(lines, **style, zorder=1.8), autolim=not is_wide)


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
    """Draw means in percent with their intervals; with `across`, values are on the horizontal axis."""
    places, means = [place for place, _ in points], [100 * estimate.mean for _, estimate in points]
    x, y = (means, places) if across else (places, means)
    axes.plot(x, y, color=colour, marker=marker, linestyle=linestyle, markersize=markersize, **style)
    draw_intervals(axes, points, colour, across)


def level(
    axes: Axes, share: float, ends: Sequence[float], dash: str, colour: str, across: bool = False, **line: Any
) -> None:
    """Draw a share as a horizontal (with `across`, vertical) line between two positions."""
    values = [100 * share] * 2
    x, y = (values, ends) if across else (ends, values)
    axes.plot(x, y, dash, color=colour, **line)


def small_multiples(
    title: str,
    panels: Sequence[tuple[str, T]],
    draw: Callable[[Axes, T], None],
    grid: tuple[int, float],
    handles: Sequence[Any] = (),
    across: int = 3,
    *,
    legend: Mapping[str, Any] = {},
    labels: tuple[str, str] = ("", ""),
    width: float = HALF,
    **shared: Any,
) -> Figure:
    """Return a figure whose panels have titles and are drawn by `draw`. `grid` is the number of columns and
    the height of a panel; heights and `width` are in inches. `labels` are for outer panels, and `handles` are
    shown in a legend with `across` columns and Matplotlib's options `legend`."""
    columns = min(grid[0], len(panels))
    rows = -(-len(panels) // columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, HEAD + grid[1] * rows), layout="constrained")
        figure.suptitle(visible(title), wrap=True)
        axes = figure.subplots(rows, columns, squeeze=False, **shared).flat
        for place, spare in enumerate(axes[len(panels) :]):
            spare.set(label=SPARE)
            spare.set_axis_off()
            if place:  # the legend needs only one
                spare.remove()
        for place, (panel, (name, content)) in enumerate(zip(axes, panels, strict=False)):
            draw(panel, content)
            panel.set_title(wrapped(name, (width - 0.5) / columns))
            if labels[0] and place >= len(panels) - columns:
                panel.set_xlabel(labels[0])
            if labels[1] and place % columns == 0:
                panel.set_ylabel(labels[1])
        if handles:
            _legend(figure, handles, across, legend)
    return figure


def in_groups(members: Sequence[str], groups: Sequence[T]) -> Iterator[tuple[float, str, T]]:
    """Yield the position of every member in every group; groups are centred at 0, 1, 2 ..."""
    for group, content in enumerate(groups):
        for i, member in enumerate(members):
            yield group + (i - (len(members) - 1) / 2) * FILLED / len(members), member, content


@dataclass(frozen=True)
class Plot:
    """A figure, its caption, and the numbers that it shows."""

    figure: Figure
    name: str
    title: str
    caption: str
    records: Sequence[Record]
    published: Sequence[Published] = ()
    floors: Sequence[Floor] = ()

    def save(self, folder: Path, pdf: bool = False) -> None:
        """Write `name`.png, .svg, with `pdf` also .pdf, and .jsonl with all numbers, deterministically."""
        with mpl.rc_context(STYLE), whole_file(folder / f"{self.name}.png") as part:
            self.figure.savefig(part, format="png", dpi=200, metadata={"Software": None})
        with whole_file(folder / f"{self.name}.svg") as part:
            part.write_text(svg_of(self.figure), encoding="utf-8")
        if pdf:  # last, because saving changes the layout
            with mpl.rc_context(STYLE), whole_file(folder / f"{self.name}.pdf") as part:
                self.figure.savefig(part, format="pdf", metadata={"CreationDate": None, "Creator": None})
        records = [dataclasses.replace(record, items=None) for record in self.records]
        floors = [dataclasses.replace(floor, items=None) for floor in self.floors]
        json_rows.write(folder / f"{self.name}.jsonl", [*records, *floors, *self.published])


def svg_of(figure: Figure) -> str:
    """Return a figure as SVG; the same figure always gives the same text."""
    text = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return visible(text.getvalue())  # Matplotlib keeps control characters, which XML forbids
