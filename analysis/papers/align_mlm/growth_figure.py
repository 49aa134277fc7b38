"""Alignment of word embeddings over the steps of pretraining."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from analysis.papers.align_mlm.wording import ALIGNED
from analysis.papers.looks import distinct, looks
from analysis.records.record import ALIGNMENT
from analysis.report.plot import Plot
from analysis.report.style import FULL, MOST, key, legend, styled
from analysis.report.whiskers import draw_intervals, ends
from analysis.results.measured import mean
from analysis.results.results import Results

METRICS = ("all", "held-out")
BARS, MARKERS = 3, 8
"""Intervals and markers on a line, about: more would hide the lines."""


def growth_figure(results: Results, scale: str) -> Plot | None:
    """alignment@1 by step, a row for each transform, all types beside held-out ones.

    None without two steps, or with more transforms or objectives than a figure can tell apart.
    """
    steps = {r.step for r in results.records if r.measure == ALIGNMENT and r.metric in METRICS}
    rows = results.transforms
    if len(steps) < 2 or len(rows) > MOST or not distinct(results):
        return None
    metrics = [m for m in METRICS if any(r.measure == ALIGNMENT and r.metric == m for r in results.records)]
    several = len(results.seeds) > 1
    with styled(FULL, 1.5 + 2.1 * len(rows), f"Alignment over the steps of pretraining\n{scale}") as figure:
        axes = figure.subplots(len(rows), len(metrics), sharex=True, sharey="row", squeeze=False)
        for row, transform in zip(axes, rows, strict=True):
            for panel, metric in zip(row, metrics, strict=True):
                _lines(panel, results, transform, metric)
                panel.set_title(f"{results.transform_title(transform)}, {metric} types")
            row[0].set_ylabel("alignment@1, %")
            row[0].set_ylim(bottom=0)
        axes[0, 0].xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes[0, 0].xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        for panel in axes[-1]:
            panel.set_xlabel("step of pretraining")
        handles = [
            key(results.objective_title(name), look.colour, look.marker, line=look.dash)
            for name, look in looks(results).items()
        ]
        legend(figure, handles, 4)
        caption = (
            f"{ALIGNED} Held-out types are those that are not in the dictionary which DICT-MLM and ALIGN-MLM are "
            "given: only they show what a model learnt without it."
        ) + (" Bars are 95 % intervals over seeds, at a few steps of each line." if several else " One seed.")
        records = [r for r in results.records if r.measure == ALIGNMENT and r.metric in metrics]
        return Plot(figure, "figure-growth", "Alignment over the steps of pretraining", caption, records)


def _lines(panel: Axes, results: Results, transform: str, metric: str) -> None:
    """A line for each objective, with intervals over seeds at steps where no other line has its own."""
    look = looks(results)
    for place, (objective, (colour, marker, dash)) in enumerate(look.items()):
        means = {step: mean(seeds) for step, seeds in results.growth(objective, transform, metric).items()}
        known = [(step, estimate) for step, estimate in means.items() if estimate]
        steps, values = [step for step, _ in known], [100 * estimate.mean for _, estimate in known]
        spacing = 1 + len(known) // MARKERS
        panel.plot(steps, values, dash, color=colour, marker=marker, markersize=5, markevery=spacing)
        stride = max(1, len(known) // BARS)
        first = place * stride // len(look)  # each objective's bars begin at a step of their own
        barred = [(step, estimate) for step, estimate in known[first::stride] if estimate.seeds > 1]
        draw_intervals(panel, [step for step, _ in barred], ends([estimate for _, estimate in barred]), colour)
