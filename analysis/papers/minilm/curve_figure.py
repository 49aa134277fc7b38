"""Scores by how many examples were learnt from, on a logarithmic axis: a panel a task."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from matplotlib.axes import Axes

from analysis.papers.looks import PUBLISHED
from analysis.papers.minilm.curve import Line, curves, line, over, strongest
from analysis.papers.small_encoder import LEARNT, MODEL, of_task
from analysis.papers.xlm_align.continued import Continued
from analysis.papers.xlm_align.task_tables import THEIRS
from analysis.records.floor import Floor
from analysis.records.record import Published, Record
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, LOOKS, key, legend, styled
from analysis.report.whiskers import draw_intervals, ends
from analysis.results.measured import BySeed, mean
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

SOURCE, OTHERS = LOOKS[0], LOOKS[2]
"""The looks of the language that is learnt, and of the mean of the others."""
BEYOND, ROOM = 0.22, 1.15
"""How wide the panel of published scores is, as a part of the other's; the first and the last amount's distance from
the sides, as a factor."""
FLOOR = "strongest baseline without a model, mean"


def curve_figure(made: Continued, published: Sequence[Published], scale: str) -> Plot | None:
    """The start's scores in the source and in the mean of the others, and what another encoder of its size reached.

    None where there is no learning curve.
    """
    if not (tasks := curves(made)):
        return None
    printed = {task: of_task(published, task) if made.source == THEIRS else {} for task in tasks}
    apart = any(printed.values())
    with styled(FULL, 1.6 + 3.0 * len(tasks), f"Zero-shot by training examples, from {made.source}\n{scale}") as figure:
        widths = [1.0, BEYOND] if apart else [1.0]
        panels = figure.subplots(len(tasks), len(widths), squeeze=False, sharey="row", width_ratios=widths)
        shown: list[Published] = []
        floors: list[Floor] = []
        for row, task in zip(panels, tasks, strict=True):
            low = strongest(made, task)
            _draw(row[0], made, task, low)
            row[0].set_ylabel(f"{metric_title(PRIMARY[task])}, %")
            row[0].set_title(task_title(task))
            if printed[task]:
                _beyond(row[1], made, task, printed[task], low)
            elif apart:
                row[1].remove()
            shown += (one for name, one in printed[task].items() if name in (made.source, *made.languages(task)))
            floors += low
        handles = [key(made.source, *SOURCE, line="-"), key("mean of the other languages", *OTHERS, line="-")]
        lines = any(line(made, made.start, task) for task in tasks)
        handles += [key("mean of all, continued straight on", INK, "", line=":")] if lines else []
        handles += [key(f"{MODEL}, published", *PUBLISHED[MODEL][:2], "none")] if shown else []
        handles += [key(FLOOR, INK, "", line="-")] if floors else []
        legend(figure, handles, 2)
        caption = (
            f"{made.title(made.start)}, fine-tuned on more and more examples of {made.source}. "
            + ("Bars are 95 % intervals over seeds." if len(made.seeds) > 1 else "Bars are over the items of one seed.")
            + " The dotted line goes through the mean of all languages at the three largest amounts; grey is its "
            "interval over seeds, as if scores did lie on a line. Curves bend, so it says where scores are heading and "
            "no more."
            * lines
            + f" Published: {MODEL}, in {made.source} and in the mean of these languages, in a panel of its own, "
            "because it learnt from many times as many examples." * bool(shown)
        )
        title = "Learning curves: is an encoder on its way to what others of its size reach?"
        return Plot(figure, "figure-examples", title, caption, _records(made, tasks), shown, floors=floors)


def _draw(panel: Axes, made: Continued, task: str, low: Sequence[Floor]) -> None:
    """Scores at every amount, the line through them, and the floor."""
    amounts = made.amounts(task)
    scores: list[tuple[tuple[str, str], list[BySeed]]] = [
        (SOURCE, [made.scored(made.start, task, made.source, examples=amount) for amount in amounts]),
        (OTHERS, [made.transferred(made.start, task, examples=amount) for amount in amounts]),
    ]
    if fitted := line(made, made.start, task):
        _continue(panel, fitted, amounts[0], amounts[-1])
    for (colour, marker), by_amount in scores:
        known = [
            (amount, estimate)
            for amount, by_seed in zip(amounts, by_amount, strict=True)
            if (estimate := mean(by_seed))
        ]
        places, values = [amount for amount, _ in known], [100 * estimate.mean for _, estimate in known]
        panel.plot(places, values, "-", color=colour, marker=marker, markersize=6, linewidth=1.2)
        draw_intervals(panel, places, ends([one for _, one in known]), colour)
    _floor(panel, low)
    _ticks(panel, amounts)
    panel.set_xlabel("training examples")


def _beyond(panel: Axes, made: Continued, task: str, theirs: dict[str, Published], low: Sequence[Floor]) -> None:
    """What is published, at as many examples as it was learnt from, and the end of the line."""
    end = LEARNT[task]
    if fitted := line(made, made.start, task):
        _continue(panel, fitted, end / ROOM, end * ROOM)
    colour, marker, _ = PUBLISHED[MODEL]
    for label, names in ((made.source, [made.source]), ("mean of all", [made.source, *made.languages(task)])):
        if (value := over(theirs, names)) is not None:
            panel.plot([end], [100 * value], marker, color=colour, fillstyle="none", markersize=7)
            at = (end, 100 * value)
            panel.annotate(label, at, xytext=(0, -7), textcoords="offset points", ha="center", va="top", fontsize=8)
    _floor(panel, low)
    _ticks(panel, [end])
    panel.spines["left"].set_linestyle(":")
    panel.tick_params(axis="y", length=0)


def _floor(panel: Axes, low: Sequence[Floor]) -> None:
    if low:
        panel.axhline(100 * fmean(floor.value for floor in low), color=INK, linewidth=1, zorder=1)


def _ticks(panel: Axes, amounts: Sequence[int]) -> None:
    panel.set_xscale("log")
    panel.set_xticks(amounts, [f"{amount:,}" for amount in amounts])
    panel.minorticks_off()
    panel.set_xlim(amounts[0] / ROOM, amounts[-1] * ROOM)


def _continue(panel: Axes, fitted: Line, start: float, end: float) -> None:
    """A line and its interval, as far as it gives scores that there can be."""
    along = [(amount, fitted.at(amount)) for amount in np.geomspace(start, end).tolist()]
    known = [(amount, one) for amount, one in along if 0 <= one.mean <= 1]
    places = [amount for amount, _ in known]
    panel.plot(places, [100 * one.mean for _, one in known], ":", color=INK, linewidth=1.2)
    bands = [(one.low, one.high) for _, one in known if one.low is not None and one.high is not None]
    if bands and len(bands) == len(known):
        low, high = 100 * np.clip(np.array(bands).T, 0, 1)
        panel.fill_between(places, low, high, color=INK, alpha=0.12, linewidth=0)


def _records(made: Continued, tasks: Sequence[str]) -> list[Record]:
    of_start = {run.id for run in made.results.runs.values() if run.objective and run.objective.name == made.start}
    return [
        record
        for record in made.results.records
        if record.task in tasks and record.examples and record.run in of_start and record.metric == PRIMARY[record.task]
    ]
