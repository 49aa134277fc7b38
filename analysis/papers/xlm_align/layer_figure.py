"""Figure 2 of XLM-Align: the error rate of word alignment by the encoder's layer."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis.aligners.methods import RELEASED
from analysis.papers.looks import PUBLISHED, Look, distinct, looks
from analysis.papers.published import published_layers
from analysis.papers.texts import heading, plot
from analysis.papers.xlm_align.continued import set_title
from analysis.papers.xlm_align.links import Layers, System, Systems, records_of
from analysis.report.drawing import key, legend, styled
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, SOFT, Dash
from analysis.results.results import Results

DASHES: tuple[Dash, ...] = ("-.", "--", ":")
TITLES = {False: "each side encoded alone", True: "both sides in one row"}  # of panels, by whether a pair was one row


def link_figure(results: Results, scale: str) -> Plot | None:
    """Links by the released aligner's rule, with the published encoders' rates."""
    return layer_figure(Systems.of(results), scale, published=published_layers("xlm_align"))


def layer_figure(
    systems: Systems, scale: str, aligner: str = RELEASED.name, published: Layers | None = None
) -> Plot | None:
    """The mean AER over gold sets by layer, a line for each encoder.

    None without an encoder, or with more than a figure can tell apart. Encoders of as many layers, scored on the same
    sets, share a row of panels; `published` ones of as many layers join them where both sides are one row.
    Lines across need no encoder.
    """
    encoders = [system for system in systems.all if system.layers and system.aligner == aligner]
    groups: dict[tuple[int, tuple[str, ...]], list[System]] = {}
    for system in encoders:
        groups.setdefault((system.layers, tuple(system.counts)), []).append(system)
    learnt = list(dict.fromkeys(system.learnt for system in encoders))
    if not groups or not distinct(systems.results, learnt):
        return None
    look, statistical = looks(systems.results, learnt), systems.without_encoder
    shown: list[System] = []
    theirs: dict[str, Look] = {}
    with styled(FULL, 1.5 + 2.9 * len(groups), heading("figure-2-layers", scale)) as figure:
        axes = figure.subplots(len(groups), len(TITLES), sharey="row", squeeze=False)
        for row, ((layers, sets), members) in zip(axes, groups.items(), strict=True):
            for panel, (joint, title) in zip(row, TITLES.items(), strict=True):
                own = [system for system in members if system.joint == joint]
                _draw(panel, own, look)
                shown += [*own, *_draw_across(panel, statistical, sets)]
                theirs |= _draw_published(panel, published or {}, sets, layers) if joint else {}
                panel.set_title(f"{layers} layers, {title}" if len(groups) > 1 else title)
                panel.set_xticks(range(layers + 1))
                panel.set_xlabel("layer (0: embeddings)")
            row[0].set_ylabel(f"mean AER, %\n{', '.join(map(set_title, sets))}")
        called = systems.results.objective_title
        handles = [key(called(name), one.colour, one.marker, line=one.dash) for name, one in look.items()]
        for system, dash in zip(statistical, DASHES, strict=False):
            label = ", ".join(filter(None, (system.aligner, system.title)))
            handles.append(Line2D([], [], color=INK, linestyle=dash, label=label))
        handles += [key(f"{name}, published", one.colour, one.marker, "none", one.dash) for name, one in theirs.items()]
        legend(figure, handles, 3, handlelength=2.5)
    return plot("figure-2-layers", figure, systems.results, records_of(shown), aligner=aligner)


def _draw(panel: Axes, systems: Sequence[System], look: dict[str, Look]) -> None:
    for name, (colour, marker, dash) in look.items():
        line = sorted((system for system in systems if system.learnt == name), key=lambda system: system.layer or 0)
        rates = [(system.layer, system.mean(system.counts)) for system in line]
        points = [(layer, 100 * rate) for layer, rate in rates if rate is not None]
        if points:
            panel.plot(*zip(*points, strict=True), dash, color=colour, marker=marker, markersize=6)


def _draw_across(panel: Axes, statistical: Sequence[System], sets: tuple[str, ...]) -> list[System]:
    """Draw the mean over the same sets of each system that has them all; which were drawn."""
    shown = []
    for system, dash in zip(statistical, DASHES, strict=False):
        if (rate := system.mean(sets)) is not None:
            panel.axhline(100 * rate, color=INK, linestyle=dash, linewidth=1)
            shown.append(system)
    return shown


def _draw_published(panel: Axes, published: Layers, sets: tuple[str, ...], layers: int) -> dict[str, Look]:
    """Draw the published encoders of as many layers that have all the sets, and return their looks."""
    shown: dict[str, Look] = {}
    for name, by_set in published.items():
        if all(len(by_set.get(one, ())) == layers + 1 for one in sets):
            rates = [100 * sum(at) / len(sets) for at in zip(*(by_set[one] for one in sets), strict=True)]
            look = PUBLISHED.get(name, Look(SOFT, ""))._replace(dash=":")
            panel.plot(range(layers + 1), rates, look.dash, color=look.colour, marker=look.marker, fillstyle="none")
            shown[name] = look
    return shown
