"""Alignment of word embeddings over the steps of pretraining."""

from __future__ import annotations

from matplotlib.axes import Axes

from analysis.papers.align_mlm.wording import ALIGNED
from analysis.records.record import ALIGNMENT
from analysis.records.results import Results, mean, objective_name, transform_name
from analysis.report.plot import Plot
from analysis.report.style import MOST, NARROWEST, WIDE, distinct, key, looks, styled


def growth_figure(results: Results, scale: str) -> Plot | None:
    """alignment@1 over the steps of pretraining, a line for each objective.

    None without two steps to join, or with more transforms or objectives than a figure can tell apart.
    """
    metrics = ("all", "held-out")
    panels = [
        t
        for t in results.transforms
        if any(len(results.growth(o, t, metric)) > 1 for o in results.objectives for metric in metrics)
    ]
    if not 0 < len(panels) <= MOST or not distinct(results.objectives):
        return None
    with styled(max(NARROWEST, WIDE * len(panels)), 6.8, f"How alignment grows, {scale}") as figure:
        axes = figure.subplots(len(metrics), len(panels), sharex=True, sharey="row", squeeze=False)
        for row, metric in zip(axes, metrics, strict=True):
            for panel, transform in zip(row, panels, strict=True):
                _lines(panel, results, transform, metric)
                panel.set_title(f"{transform_name(transform)}, {metric} types")
            row[0].set_ylabel("alignment@1, %")
            row[0].set_ylim(bottom=0)
            row[0].set_xlim(left=0)
        for panel in axes[-1]:
            panel.set_xlabel("step of pretraining")
        handles = [key(objective_name(name), *look, line="-") for name, look in looks(results.objectives).items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)))
        caption = (
            f"{ALIGNED} Held-out types are those that are not in the dictionary which DICT-MLM and ALIGN-MLM are "
            "given: only they show what a model found by itself."
        ) + (" Bands are 95 % intervals over seeds." if len(results.seeds) > 1 else " One seed, so no bands.")
        records = [r for r in results.records if r.measure == ALIGNMENT and r.metric in metrics]
        title = f"Alignment over the steps of pretraining, {scale}"
        return Plot(figure, "figure-growth", title, caption, records)


def _lines(panel: Axes, results: Results, transform: str, metric: str) -> None:
    for objective, (colour, marker) in looks(results.objectives).items():
        steps = {step: mean(shares) for step, shares in results.growth(objective, transform, metric).items()}
        known = {step: found for step, found in steps.items() if found}
        panel.plot(
            list(known), [100 * found.mean for found in known.values()], color=colour, marker=marker, markersize=5
        )
        banded = {
            step: (found.low, found.high)
            for step, found in known.items()
            if found.seeds > 1 and found.low is not None and found.high is not None
        }
        low = [100 * max(0.0, low) for low, _ in banded.values()]
        high = [100 * min(1.0, high) for _, high in banded.values()]
        panel.fill_between(list(banded), low, high, color=colour, alpha=0.15, linewidth=0)
