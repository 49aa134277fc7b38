"""What a figure shows, read from its artists."""

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from calque.analysis.papers.looks import BY_NAME, FORMS
from calque.analysis.report.drawing import STYLE, unreadable
from calque.analysis.report.plot import Plot

OBJECTIVES = {name: BY_NAME[name][:2] for name in ("MLM", "XLM", "DICT-MLM", "ALIGN-MLM")}
"""Colours and markers of the objectives of toy studies."""
MANY = 1 + len(FORMS)
"""Objectives of one family that figures can tell apart."""


def panels(plot: Plot | None) -> dict[str, Axes]:
    """The panels of a plot by their titles, each title on one line."""
    assert plot is not None
    axes = {panel.get_title().replace("\n", " ") or panel.get_title("left"): panel for panel in plot.figure.axes}
    assert len(axes) == len(plot.figure.axes)
    return axes


def bars(panel: Axes, colour: str) -> dict[float, float]:
    """Height by middle of the bars of one colour."""
    return {
        round(bar.get_x() + bar.get_width() / 2, 6): bar.get_height()
        for bar in panel.patches
        if isinstance(bar, Rectangle) and same_color(bar.get_facecolor(), colour)
    }


def points(panel: Axes, marker: str | int, colour: str) -> list[tuple[float, float]]:
    """Places of the markers of one kind, lines of them included, from left to right."""
    found = [line for line in panel.lines if line.get_marker() == marker and same_color(line.get_color(), colour)]
    return sorted((float(x), float(y)) for line in found for x, y in zip(*coordinates(line), strict=True))


def coordinates(line: Line2D) -> tuple[np.ndarray, np.ndarray]:
    """A line's x and y as numbers."""
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


def intervals(panel: Axes) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Both ends of every error bar, sorted: ((x, y), (x, y))."""
    segments = [
        segment
        for collection in panel.collections
        if isinstance(collection, LineCollection)
        for segment in collection.get_segments()
        if len(segment) == 2
    ]
    ends = [tuple(tuple(round(float(number), 6) for number in end) for end in segment) for segment in segments]
    return sorted(ends)  # type: ignore[arg-type]


def legend(figure: Figure) -> dict[str, Artist]:
    """The legend's entries by what they say."""
    (box,) = figure.legends
    entries = zip([text.get_text().replace("\n", " ") for text in box.get_texts()], box.legend_handles, strict=True)
    return {text: artist for text, artist in entries if artist is not None}


def looked(artist: Artist) -> tuple[str, str, str, str]:
    """Colour, marker, fill and dash of a line, as a legend's entry has them."""
    assert isinstance(artist, Line2D)
    return str(artist.get_color()), str(artist.get_marker()), artist.get_fillstyle(), str(artist.get_linestyle())


def laid_out(figure: Figure) -> list[float]:
    """Lay a figure out as it is saved, and return its panels' heights in inches."""
    with mpl.rc_context(STYLE):
        figure.draw_without_rendering()
    return [panel.get_position().height * figure.get_figheight() for panel in figure.axes]


def legible(figure: Figure) -> None:
    """Assert that every text lies on the paper, and that no two lie on one another, except texts on points."""
    assert not unreadable(figure)
