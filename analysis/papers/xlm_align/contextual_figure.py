"""Figure 2 of XLM-Align on derived languages: contextual alignment layer by layer."""

from __future__ import annotations

import math
import textwrap

from matplotlib.axes import Axes

from analysis.papers.looks import Look, distinct, looks
from analysis.records.record import AER
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, MOST, Dash, Fill, fills, key, legend, styled
from analysis.report.whiskers import draw_intervals, ends
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results

ABREAST = 4
"""Panels in a row."""
BESIDE = 0.06
"""Of a layer's width, between the intervals of two lines."""
ERROR = (
    "AER is the alignment error rate of the links that optimal transport finds between a sentence and its derivation, "
    "which were not shown to the model side by side: 0 is perfect. Layer 0 are the embeddings."
)
WAYS: dict[bool, tuple[str, Dash]] = {
    False: ("each sentence encoded alone", "-"),
    True: ("both sentences in one row", "--"),
}
"""How sentences are encoded, by whether they are joint."""


def contextual_figure(results: Results, scale: str) -> Plot | None:
    """AER by layer, a panel for each objective, a line for each transform and way to encode; None without two layers.

    None too with more objectives or transforms than a figure can tell apart.
    """
    layers = results.layers(AER)
    cells = {(o, t) for o in results.objectives for t in results.transforms if _errors(results, o, t, layers)}
    objectives = [name for name in results.objectives if any(name == o for o, _ in cells)]
    transforms = [name for name in results.transforms if any(name == t for _, t in cells)]
    if len(layers) < 2 or not objectives or not distinct(results) or len(results.transforms) > MOST:
        return None
    look, fill = looks(results), fills(results.transforms)
    columns = min(ABREAST, len(objectives))
    rows = math.ceil(len(objectives) / columns)
    with styled(FULL, 1.8 + 2.1 * rows, f"Alignment error rate by layer\n{scale}") as figure:
        axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for panel, objective in zip(axes.flat, objectives, strict=False):
            lines = [(transform, joint) for transform in transforms for joint in WAYS]
            for place, (transform, joint) in enumerate(lines):
                errors = _errors(results, objective, transform, layers, joint=joint)
                shift = BESIDE * (place - (len(lines) - 1) / 2)
                _line(panel, errors, look[objective], fill[transform], WAYS[joint][1], shift)
            panel.set_title(textwrap.fill(results.objective_title(objective), 20), fontsize=9.5)
            panel.set_xticks(layers)
            panel.tick_params(labelbottom=True)
            panel.set_ylim(-3, 103)
        for spare in axes.flat[len(objectives) :]:
            spare.remove()
        for panel in axes.flat[len(objectives) - columns : len(objectives)]:
            panel.set_xlabel("layer")
        for panel in axes[:, 0]:
            panel.set_ylabel("AER, %")
        handles = [key(results.transform_title(name), INK, "o", fill[name]) for name in transforms]
        handles += [key(title, INK, "", line=dash) for title, dash in WAYS.values()]
        legend(figure, handles, 2, handlelength=3)
        several = len(results.seeds) > 1
        caption = f"{ERROR} {'Bars are 95 % intervals over seeds.' if several else 'One seed.'}"
        records = [r for r in results.records if r.measure == AER]
        title = "Figure 2 of XLM-Align on derived languages: alignment error rate by layer"
        return Plot(figure, "figure-layers", title, caption, records)


def _errors(
    results: Results, objective: str, transform: str, layers: list[int], *, joint: bool = False
) -> dict[int, BySeed]:
    by_layer = {n: results.scores(AER, objective, transform, "", "aer", layer=n, joint=joint) for n in layers}
    return {layer: scores for layer, scores in by_layer.items() if scores}


def _line(panel: Axes, errors: dict[int, BySeed], look: Look, fill: Fill, dash: Dash, shift: float) -> None:
    """Means over seeds in percent, and their intervals `shift` beside them."""
    colour, marker, _ = look
    known = [(layer, estimate) for layer, scores in errors.items() if (estimate := mean(scores))]
    layers, values = [layer + shift for layer, _ in known], [100 * estimate.mean for _, estimate in known]
    style: Fill = "full" if fill == "none" else fill
    face = "#ffffff" if fill == "none" else colour
    panel.plot(
        layers, values, dash, color=colour, marker=marker, markersize=6, fillstyle=style,
        markerfacecolor=face, markerfacecoloralt="#ffffff", linewidth=1.2,
    )  # fmt: skip
    if any(estimate.seeds > 1 for _, estimate in known):
        draw_intervals(panel, layers, ends([estimate for _, estimate in known]), colour)
