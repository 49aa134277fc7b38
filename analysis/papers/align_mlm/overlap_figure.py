"""Transfer and alignment against what a derived language shares with its source."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes

from analysis.papers.align_mlm.overlap import LOOK, NEW, Sharer, sharers
from analysis.papers.align_mlm.wording import ALIGNED, DELTA
from analysis.papers.looks import distinct
from analysis.records.record import ALIGNMENT, SHARING, Record
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, key, legend, styled
from analysis.report.whiskers import DIFFERENCE, SHARE, draw_intervals, ends
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

FEWEST = 3
"""The fewest different shares that are drawn."""
MOST_ROWS = 4
"""The most objectives, a row each."""
ALIGNED_TITLE = "alignment@1, held-out, %"


@dataclass(frozen=True)
class Column:
    """What a column of panels shows: a task's Delta, or alignment@1 where there is no task."""

    title: str
    task: str = ""

    def value(self, results: Results, objective: str, language: str) -> Estimate | None:
        """Its number for one cell of the study."""
        if self.task:
            return mean(results.deltas(objective, language, self.task, PRIMARY[self.task]))
        return mean(results.alignments(objective, language, "held-out"))


def overlap_figure(results: Results, scale: str) -> Plot | None:
    """Delta of each task and alignment@1 against the shared sub-words, a row for each objective, a look for each kind.

    None where fewer than three different shares were measured, or with more objectives than rows.
    """
    shown = sharers(results)
    if len({sharer.tokens.mean for sharer in shown}) < FEWEST or not distinct(results):
        return None
    columns = [
        Column(f"{task_title(t)} {metric_title(PRIMARY[t])}, Δ, points", t) for t in PRIMARY if t in results.tasks
    ]
    columns += [Column(ALIGNED_TITLE)] if any(record.measure == ALIGNMENT for record in results.records) else []
    rows = results.objectives
    if not columns or len(rows) > MOST_ROWS:
        return None
    with styled(FULL, 1.3 + 2.0 * len(rows), f"Transfer by what is shared\n{scale}") as figure:
        axes = figure.subplots(len(rows), len(columns), sharex=True, sharey="col", squeeze=False)
        for drawn, objective in zip(axes, rows, strict=True):
            for place, column in zip(drawn, columns, strict=True):
                _draw(place, column, results, objective, shown)
                place.set_title(f"{results.objective_title(objective)}\n{column.title}", fontsize=9.5)
        for place in axes[-1]:
            place.set_xlabel("sub-words shared, %")
        kinds = [kind for kind in LOOK if kind in {sharer.kind for sharer in shown}]
        legend(figure, [key(kind, *LOOK[kind]) for kind in kinds], 4)
        several = len(results.seeds) > 1
        caption = (
            "Each point is a language, by the share of the sub-words of its text that are its source’s own; colour "
            f"and shape say which types these are, and a line joins the steps of one dial. {DELTA} {ALIGNED} Held-out "
            "types are not in the dictionary; shared types are not asked for. Bars are 95 % intervals "
        ) + ("over seeds." if several else "over the test items of one seed, which say nothing of other seeds.")
        return Plot(figure, "figure-overlap", "Transfer by what is shared", caption, _records(results, shown))


def _draw(axes: Axes, column: Column, results: Results, objective: str, shown: list[Sharer]) -> None:
    values = [(sharer, column.value(results, objective, sharer.language)) for sharer in shown]
    known = [(sharer, value) for sharer, value in values if value]
    for kind, (colour, marker) in LOOK.items():
        own = [(100 * sharer.tokens.mean, value) for sharer, value in known if sharer.kind == kind]
        if not own:
            continue
        x, y = [share for share, _ in own], [value for _, value in own]
        draw_intervals(axes, x, ends(y, DIFFERENCE if column.task else SHARE), colour)
        axes.plot(x, [100 * value.mean for value in y], color=colour, marker=marker, markersize=6, linestyle="none")
        if len(own) > 1:
            dial = [(100 * s.tokens.mean, v.mean) for s, v in known if s.kind in (NEW, kind)]
            axes.plot([a for a, _ in dial], [100 * b for _, b in dial], "-", color=colour, linewidth=1, zorder=1)
    if column.task:
        axes.axhline(0, color=INK, linewidth=0.8)


def _records(results: Results, shown: list[Sharer]) -> list[Record]:
    kinds = [(SHARING, "", "tokens"), (ALIGNMENT, "", "held-out")]
    kinds += [(measure, task, PRIMARY[task]) for task in PRIMARY for measure in ("SUP", "ZS")]
    return [
        record
        for objective in results.objectives
        for sharer in shown
        for measure, task, metric in kinds
        for record in results.last(measure, objective, sharer.language, task, metric).values()
    ]
