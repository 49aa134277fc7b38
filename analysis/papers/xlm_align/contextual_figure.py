"""Figure 2 of XLM-Align on derived languages: contextual alignment layer by layer."""

from __future__ import annotations

from matplotlib.axes import Axes

from analysis.records.record import AER
from analysis.records.results import BySeed, Results, mean, objective_name, transform_name
from analysis.report.plot import Plot
from analysis.report.style import NARROWEST, WIDE, distinct, key, looks, styled

APART = 0.05
"""Of a layer's width, so that points of one layer stand side by side."""
ERROR = (
    "AER is the alignment error rate of the links that optimal transport finds between a sentence and its derivation, "
    "which were not shown to the model side by side: 0 is perfect."
)


def contextual_figure(results: Results, scale: str) -> Plot | None:
    """AER by layer, each side encoded alone and as one row; None without two layers.

    None too with more objectives than a figure can tell apart.
    """
    ends = {"each sentence encoded alone": "", "both in one row": ", joint"}
    layers = sorted({int(r.metric.split()[1].rstrip(",")) for r in results.records if r.measure == AER})
    panels = [t for t in results.transforms if any(_errors(results, o, t, layers, "") for o in results.objectives)]
    if len(layers) < 2 or not panels or not distinct(results.objectives):
        return None
    look = looks(results.objectives)
    with styled(max(NARROWEST, WIDE * len(panels)), 7.2, f"Alignment error rate by layer\n{scale}") as figure:
        axes = figure.subplots(len(ends), len(panels), sharex=True, sharey=True, squeeze=False)
        for row, (way, end) in zip(axes, ends.items(), strict=True):
            for panel, transform in zip(row, panels, strict=True):
                for i, (objective, (colour, marker)) in enumerate(look.items()):
                    errors = _errors(results, objective, transform, layers, end)
                    _intervals(panel, errors, colour, marker, APART * (i - (len(look) - 1) / 2))
                panel.set_title(f"{transform_name(transform)}, {way}", fontsize=10)
            row[0].set_ylabel("AER, %")
            row[0].set_ylim(0, 100)
        for panel in axes[-1]:
            panel.set_xticks(layers, ["embeddings" if layer == 0 else str(layer) for layer in layers])
            panel.grid(visible=False, axis="x")
            panel.set_xlabel("layer")
        handles = [key(objective_name(name), *found, line="-") for name, found in look.items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
        over = "Lines on the points are 95 % intervals over seeds." if len(results.seeds) > 1 else "One seed."
        caption = f"{ERROR} {over}"
        records = [r for r in results.records if r.measure == AER]
        return Plot(figure, "figure-layers", f"Figure 2 of XLM-Align on derived languages, {scale}", caption, records)


def _errors(results: Results, objective: str, transform: str, layers: list[int], end: str) -> dict[int, BySeed]:
    found = {n: results.scores(AER, objective, transform, "", f"layer {n}{end}") for n in layers}
    return {layer: scores for layer, scores in found.items() if scores}


def _intervals(panel: Axes, values: dict[int, BySeed], colour: str, marker: str, shift: float) -> None:
    """Means over seeds with their intervals, in percent, `shift` beside their layers."""
    found = [(layer + shift, mean(scores)) for layer, scores in values.items()]
    known = [(x, one) for x, one in found if one]
    panel.plot([x for x, _ in known], [100 * one.mean for _, one in known], color=colour, marker=marker, markersize=6)
    for x, one in known:
        if one.seeds > 1 and one.low is not None and one.high is not None:
            panel.plot([x, x], [100 * max(one.low, 0.0), 100 * min(one.high, 1.0)], color=colour, alpha=0.4)
