"""AER by layer before and after pretraining further: Figure 2 of XLM-Align, a panel a gold set."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from analysis.papers.looks import PUBLISHED, Look, distinct, looks
from analysis.papers.xlm_align.continued import Continued
from analysis.papers.xlm_align.continued_tables import PUBLISHED_RULES
from analysis.papers.xlm_align.link_tables import PAPERS_NAMES
from analysis.records.record import AER, Published
from analysis.report.plot import Plot
from analysis.report.style import FULL, key, legend, styled
from analysis.report.whiskers import draw_intervals, ends
from analysis.results.measured import mean

COLUMNS = 2
LOWEST = 4
"""Of the layers, one in so many is not drawn."""
PAPERS_LAYER = 8
"""The layer of twelve that the paper's numbers are of."""
PAPERS = ("XLM-R", "XLM-Align")
"""The paper's encoders."""


def continued_figure(made: Continued, aligner: str, published: Sequence[Published], scale: str) -> Plot | None:
    """A line for each model by one way to read links, with intervals; the paper's numbers at their layer.

    None with more models than a figure can tell apart.
    """
    if not distinct(made.results, made.models):
        return None
    look = looks(made.results, made.models)
    printed = [p for p in published if p.table == 2 and p.setting in PUBLISHED_RULES.get(aligner, ())]
    rows = -(-len(made.sets) // COLUMNS)
    with styled(FULL, 1.5 + 2.6 * rows, f"Word alignment by layer, before and after ({aligner})\n{scale}") as figure:
        axes = figure.subplots(rows, COLUMNS, sharex=True, squeeze=False)
        for panel in axes.flat[len(made.sets) :]:
            panel.remove()
        for number, (panel, gold) in enumerate(zip(axes.flat, made.sets, strict=False)):
            for place, model in enumerate(made.models):
                _line(panel, made, model, gold, aligner, look[model], 0.12 * (place - (len(made.models) - 1) / 2))
            for name in PAPERS:
                colour, marker, _ = PUBLISHED[name]
                for one in printed:
                    if (one.objective, one.task) == (name, PAPERS_NAMES.get(gold, gold)):
                        x, y = PAPERS_LAYER, 100 * one.value
                        panel.plot(x, y, marker, color=colour, fillstyle="none", markersize=7, zorder=4)
            panel.set_title(PAPERS_NAMES.get(gold, gold))
            panel.set_xticks(_drawn(made))
            panel.set_xlabel("layer" if number >= len(made.sets) - COLUMNS else "")
            panel.set_ylabel("AER, %" if number % COLUMNS == 0 else "")
        handles = [key(made.title(model), one.colour, one.marker, line=one.dash) for model, one in look.items()]
        handles += [
            key(f"{name}, published", PUBLISHED[name].colour, PUBLISHED[name].marker, "none")
            for name in PAPERS
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


def _line(panel: Axes, made: Continued, model: str, gold: str, aligner: str, look: Look, shift: float) -> None:
    """Means in percent by layer, and their intervals `shift` beside them."""
    colour, marker, dash = look
    by_layer = ((layer, mean(made.errors(model, gold, aligner, layer))) for layer in _drawn(made))
    known = [(layer + shift, estimate) for layer, estimate in by_layer if estimate]
    layers, values = [layer for layer, _ in known], [100 * estimate.mean for _, estimate in known]
    panel.plot(layers, values, dash, color=colour, marker=marker, markersize=4.5, linewidth=1.2)
    draw_intervals(panel, layers, ends([estimate for _, estimate in known]), colour)


def _drawn(made: Continued) -> range:
    """The layers that are drawn: as in the paper not the lowest, whose rate is high and the same for all."""
    return range(made.layers // LOWEST, made.layers + 1)
