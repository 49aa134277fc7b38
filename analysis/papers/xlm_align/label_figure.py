"""Precision of XLM-Align's self-made labels over the steps of training."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from analysis.papers.looks import Look, distinct, looks
from analysis.records.record import LABELS
from analysis.report.plot import Plot
from analysis.report.style import FULL, MOST, key, legend, styled
from analysis.results.measured import BySeed
from analysis.results.results import Results

KINDS = {"precision": "label precision", "share": "words with a label"}
MARKERS = 8
"""On a line, about, so that they do not hide it."""
LABELLING = (
    "XLM-Align labels sentence pairs by itself: it links the words whose hidden states are most alike and learns to "
    "point from a masked word to the one that it is linked to. Label precision is the share of these links that is "
    "right; the languages are derived, so the right links are known."
)


def label_figure(results: Results, scale: str) -> Plot | None:
    """Precision of the labels beside the share of words that have one, over the steps, a row for each transform.

    None without labels, or with more objectives or transforms than a figure can tell apart.
    """
    rows = [t for t in results.transforms if any(_labels(results, o, t, "precision") for o in results.objectives)]
    shown = [o for o in results.objectives if any(_labels(results, o, t, "precision") for t in rows)]
    if not rows or not distinct(results) or len(rows) > MOST:
        return None
    look = {name: mark for name, mark in looks(results).items() if name in shown}
    several = len(results.seeds) > 1
    with styled(FULL, 1.7 + 2.2 * len(rows), f"Self-made labels over the steps of pretraining\n{scale}") as figure:
        axes = figure.subplots(len(rows), len(KINDS), sharex=True, sharey=True, squeeze=False)
        for row, transform in zip(axes, rows, strict=True):
            for panel, (metric, label) in zip(row, KINDS.items(), strict=True):
                for objective, mark in look.items():
                    _seeds(panel, _labels(results, objective, transform, metric), mark)
                panel.set_title(f"{results.transform_title(transform)}, {label}")
            row[0].set_ylabel("share, %")
            row[0].set_ylim(0, 103)
        axes[0, 0].xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes[0, 0].xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        for panel in axes[-1]:
            panel.set_xlabel("step, the steps of the start included")
        handles = [
            key(results.objective_title(name), mark.colour, mark.marker, line=mark.dash) for name, mark in look.items()
        ]
        legend(figure, handles, 2)
        caption = LABELLING + (" Thin lines are seeds, the thick one is their mean." if several else " One seed.")
        records = [r for r in results.records if r.measure == LABELS and r.metric in KINDS]
        title = "Precision of self-made labels over the steps of pretraining"
        return Plot(figure, "figure-labels", title, caption, records)


def _labels(results: Results, objective: str, transform: str, metric: str) -> dict[int, BySeed]:
    return results.growth(objective, transform, metric, LABELS)


def _seeds(panel: Axes, values: dict[int, BySeed], look: Look) -> None:
    """Each seed as a thin line and their mean as a thick one, in percent."""
    colour, marker, dash = look
    steps, seeds = list(values), sorted({seed for scores in values.values() for seed in scores})
    for seed in seeds if len(seeds) > 1 else ():
        line = {step: scores[seed].value for step, scores in values.items() if seed in scores}
        panel.plot(list(line), [100 * value for value in line.values()], dash, color=colour, linewidth=0.8, alpha=0.5)
    means = [100 * sum(measured.value for measured in scores.values()) / len(scores) for scores in values.values()]
    panel.plot(steps, means, dash, color=colour, marker=marker, markersize=6, markevery=1 + len(steps) // MARKERS)
