"""The style of figures: colours, legends, intervals and places of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

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


def fills(transforms: Sequence[str]) -> dict[str, Fill]:
    """How each transform's markers are filled.

    Raises:
        ValueError: more transforms than fills.
    """
    if len(transforms) > len(FILLS):
        raise ValueError(f"{len(transforms)} transforms; a figure can tell {len(FILLS)} apart")
    return dict(zip(transforms, FILLS, strict=False))
