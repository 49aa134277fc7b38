"""A sentence pair as a matrix: the aligner's scores and its links."""

import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, fontManager, get_font

from calque.analysis.report.drawing import STYLE, key, legend, styled
from calque.analysis.report.plot import save_figure
from calque.analysis.report.table import visible
from calque.derive.links.aligner import Links, Pair

CELL = 0.34  # inches
LINKED = "#0072B2"
SHADES = LinearSegmentedColormap.from_list("scores", ["#FFFFFF", "#9FCBE6"])
_PLACEHOLDERS = "Last Resort"  # the font in which every letter is a box


def align_figure(pair: Pair, links: Links, folder: Path, title: str, name: str, scores: np.ndarray | None) -> Path:
    """Save `drawn_pair` as `name`.png and `name`.svg in `folder`, and return the path of the PNG. If fonts lack
    letters, the title says so; the SVG has the words as text, and browsers have fonts for it."""
    if boxes := _fonts(pair)[1]:
        title += f"\n(the fonts here lack {boxes} of the letters: see {name}.svg)"
    figure = drawn_pair(pair, links, title, scores)
    with mpl.rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # the title says it
        return save_figure(figure, folder, name)[0]


def drawn_pair(pair: Pair, links: Links, title: str, scores: np.ndarray | None = None) -> Figure:
    """A sentence pair, source words down and target words across, with dots for links. Words are numbered from 0, as in
    links. `scores` (n, m) shade the cells, from the smallest to the largest; NaN stays white. Raises ValueError if a
    side has no words, or a link or the scores do not fit the sentences."""
    n, m = map(len, pair)
    outside = [(i, j) for i, j in links if not (0 <= i < n and 0 <= j < m)]
    if not n or not m or outside or (scores is not None and scores.shape != (n, m)):
        raise ValueError(f"{n} and {m} words; links outside: {outside}; scores: {getattr(scores, 'shape', None)}")
    with styled(1.9 + CELL * m, 2.2 + CELL * n, title) as figure:
        axes = figure.subplots()
        if scores is not None and np.isfinite(scores).any():
            axes.imshow(scores, cmap=SHADES, vmin=np.nanmin(scores), vmax=np.nanmax(scores), aspect="equal")
        for i, j in links:
            axes.plot(j, i, "o", color=LINKED, markersize=8)
        _label(axes, pair)
        legend(figure, [key("link", LINKED, "o")], 2)
    return figure


def _label(axes: Axes, pair: Pair) -> None:
    """Words and their numbers along the axes, and a grid with every fifth line darker."""
    n, m = map(len, pair)
    look: dict[str, Any] = {"fontfamily": _fonts(pair)[0]}
    across = [f"{j}  {visible(word)}" for j, word in enumerate(pair[1])]
    axes.set_xticks(range(m), across, rotation=60, ha="left", rotation_mode="anchor", **look)
    axes.set_yticks(range(n), [f"{visible(word)}  {i}" for i, word in enumerate(pair[0])], **look)
    axes.grid(False)
    for line, places in ((axes.axvline, range(m + 1)), (axes.axhline, range(n + 1))):
        for place in places:
            line(place - 0.5, color="#AAAAAA" if place % 5 == 0 else "#E3E3E3", linewidth=0.6, zorder=0.5)
    axes.tick_params(which="both", length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    axes.set(xlim=(-0.5, m - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
    for spine in axes.spines.values():
        spine.set_visible(False)


def _fonts(pair: Pair) -> tuple[list[str], int]:
    """The usual font, others that have letters it lacks, and the number of letters of the pair that none has."""
    letters = {ord(letter) for side in pair for word in side for letter in visible(word)}
    families = [*map(str, STYLE["font.family"])]
    missing = letters - get_font(findfont(families[0])).get_charmap().keys()
    for entry in sorted(fontManager.ttflist, key=lambda entry: (entry.name, entry.fname)) if missing else ():
        usual = entry.style == "normal" and entry.weight in (400, "normal", "regular")
        if usual and entry.name != families[0] and not entry.name.startswith(_PLACEHOLDERS):
            if has := missing & get_font(entry.fname).get_charmap().keys():
                families.append(entry.name)
            missing -= has
    return families, len(missing)
