"""Figure 2 of XLM-Align: the error rate of word alignment by the encoder's layer."""

from __future__ import annotations

import textwrap

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis.papers.xlm_align.link_tables import PAPERS_NAMES, without_encoder
from analysis.records.link_scores import APART, JOINT, LinkScore, LinkScores, macro
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, Dash, key, looks, styled

DASHES: tuple[Dash, ...] = ("-.", "--", ":")
TITLES = {APART: "each side encoded alone", JOINT: "both sides in one row"}


def layer_figure(scores: LinkScores, scale: str, aligner: str = "ot") -> Plot | None:
    """The mean AER over gold sets by layer, a line for each encoder; None without an encoder.

    Encoders of as many layers, scored on the same sets, share a row of panels. Lines across need no encoder.
    """
    systems = [one for one in scores.systems(aligner=aligner, main=False) if one.layers]
    groups: dict[tuple[int, tuple[str, ...]], list[LinkScore]] = {}
    for system in systems:
        groups.setdefault((system.layers, tuple(scores.by_set(system))), []).append(system)
    if not groups:
        return None
    look = looks(list(dict.fromkeys(one.learnt for one in systems)))
    statistical = without_encoder(scores)
    shown: list[LinkScore] = []
    with styled(FULL, 1.5 + 2.9 * len(groups), f"Word alignment by layer\n{scale}") as figure:
        axes = figure.subplots(len(groups), len(TITLES), sharey="row", squeeze=False)
        for row, ((layers, sets), members) in zip(axes, groups.items(), strict=True):
            for panel, (way, title) in zip(row, TITLES.items(), strict=True):
                drawn = [one for one in members if one.way == way]
                _draw(panel, scores, drawn, look)
                shown += drawn
                shown += _across(panel, scores, statistical, sets)
                panel.set_title(title)
                panel.set_xticks(range(layers + 1))
                panel.set_xlabel("layer (0: embeddings)")
            names = ", ".join(PAPERS_NAMES.get(name, name) for name in sets)
            row[0].set_ylabel(textwrap.fill(f"mean AER on {names}, %", 36))
        handles = [key(name, *one, line="-") for name, one in look.items()]
        handles += [
            Line2D([], [], color=INK, linestyle=dash, label=", ".join(filter(None, (one.aligner, one.learnt))))
            for one, dash in zip(statistical, DASHES, strict=False)
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3, handlelength=2.5)
        caption = (
            f"AER is the alignment error rate, lower is better: the mean over gold sets, links by {aligner}. The "
            "paper’s figure is of models of 12 layers and has no numbers, so it is not drawn here. "
            "Our encoders are one model a language pair. diagonal links each word to the one in the same place."
        )
        keys = {(scores.key(one)) for one in shown}
        records = [row for row in scores.rows if scores.key(row) in keys]
        title = "Figure 2: word alignment by layer"
        return Plot(figure, "figure-2-layers", title, caption, records)


def _draw(panel: Axes, scores: LinkScores, systems: list[LinkScore], look: dict[str, tuple[str, str]]) -> None:
    for name, (colour, marker) in look.items():
        line = sorted((one for one in systems if one.learnt == name), key=lambda one: one.layer)
        rates = [(one.layer, macro(scores.by_set(one).values())) for one in line]
        points = [(layer, 100 * rate) for layer, rate in rates if rate is not None]
        if points:
            panel.plot(*zip(*points, strict=True), color=colour, marker=marker, markersize=6)


def _across(panel: Axes, scores: LinkScores, statistical: list[LinkScore], sets: tuple[str, ...]) -> list[LinkScore]:
    """The mean over the same sets of each system that has them all; which were drawn."""
    drawn = []
    for one, dash in zip(statistical, DASHES, strict=False):
        by_set = scores.by_set(one)
        if all(name in by_set for name in sets) and (rate := macro(by_set[name] for name in sets)) is not None:
            panel.axhline(100 * rate, color=INK, linestyle=dash, linewidth=1)
            drawn.append(one)
    return drawn
