"""What XLM-Align's labels of its own are worth as it trains, and what the alignment of each layer is in the end."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from analysis.figures import NARROWEST, WIDE
from analysis.plot import Drawing, distinct, key, looks, save, styled
from analysis.records import AER, LABELS
from analysis.results import BySeed, Results, mean, objective_name, transform_name

KINDS = {"precision": "right links of those labelled, %", "share": "words with a label, %"}
APART = 0.05
"""Of a layer's width, so that points of one layer stand side by side."""
MARKERS = 8
"""On a line, about, so that they do not hide it."""
LABELLING = (
    "XLM-Align labels sentence pairs by itself: it links the words whose hidden states are most alike and learns to "
    "point from a masked word to the one that it is linked to. The languages are derived, so the right links are known."
)
ERROR = (
    "AER is the alignment error rate of the links that optimal transport finds between a sentence and its derivation, "
    "which were not shown to the model side by side: 0 is perfect."
)


def label_figure(results: Results, folder: Path, scale: str) -> Drawing | None:
    """Precision of the labels and the share of words that have one, over the steps; None without labels."""
    panels = [t for t in results.transforms if any(_labels(results, o, t, "precision") for o in results.objectives)]
    shown = [o for o in results.objectives if any(_labels(results, o, t, "precision") for t in panels)]
    if not panels or not distinct(results.objectives):
        return None
    look = {name: found for name, found in looks(results.objectives).items() if name in shown}
    several = len(results.seeds) > 1
    with styled(max(NARROWEST, WIDE * len(panels)), 6.8, f"Labels that models make for themselves\n{scale}") as figure:
        axes = figure.subplots(len(KINDS), len(panels), sharex=True, sharey="row", squeeze=False)
        for row, (metric, label) in zip(axes, KINDS.items(), strict=True):
            for panel, transform in zip(row, panels, strict=True):
                for objective, (colour, marker) in look.items():
                    _seeds(panel, _labels(results, objective, transform, metric), colour, marker)
                panel.set_title(transform_name(transform))
            row[0].set_ylabel(label)
            row[0].set_ylim(0, 102)
            row[0].set_xlim(left=0)
        for panel in axes[-1]:
            panel.set_xlabel("step of pretraining, the steps of the start included")
        handles = [key(objective_name(name), *found, line="-") for name, found in look.items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
        caption = LABELLING + (" Thin lines are seeds, the thick one is their mean." if several else " One seed.")
        records = [r for r in results.records if r.measure == LABELS and r.metric in KINDS]
        title = f"Precision of self-made labels over the steps of pretraining, {scale}"
        return save(figure, folder, "figure-labels", title, caption, records)


def layer_figure(results: Results, folder: Path, scale: str) -> Drawing | None:
    """AER by layer (the paper's Figure 2, on derived languages), each side encoded alone and as one row."""
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
        return save(
            figure, folder, "figure-layers", f"Figure 2 of XLM-Align on derived languages, {scale}", caption, records
        )


def _labels(results: Results, objective: str, transform: str, metric: str) -> dict[int, BySeed]:
    return results.growth(objective, transform, metric, LABELS)


def _errors(results: Results, objective: str, transform: str, layers: list[int], end: str) -> dict[int, BySeed]:
    found = {n: results.scores(AER, objective, transform, "", f"layer {n}{end}") for n in layers}
    return {layer: scores for layer, scores in found.items() if scores}


def _seeds(panel: Axes, values: dict[int, BySeed], colour: str, marker: str) -> None:
    """Each seed as a thin line and their mean as a thick one, in percent."""
    steps, seeds = list(values), sorted({seed for scores in values.values() for seed in scores})
    for seed in seeds if len(seeds) > 1 else ():
        line = {step: scores[seed].value for step, scores in values.items() if seed in scores}
        panel.plot(list(line), [100 * value for value in line.values()], color=colour, linewidth=0.8, alpha=0.5)
    means = [100 * sum(one.value for one in scores.values()) / len(scores) for scores in values.values()]
    panel.plot(steps, means, color=colour, marker=marker, markersize=6, markevery=1 + len(steps) // MARKERS)


def _intervals(panel: Axes, values: dict[int, BySeed], colour: str, marker: str, shift: float) -> None:
    """Means over seeds with their intervals, in percent, `shift` beside their layers."""
    found = [(layer + shift, mean(scores)) for layer, scores in values.items()]
    known = [(x, one) for x, one in found if one]
    panel.plot([x for x, _ in known], [100 * one.mean for _, one in known], color=colour, marker=marker, markersize=6)
    for x, one in known:
        if one.seeds > 1 and one.low is not None and one.high is not None:
            panel.plot([x, x], [100 * max(one.low, 0.0), 100 * min(one.high, 1.0)], color=colour, alpha=0.4)
