"""Word orders of languages beside one another: a row for each preference, a marker for each language."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from analysis.report.plot import save_figure
from analysis.report.style import FULL, LOOKS, key, legend, styled
from analysis.report.table import inert
from derive.files import whole_file

APART, ROOM = 0.26, 0.9
"""Of a row's height: at most, between two languages, and for all of them."""


def grammar_figure(
    columns: Mapping[str, Mapping[str, float]], folder: Path, title: str, caption: str, name: str = "figure-grammar"
) -> Path:
    """Save what `drawn_shares` draws as `name`.png and `name`.svg, and every share as `name`.csv.

    Returns:
        The PNG.

    Raises:
        ValueError: nothing to show, or more languages than can be told apart.
    """
    png, _ = save_figure(drawn_shares(columns, title, caption), folder, name)
    preferences = _preferences(columns)
    with whole_file(folder / f"{name}.csv") as part, part.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["preference", *map(inert, columns)])
        table.writerows([inert(what), *(shares.get(what, "") for shares in columns.values())] for what in preferences)
    return png


def drawn_shares(columns: Mapping[str, Mapping[str, float]], title: str, caption: str) -> Figure:
    """Shares of preferences, from 0 to 1, as a dot plot; `columns` is language -> preference -> share.

    Where a language has no share of a preference, there is no marker. A preference whose share is 0 in every language,
    as that of most orders of S, V and O is, has no row.

    Raises:
        ValueError: nothing to show, or more languages than can be told apart.
    """
    rows = [what for what in _preferences(columns) if any(shares.get(what) for shares in columns.values())]
    if not rows or len(columns) > len(LOOKS):
        raise ValueError(f"{len(columns)} languages with {len(rows)} preferences; up to {len(LOOKS)} can be shown")
    with styled(FULL, 2.2 + 0.4 * len(rows), textwrap.fill(title, 70)) as figure:
        axes = figure.subplots()
        for place, ((colour, marker), shares) in enumerate(zip(LOOKS, columns.values(), strict=False)):
            lift = min(APART, ROOM / len(columns)) * (
                place - (len(columns) - 1) / 2
            )  # so that equal shares do not hide one another
            shown = {y + lift: 100 * shares[what] for y, what in enumerate(rows) if what in shares}
            axes.plot(list(shown.values()), list(shown), marker, color=colour, markersize=7)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(-3, 103)
        axes.set_xlabel("share, %")
        axes.set_title(textwrap.fill(caption, 72), fontsize=9, loc="left")
        handles = [key(language, *look) for language, look in zip(columns, LOOKS, strict=False)]
        legend(figure, handles, 3)
    return figure


def _preferences(columns: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Of every language, each once."""
    return list(dict.fromkeys(preference for shares in columns.values() for preference in shares))
