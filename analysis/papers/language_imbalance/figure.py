"""Token efficiency, transfer and alignment in equal and in unequal amounts, a column for each number of languages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from analysis.papers.language_imbalance.conditions import Condition, between, conditions, efficiencies, outward
from analysis.papers.language_imbalance.tables import EFFICIENCY
from analysis.papers.looks import Look, distinct, looks
from analysis.records.record import ALIGNMENT, HELD_OUT, READ, Published, Record
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, key, legend, styled
from analysis.report.whiskers import WIDE, Ends, draw_intervals, ends
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

LookUp = Callable[[Condition, str], BySeed]
TICKS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
ASIDE = 0.12
"""Objectives stand beside one another, so that their intervals can be seen."""
ROOM = 0.5
"""Of a step between two mixtures, to the left of the first and to the right of the last."""


@dataclass(frozen=True)
class Row:
    """A row of panels: what it shows, how it is looked up, whether that is the logarithm of a ratio, and whether its
    axis has the whole range of a share."""

    title: str
    look_up: LookUp
    ratio: bool = False
    whole: bool = False

    @property
    def wide(self) -> float:
        """From what length on an interval says little."""
        return math.inf if self.ratio else WIDE

    def scaled(self, value: float) -> float:
        """A number as it is drawn: a ratio, or a share in percent."""
        return math.exp(value) if self.ratio else 100 * value

    def ends(self, estimate: Estimate) -> Ends:
        """The ends of an interval as they are drawn."""
        if not self.ratio or estimate.low is None or estimate.high is None:
            return ends([estimate])[0]
        return math.exp(estimate.low), math.exp(estimate.high)


def imbalance_figure(results: Results, scale: str) -> Plot | None:
    """Small multiples: a row for each measure, a column for each number of languages, a line for each objective.

    None where there is no mixture of given shares, or with more objectives than a figure can tell apart.
    """
    shown = [condition for condition in conditions(results) if condition.shares]
    sizes = sorted({len(condition.languages) for condition in shown})
    rows = [row for row in _rows(results) if any(row.look_up(c, o) for c in shown for o in results.objectives)]
    if not shown or not rows or not distinct(results):
        return None
    printed = {p.setting: p for p in results.published if p.measure == EFFICIENCY}
    drawn: list[Published] = []
    with styled(FULL, 1.6 + 2.1 * len(rows), f"Clones of a language in equal and unequal amounts\n{scale}") as figure:
        axes = figure.subplots(len(rows), len(sizes), sharex="col", sharey="row", squeeze=False)
        for row, panels in zip(rows, axes, strict=True):
            for size, panel in zip(sizes, panels, strict=True):
                own = sorted((c for c in shown if len(c.languages) == size), key=lambda c: c.shares[0] / sum(c.shares))
                _draw(panel, row, own, looks(results))
                if row.ratio:
                    drawn += _draw_printed(panel, own, printed)
            panels[0].set_ylabel(row.title)
        for size, top in zip(sizes, axes[0], strict=True):
            top.set_title(f"{size} languages")
        for panel in axes[-1]:
            panel.tick_params(axis="x", labelsize=8)
        handles = [
            key(results.objective_title(name), look.colour, look.marker, line=look.dash)
            for name, look in looks(results).items()
        ]
        handles += [key("published, another kind of model", INK, "D", "none")] if drawn else []
        legend(figure, handles, 3)
        title = "Clones of a language in equal and unequal amounts"
        return Plot(figure, "figure-imbalance", title, _caption(results), _records(results), drawn)


def _rows(results: Results) -> list[Row]:
    tasks = [task for task in PRIMARY if task in results.tasks]

    def zero_shot(task: str) -> LookUp:
        return lambda condition, objective: between(results, condition, objective, outward(condition), task)

    return [
        Row(
            "token efficiency\nof the small",
            lambda condition, objective: efficiencies(results, condition, objective, condition.small).logs,
            ratio=True,
        ),
        *(
            Row(f"{task_title(task)} {metric_title(PRIMARY[task])},\nmain → small, %", zero_shot(task), whole=True)
            for task in tasks
        ),
        Row(
            "alignment@1 held-out,\nmain → small, %",
            lambda condition, objective: between(results, condition, objective, outward(condition)),
        ),
    ]


def _draw(panel: Axes, row: Row, own: Sequence[Condition], look: Mapping[str, Look]) -> None:
    """The mixtures of one number of languages, the first language's share ascending."""
    for place, (objective, (colour, marker, dash)) in enumerate(look.items()):
        known = [(x, estimate) for x, c in enumerate(own) if (estimate := mean(row.look_up(c, objective)))]
        aside = ASIDE * (place - (len(look) - 1) / 2)
        across, up = [x + aside for x, _ in known], [row.scaled(estimate.mean) for _, estimate in known]
        panel.plot(across, up, dash, color=colour, marker=marker, markersize=6)
        draw_intervals(panel, across, [row.ends(estimate) for _, estimate in known], colour, wide=row.wide)
    panel.set_xticks(range(len(own)), [condition.label for condition in own])
    panel.set_xlim(-ROOM, len(own) - 1 + ROOM)
    if row.ratio:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(FixedLocator(TICKS))
        panel.yaxis.set_minor_locator(NullLocator())
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.axhline(1, color=INK, linewidth=0.8)
    else:
        panel.set_ylim(0, 100 if row.whole else None)


def _draw_printed(panel: Axes, own: Sequence[Condition], printed: dict[str, Published]) -> list[Published]:
    """The paper's numbers of the same mixtures."""
    found = []
    for x, condition in enumerate(own):
        number = printed.get(f"{len(condition.languages)} languages, {condition.mixture.title}")
        if number is not None:
            panel.plot(x + 2 * ASIDE, number.value, "D", color=INK, markerfacecolor="#ffffff", markersize=6)
            found.append(number)
    return found


def _caption(results: Results) -> str:
    over = "over seeds" if len(results.seeds) > 1 else "over test items, where there are some; one seed"
    return (
        "Token efficiency: how many ids of a language alone give the same held-out loss, over the ids of it that the "
        "joint model read; above the line at 1 the other languages helped. Small: the mean over all languages but the "
        "first, which are its clones. Shares in percent of every step's rows, the first language's first; all models "
        "take equally many steps. Transfer: fine-tuned on the first language, tested on the small ones. Held-out types "
        f"are those outside the dictionary that ALIGN-MLM learns from. Bars are 95 % intervals {over}. White diamonds "
        "are Schäfer et al.’s, of autoregressive models at a larger scale."
    )


def _records(results: Results) -> list[Record]:
    """What the figure is made of."""
    measures = {(HELD_OUT, "nats"), (READ, "ids"), (ALIGNMENT, "held-out")}
    measures |= {("ZS", PRIMARY[task]) for task in results.tasks}
    return [record for record in results.records if (record.measure, record.metric) in measures]
