"""A sentence pair as a matrix: what the aligner scored, what it linked, and, outlined in gold, what is right."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from analysis.aligners.aligner import Links, Pair
from analysis.plot import INK, save_drawn, styled

CELL = 0.34
"""Inches."""
GOLD, LINKED = "#E69F00", "#0072B2"
SHADES = LinearSegmentedColormap.from_list("scores", ["#FFFFFF", "#9FCBE6"])
SURE, POSSIBLE = "-", (0, (2, 1.2))


def align_figure(
    pair: Pair,
    links: Links,
    folder: Path,
    title: str,
    name: str = "alignment",
    scores: np.ndarray | None = None,
    sure: Collection[tuple[int, int]] = (),
    possible: Collection[tuple[int, int]] = (),
) -> Path:
    """Draw a sentence pair, source words down and target words across, as `name`.png and `name`.svg in `folder`.

    Dots are `links`. `scores` (n, m) shade the cells, from the smallest to the largest; NaN stays white. Gold links are
    outlined, sure ones by a line and the other `possible` ones by a broken one.

    Returns:
        The PNG.

    Raises:
        ValueError: a side has no words, or something lies outside the sentences.
    """
    n, m = map(len, pair)
    outside = [(i, j) for i, j in (*links, *sure, *possible) if not (0 <= i < n and 0 <= j < m)]
    if not n or not m or outside or (scores is not None and scores.shape != (n, m)):
        raise ValueError(f"{n} and {m} words; links outside: {outside}; scores: {getattr(scores, 'shape', None)}")
    with styled(1.9 + CELL * m, 2.2 + CELL * n, title) as figure:
        axes = figure.subplots()
        if scores is not None and np.isfinite(scores).any():
            axes.imshow(scores, cmap=SHADES, vmin=np.nanmin(scores), vmax=np.nanmax(scores), aspect="equal")
        for gold, style in ((sure, SURE), (set(possible) - set(sure), POSSIBLE)):
            for i, j in sorted(gold):
                box = Rectangle(
                    (j - 0.44, i - 0.44), 0.88, 0.88, fill=False, edgecolor=GOLD, linewidth=2.2, linestyle=style
                )
                axes.add_patch(box)
        axes.plot([j for _, j in links], [i for i, _ in links], "o", color=LINKED, markersize=8)
        axes.set_xticks(range(m), pair[1], rotation=60, ha="left", rotation_mode="anchor")
        axes.set_yticks(range(n), pair[0])
        axes.set_xticks(np.arange(m + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(n + 1) - 0.5, minor=True)
        axes.grid(False)
        axes.grid(True, which="minor", color="#e3e3e3", linewidth=0.6)
        axes.tick_params(which="both", length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.set(xlim=(-0.5, m - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
        for spine in axes.spines.values():
            spine.set_visible(False)
        handles: list[Artist] = [Line2D([], [], marker="o", linestyle="", color=LINKED, markersize=8, label="link")]
        if sure:
            handles.append(Patch(fill=False, edgecolor=GOLD, linewidth=2.2, label="gold, sure"))
        if set(possible) - set(sure):
            handles.append(Patch(fill=False, edgecolor=GOLD, linewidth=2.2, linestyle=POSSIBLE, label="gold, possible"))
        figure.legend(handles=handles, loc="outside lower center", ncols=3, labelcolor=INK)
        png, _ = save_drawn(figure, folder, name)
    return png
