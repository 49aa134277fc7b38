"""Facts that one language states, asked in another: after the tests of PreAlign (Li et al. 2024)."""

from matplotlib.axes import Axes

from analysis.papers.columns import Column, records_of
from analysis.papers.looks import Look, bar_keys, looks
from analysis.papers.texts import heading, plot
from analysis.records.record import BOTH, CARRIED, KNOWN
from analysis.report.drawing import FULL, INK, MOST, SOFT, draw_intervals, ends, key, legend, styled
from analysis.report.plot import Plot
from analysis.results.measured import mean
from analysis.results.results import Results

CHANCE = Column("chance", CARRIED, "chance")
GROUPS = (
    (Column("asked in\nthe source", KNOWN, "all"), Column("", KNOWN, "null-95")),
    (Column("stated in both,\nasked in the derived", BOTH, "all"), Column("", BOTH, "null-95")),
    (Column("carried,\nanswer seen", CARRIED, "seen"), Column("", CARRIED, "seen-null-95")),
    (Column("carried,\nanswer held out", CARRIED, "held-out"), Column("", CARRIED, "held-out-null-95")),
)
"""Of the figure: a kind of question, and its null."""
FILLED = 0.84  # of a group's width, that its bars take


def knowledge_figure(results: Results, scale: str) -> Plot | None:
    """Accuracy by objective, a panel for each transform, a group of bars for each kind of question.

    None without any, or with more transforms or objectives than a figure can tell apart.
    """
    carried, look = Column("", CARRIED, "all"), looks(results)
    shown = [t for t in results.transforms if any(carried.values(results, o, t) for o in results.objectives)]
    if not shown or len(shown) > MOST or not look:
        return None
    with styled(FULL, 1.6 + 2.4 * len(shown), heading("figure-knowledge", scale)) as figure:
        axes = figure.subplots(len(shown), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for panel, transform in zip(axes, shown, strict=True):
            _bars(panel, results, look, transform)
            panel.set_title(results.transform_title(transform))
            panel.set_ylabel("accuracy, %")
            panel.set_ylim(0, 102)
            panel.grid(visible=False, axis="x")
        axes[-1].set_xticks(range(len(GROUPS)), [column.head for column, _ in GROUPS])
        levels = [key("chance", INK, "", line=":"), key("null, 95 %", INK, "", line="--")]
        legend(figure, [*bar_keys(results, look), *levels], 4)
    records = records_of(results, [CHANCE, *(column for group in GROUPS for column in group)])
    return plot("figure-knowledge", figure, results, records)


def _bars(panel: Axes, results: Results, look: dict[str, Look], transform: str) -> None:
    width = FILLED / len(look)
    for i, objective in enumerate(look):
        for group, (column, level) in enumerate(GROUPS):
            x = group + (i - (len(look) - 1) / 2) * width
            if score := mean(column.values(results, objective, transform)):
                panel.bar(x, 100 * score.mean, 0.92 * width, **look[objective].bar)
                draw_intervals(panel, [x], ends([score]), INK)
            if null := mean(level.values(results, objective, transform)):
                panel.plot([x - width / 2, x + width / 2], [100 * null.mean] * 2, "--", color=INK, linewidth=1)
    chances = [chance.mean for o in look if (chance := mean(CHANCE.values(results, o, transform)))]
    if chances:
        panel.axhline(100 * max(chances), color=SOFT, linestyle=":", linewidth=1)
