"""What XLM-Align's labels of its own are worth as it trains."""

from __future__ import annotations

from matplotlib.axes import Axes

from analysis.records.record import LABELS
from analysis.records.results import BySeed, Results, objective_name, transform_name
from analysis.report.plot import Plot
from analysis.report.style import NARROWEST, WIDE, distinct, key, looks, styled

KINDS = {"precision": "right links of those labelled, %", "share": "words with a label, %"}
MARKERS = 8
"""On a line, about, so that they do not hide it."""
LABELLING = (
    "XLM-Align labels sentence pairs by itself: it links the words whose hidden states are most alike and learns to "
    "point from a masked word to the one that it is linked to. The languages are derived, so the right links are known."
)


def label_figure(results: Results, scale: str) -> Plot | None:
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
        return Plot(figure, "figure-labels", title, caption, records)


def _labels(results: Results, objective: str, transform: str, metric: str) -> dict[int, BySeed]:
    return results.growth(objective, transform, metric, LABELS)


def _seeds(panel: Axes, values: dict[int, BySeed], colour: str, marker: str) -> None:
    """Each seed as a thin line and their mean as a thick one, in percent."""
    steps, seeds = list(values), sorted({seed for scores in values.values() for seed in scores})
    for seed in seeds if len(seeds) > 1 else ():
        line = {step: scores[seed].value for step, scores in values.items() if seed in scores}
        panel.plot(list(line), [100 * value for value in line.values()], color=colour, linewidth=0.8, alpha=0.5)
    means = [100 * sum(one.value for one in scores.values()) / len(scores) for scores in values.values()]
    panel.plot(steps, means, color=colour, marker=marker, markersize=6, markevery=1 + len(steps) // MARKERS)
