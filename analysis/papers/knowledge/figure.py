"""What models know of facts that the source's corpus alone states, by objective."""

from __future__ import annotations

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from analysis.papers.looks import bar_style, distinct, looks
from analysis.records.record import BOTH, CARRIED, KNOWN
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, MOST, SOFT, key, legend, styled
from analysis.report.whiskers import draw_intervals, ends
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results

GROUPS = {
    "asked in\nthe source": (KNOWN, "all", "null-95"),
    "stated in both,\nasked in the derived": (BOTH, "all", "null-95"),
    "carried,\nanswer seen": (CARRIED, "seen", "seen-null-95"),
    "carried,\nanswer held out": (CARRIED, "held-out", "held-out-null-95"),
}
"""Heads with the measure, the metric, and the metric of its null."""
FILLED = 0.84
"""Of a group's width, that its bars take."""
CAPTION = (
    "Facts are stated in the text of the source alone, but for those that are stated in both languages; a model names "
    "the answer among all of its relation. Seen answers are in the dictionary that some objectives are given. "
    "The dotted line is chance, a dashed one what in a seed one in twenty permutations of the same answers reaches: it "
    "differs from bar to bar, for a model may prefer some answers, seen ones among them. Lines on the bars are 95 % "
    "intervals over "
)


def knowledge_figure(results: Results, scale: str) -> Plot | None:
    """Accuracy by objective, a panel for each transform, a group of bars for each kind of question.

    None without any, or with more transforms or objectives than a figure can tell apart.
    """
    panels = [t for t in results.transforms if any(_scores(results, o, t, CARRIED, "all") for o in results.objectives)]
    if not panels or len(panels) > MOST or not distinct(results):
        return None
    with styled(FULL, 1.6 + 2.4 * len(panels), f"Facts of the source, asked in either language\n{scale}") as figure:
        axes = figure.subplots(len(panels), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for panel, transform in zip(axes, panels, strict=True):
            _bars(panel, results, transform)
            panel.set_title(results.transform_title(transform))
            panel.set_ylabel("accuracy, %")
            panel.set_ylim(0, 102)
            panel.grid(visible=False, axis="x")
        axes[-1].set_xticks(range(len(GROUPS)), list(GROUPS))
        handles: list[Artist] = [
            Patch(label=results.objective_title(name), **bar_style(look)) for name, look in looks(results).items()
        ]
        handles += [key("chance", INK, "", line=":"), key("null, 95 %", INK, "", line="--")]
        legend(figure, handles, 4)
        caption = CAPTION + ("seeds." if len(results.seeds) > 1 else "the facts, of one seed.")
        shown = {(CARRIED, "chance"), *((group[0], metric) for group in GROUPS.values() for metric in group[1:])}
        records = [r for r in results.records if (r.measure, r.metric) in shown]
        return Plot(figure, "figure-knowledge", "Facts of the source, asked in either language", caption, records)


def _bars(panel: Axes, results: Results, transform: str) -> None:
    width = FILLED / len(results.objectives)
    for i, (objective, look) in enumerate(looks(results).items()):
        for group, (measure, metric, level) in enumerate(GROUPS.values()):
            x = group + (i - (len(results.objectives) - 1) / 2) * width
            if score := mean(_scores(results, objective, transform, measure, metric)):
                panel.bar(x, 100 * score.mean, 0.92 * width, **bar_style(look))
                draw_intervals(panel, [x], ends([score]), INK)
            if null := mean(_scores(results, objective, transform, measure, level)):
                panel.plot([x - width / 2, x + width / 2], [100 * null.mean] * 2, "--", color=INK, linewidth=1)
    means = [mean(_scores(results, o, transform, CARRIED, "chance")) for o in results.objectives]
    if known := [one.mean for one in means if one]:
        panel.axhline(100 * max(known), color=SOFT, linestyle=":", linewidth=1)


def _scores(results: Results, objective: str, transform: str, measure: str, metric: str) -> BySeed:
    return results.scores(measure, objective, transform, "", metric)
