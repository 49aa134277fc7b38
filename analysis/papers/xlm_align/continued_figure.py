"""AER by layer before and after pretraining further: Figure 2 of XLM-Align, a panel a gold set."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from analysis.papers.xlm_align.continued import Continued
from analysis.papers.xlm_align.continued_tables import PUBLISHED_RULES
from analysis.papers.xlm_align.link_tables import PAPERS_NAMES
from analysis.records.record import AER, Published
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, LOOKS, Fill, key, legend, styled
from analysis.report.whiskers import whiskers
from analysis.results.measured import mean

COLUMNS = 2
LOWEST = 4
"""Of the layers, one in so many is not drawn."""
PAPERS_LAYER = 8
"""The layer of twelve that the paper's numbers are of."""
BEGINNING = (INK, "o")
"""The look of the start."""
PAPERS: tuple[tuple[str, str, Fill], ...] = (("XLM-R", "D", "none"), ("XLM-Align", "D", "full"))
"""The paper's encoders, and how their numbers are marked."""


def continued_figure(made: Continued, aligner: str, published: Sequence[Published], scale: str) -> Plot | None:
    """A line for each model by one way to read links, with intervals; the paper's numbers at their layer.

    None with more models than a figure can tell apart.
    """
    if len(made.learnt) > len(LOOKS):
        return None
    look = {made.start: BEGINNING} | dict(zip(made.learnt, LOOKS, strict=False))
    printed = [p for p in published if p.table == 2 and p.setting in PUBLISHED_RULES.get(aligner, ())]
    rows = -(-len(made.sets) // COLUMNS)
    with styled(FULL, 1.5 + 2.6 * rows, f"Word alignment by layer, before and after ({aligner})\n{scale}") as figure:
        axes = figure.subplots(rows, COLUMNS, sharex=True, squeeze=False)
        for panel in axes.flat[len(made.sets) :]:
            panel.remove()
        for number, (panel, gold) in enumerate(zip(axes.flat, made.sets, strict=False)):
            for place, model in enumerate(made.models):
                _line(panel, made, model, gold, aligner, look[model], 0.12 * (place - (len(made.models) - 1) / 2))
            for name, marker, fill in PAPERS:
                for one in printed:
                    if (one.objective, one.task) == (name, PAPERS_NAMES.get(gold, gold)):
                        x, y = PAPERS_LAYER, 100 * one.value
                        panel.plot(x, y, marker, color=LOOKS[4][0], fillstyle=fill, markersize=7, zorder=4)
            panel.set_title(PAPERS_NAMES.get(gold, gold))
            panel.set_xticks(_drawn(made))
            panel.set_xlabel("layer" if number >= len(made.sets) - COLUMNS else "")
            panel.set_ylabel("AER, %" if number % COLUMNS == 0 else "")
        handles = [key(made.title(model), *look[model], line="-") for model in made.models]
        handles += [
            key(f"{name}, published", LOOKS[4][0], marker, fill)
            for name, marker, fill in PAPERS
            if any(one.objective == name for one in printed)
        ]
        legend(figure, handles, 3)
        many = len(made.seeds) > 1
        over = "over seeds" if many else "over the sentences of one seed’s test"
        compared = "seed by seed" if many else "sentence by sentence"
        caption = (
            f"AER is the alignment error rate, lower is better; links by {aligner}, each sentence encoded alone. Bars "
            f"are 95 % intervals {over}; models see the same sentences, so the claims, which compare them {compared}, "
            "tell more apart than bars do. Lower layers, of a high rate, are in the table."
        )
        if printed:
            caption += f" Published numbers are of layer {PAPERS_LAYER} of models at the paper’s scale."
        records = [r for r in made.results.records if r.measure == AER and r.aligner == aligner]
        title = f"Figure 2 of XLM-Align from another start: alignment error rate by layer ({aligner})"
        return Plot(figure, f"figure-aer-{aligner}", title, caption, records, printed)


def _line(
    panel: Axes, made: Continued, model: str, gold: str, aligner: str, look: tuple[str, str], shift: float
) -> None:
    """Means in percent by layer, and their intervals `shift` beside them."""
    colour, marker = look
    by_layer = ((layer, mean(made.errors(model, gold, aligner, layer))) for layer in _drawn(made))
    known = [(layer + shift, estimate) for layer, estimate in by_layer if estimate]
    layers, values = [layer for layer, _ in known], [100 * estimate.mean for _, estimate in known]
    panel.plot(layers, values, "-", color=colour, marker=marker, markersize=4.5, linewidth=1.2)
    bars = whiskers([estimate for _, estimate in known])
    if bars is not None:
        panel.errorbar(layers, values, bars, fmt="none", ecolor=f"{colour}80", elinewidth=1)


def _drawn(made: Continued) -> range:
    """The layers that are drawn: as in the paper not the lowest, whose rate is high and the same for all."""
    return range(made.layers // LOWEST, made.layers + 1)
