"""The marks of a figure, read from its artists: the value of each point and bar, and its position in the SVG."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Annotation
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter

POINTS = 72  # of an inch in SVG
NEAR = 1e-6  # part of an axis within which two places are one
EDGE = 3  # tolerance, in pixels, of a mark outside its panel
STATISTICS = re.compile("[=<]|^ρ")  # lines of a title
HOLLOW = {"#ffffff", "none"}
MISSING = ("", "None", "none", " ", None)


@dataclass(frozen=True)
class Mark:
    """A point or a bar at (`x`, `y`) of the SVG. `entries` are the numbers of its legend entries. It shows the `value`
    of a `measure`, with the ends of its interval if it has one, at `place` of the other axis, in a panel."""

    x: float
    y: float
    entries: tuple[int, ...]
    panel: str
    series: str
    place: str
    measure: str
    value: str

    @property
    def words(self) -> str:
        value = f"{self.measure}: {self.value}" if self.measure else self.value
        return " · ".join(filter(None, (self.panel, self.series, self.place, value)))


class Entry(NamedTuple):
    """An entry of a legend: its words and its look."""

    label: str
    colour: str
    marker: str
    fill: str
    dash: str


@dataclass
class Reading:
    """A figure's marks and legend, and the legend entries of each artist that draws some of them."""

    entries: list[Entry] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    artists: list[tuple[Artist, tuple[int, ...]]] = field(default_factory=list)


def read(figure: Figure) -> Reading:
    """The marks of a figure. Their places are right once it has been drawn."""
    reading = Reading([*_legend(figure)])
    scale = POINTS / figure.dpi
    for axes in figure.axes:
        panel = _Panel(axes, figure.axes)
        for artist, places, look in panel.drawn:
            entries = _entries(reading.entries, look)
            series = ", ".join(reading.entries[entry].label for entry in entries)
            for x, y in places:
                across, up = axes.transData.transform((x, y))
                if axes.get_window_extent().padded(EDGE).contains(across, up):
                    where = round(float(across * scale), 1), round(float(figure.bbox.height - up) * scale, 1)
                    words = panel.words(x, y, look, _width(artist))
                    reading.marks.append(Mark(*where, entries, panel.title, series, *words))
            reading.artists.append((artist, entries))
        reading.artists += panel.intervals(reading)
    return reading


class _Panel:
    """One panel: its title, the names of its axes, its marks and its intervals."""

    def __init__(self, axes: Axes, others: Sequence[Axes]) -> None:
        self.axes = axes
        self.title = _title(axes) or next((_title(other) for other in others if _beside(axes, other, "colspan")), "")
        rows = (other.get_ylabel() for other in (axes, *others) if _beside(axes, other, "rowspan"))
        columns = (other.get_xlabel() for other in (axes, *others[::-1]) if _beside(axes, other, "colspan"))
        self.names = [_line(next(filter(None, names), "")) for names in (columns, rows)]
        self.ticks = [_named_ticks(axis) for axis in (axes.xaxis, axes.yaxis)]
        self.named = [dict[float, str](), dict[float, str]()]  # the words at exact places
        for words in axes.texts:
            if not isinstance(words, Annotation) and words.get_transform() == axes.transData:
                self.named[0][float(words.get_position()[0])] = _line(words.get_text())
        for names, axis in zip(self.named, (axes.xaxis, axes.yaxis), strict=True):
            names.update(_fixed_ticks(axis))
        self.drawn, self.segments = list[Drawn](), list[tuple[Artist, np.ndarray, str]]()
        for collection in axes.collections:
            if isinstance(collection, LineCollection):
                colour = _colour(collection.get_colors()[0])
                ends = (np.asarray(segment, float) for segment in collection.get_segments())
                self.segments += [(collection, both, colour) for both in ends if len(both) == 2]
        found = [*_lines(axes), *_bars(axes)]
        marked = [(point, look.colour) for _, points, look in found if look.marker for point in points]
        for artist, points, look in found:
            if not look.marker and any(colour == look.colour and _on(point, points) for point, colour in marked):
                self.segments.append((artist, np.array(points), look.colour))
            elif look.marker or len(points) == 2:
                places = points if look.marker else [tuple(np.mean(points, axis=0).tolist())]
                self.drawn.append((artist, places, look))
        upright = [ends[0, 0] == ends[1, 0] for _, ends, _ in self.segments]
        self.across = (bool(upright) and not any(upright)) or (bool(self.ticks[1]) and not self.ticks[0])

    def words(self, x: float, y: float, look: Entry, width: float) -> tuple[str, str, str]:
        """The place, the measure and the value of a mark, the value with its interval."""
        parts = []
        for axis, (number, other) in enumerate(((x, y), (y, x))):
            both = self._interval(axis, number, other, look, width)
            words = self._word(axis, number)
            words += f" [{', '.join(self._word(axis, end) for end in both)}]" if both else ""
            parts.append((self._tick(axis, number), self.names[axis], words))
        (tick, name, words), (_, measure, value) = parts[::-1] if self.across else parts
        return tick or (f"{name}: {words}" if name else words), measure, value

    def _word(self, axis: int, number: float) -> str:
        return self.named[axis].get(number) or written(number)

    def _tick(self, axis: int, number: float) -> str:
        """The nearest named tick, if the axis has names instead of numbers; the axis's own name if it has no ticks."""
        if not self.ticks[axis]:
            bare = not len((self.axes.xaxis, self.axes.yaxis)[axis].get_majorticklocs())
            return self.names[axis] if bare else ""
        place, name = min(self.ticks[axis], key=lambda tick: abs(tick[0] - number))
        return name if abs(place - number) <= 0.5 + NEAR else ""

    def _interval(
        self, axis: int, number: float, other: float, look: Entry, width: float
    ) -> tuple[float, float] | None:
        """The interval that is drawn through a mark along an axis, its own colour's first."""
        low, high = sorted(self.axes.get_ylim() if axis == 0 else self.axes.get_xlim())
        near, slack = max(width / 2, NEAR * (high - low)), NEAR * (1 + abs(number))
        found = []
        for _, ends, colour in self.segments:
            start, end = sorted(map(float, ends[:, axis]))
            away = abs(float(ends[0, 1 - axis]) - other)
            if ends[0, 1 - axis] == ends[1, 1 - axis] and away <= near and start - slack <= number <= end + slack:
                found.append((colour != look.colour, away, start, end))
        return min(found)[2:] if found else None

    def intervals(self, reading: Reading) -> Iterator[tuple[Artist, tuple[int, ...]]]:
        """The artists of intervals with the legend entries of the marks that they are drawn through."""
        through: dict[Artist, set[tuple[int, ...]]] = {}
        for artist, ends, colour in self.segments:
            for other, places, look in self.drawn:
                near = _width(other) / 2
                same = colour == look.colour or near
                if same and any(_on(place, ends.tolist(), near) for place in places):
                    through.setdefault(artist, set()).add(_entries(reading.entries, look))
        yield from ((artist, next(iter(found))) for artist, found in through.items() if len(found) == 1)


Drawn = tuple[Artist, list[tuple[float, float]], Entry]


def _lines(axes: Axes) -> Iterator[Drawn]:
    """Lines with the places of their markers, or of both ends if they are level or upright and have no markers."""
    for line in axes.lines:
        if not line.get_visible() or line.get_transform() != axes.transData:
            continue
        x, y = (np.asarray(values, float) for values in line.get_data(orig=False))
        points = [(float(a), float(b)) for a, b in zip(x, y, strict=True)]
        look = _look_of_line(line)
        if isinstance(every := line.get_markevery(), tuple):
            points = points[int(every[0]) :: int(every[1])]
        straight = len(points) == 2 and (points[0][0] == points[1][0] or points[0][1] == points[1][1])
        if look.marker or straight:
            yield line, [point for point in points if np.isfinite(point).all()], look


def _bars(axes: Axes) -> Iterator[Drawn]:
    """Bars with the middle of their end."""
    for container in (each for each in axes.containers if isinstance(each, BarContainer)):
        lying = container.orientation == "horizontal"
        for bar in container.patches:
            x, y, width, height = bar.get_x(), bar.get_y(), bar.get_width(), bar.get_height()
            yield bar, [(x + width, y + height / 2) if lying else (x + width / 2, y + height)], _look_of_patch(bar)


def _on(point: tuple[float, float], ends: Sequence[Sequence[float]], near: float = 0.0) -> bool:
    """Whether a point is on a level or upright line between two ends, or `near` it."""
    (x, y), ((x0, y0), (x1, y1)) = point, ends
    level = y0 == y1 and abs(y - y0) <= max(near, NEAR * (1 + abs(y))) and min(x0, x1) - NEAR <= x <= max(x0, x1) + NEAR
    upright = (
        x0 == x1 and abs(x - x0) <= max(near, NEAR * (1 + abs(x))) and min(y0, y1) - NEAR <= y <= max(y0, y1) + NEAR
    )
    return level or upright


def _title(axes: Axes) -> str:
    """The title of a panel without its statistics."""
    lines = (axes.get_title() or axes.get_title("left")).split("\n")
    return _line(" ".join(line for line in lines if not STATISTICS.search(line)))


def _beside(axes: Axes, other: Axes, way: str) -> bool:
    """Whether two panels are in one row or column."""
    specs = axes.get_subplotspec(), other.get_subplotspec()
    return all(specs) and getattr(specs[0], way).start == getattr(specs[1], way).start


def _legend(figure: Figure) -> Iterator[Entry]:
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
    for legend in legends:
        if isinstance(legend, Legend):
            for words, artist in zip(legend.get_texts(), legend.legend_handles, strict=True):
                if isinstance(artist, Line2D | Patch):
                    look = _look_of_line(artist) if isinstance(artist, Line2D) else _look_of_patch(artist)
                    yield Entry(_line(words.get_text()), look.colour, look.marker, look.fill, look.dash)


def _entries(entries: Sequence[Entry], look: Entry) -> tuple[int, ...]:
    """The legend entries of a look: its colour and marker and, unless it is grey, its fill."""
    same = (
        lambda entry: entry[1:] == look[1:],
        lambda entry: entry[1:4] == look[1:4],
        lambda entry: entry[1:3] == look[1:3],
        lambda entry: entry.colour == look.colour and bool(entry.marker) == bool(look.marker),
    )
    found = [i for alike in same for i, entry in enumerate(entries) if alike(entry)][:1]
    keys = [(i, entry) for i, entry in enumerate(entries) if entry.marker == "o" and entry.colour != look.colour]
    for i, key in keys if look.marker and not _grey(look.colour) else ():
        if key.fill == look.fill and any(other.fill != key.fill and other.colour == key.colour for _, other in keys):
            return (*found, i)
    return tuple(found)


def _look_of_line(line: Line2D) -> Entry:
    marker = "" if line.get_marker() in MISSING else str(line.get_marker())
    dash = "" if line.get_linestyle() in MISSING else str(line.get_linestyle())
    hollow = _colour(line.get_markerfacecolor()) in HOLLOW
    fill = ("none" if hollow else str(line.get_fillstyle())) if marker else ""
    return Entry("", _colour(line.get_color()), marker, fill, dash)


def _look_of_patch(patch: Patch) -> Entry:
    return Entry("", _colour(patch.get_facecolor()), f"bar{patch.get_hatch() or ''}", "", "")


def _width(artist: Artist) -> float:
    return float(artist.get_width()) if isinstance(artist, Rectangle) else 0.0


def _named_ticks(axis: Any) -> list[tuple[float, str]]:
    """The places and names of ticks, if most are words rather than the numbers of the places."""
    named = _fixed_ticks(axis)
    return named if 2 * sum(_number(name) == place for place, name in named) < len(named) else []


def _fixed_ticks(axis: Any) -> list[tuple[float, str]]:
    places, form = axis.get_major_locator(), axis.get_major_formatter()
    if not isinstance(places, FixedLocator) or not isinstance(form, FixedFormatter | FuncFormatter):
        return []
    names = map(_line, form.format_ticks(at := list(places())))
    return [(float(place), name) for place, name in zip(at, names, strict=True) if name]


def _number(name: str) -> float | None:
    try:
        return float(name.replace(",", "").replace("−", "-"))
    except ValueError:
        return None


def _line(words: str) -> str:
    return " ".join(words.split())


def _grey(colour: str) -> bool:
    return colour == "none" or len({colour[i : i + 2] for i in (1, 3, 5)}) == 1


def _colour(colour: Any) -> str:
    return "none" if isinstance(colour, str) and colour in MISSING else str(to_hex(colour)).lower()


def written(number: float) -> str:
    """A number to three or more digits."""
    form = ",.0f" if number == int(number) else ",.1f" if abs(number) >= 10 else ".3g"
    return format(number, form).replace("-", "−")
