"""Scores of tasks in every language that they were tested in: a panel a task."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from analysis.papers.looks import PUBLISHED, Look, distinct, looks
from analysis.papers.small_encoder import MODEL, of_task
from analysis.papers.xlm_align.continued import SOURCE_SCORE, ZERO_SHOT, Continued
from analysis.papers.xlm_align.task_tables import BY_LANGUAGE, PAPER, printed_metrics
from analysis.papers.xlm_align.task_tables import THEIRS as SOURCE
from analysis.records.record import Published
from analysis.report.plot import Plot
from analysis.report.style import FULL, INK, key, legend, styled
from analysis.report.whiskers import draw_intervals, ends
from analysis.results.measured import mean
from analysis.tasks.catalog import metric_title, task_title

COLUMNS = 2
WIDTH = 0.7
"""Of the room between two languages, that the models of one take."""
STRONGEST = "strongest baseline without a model"


def task_figure(made: Continued, published: Sequence[Published], scale: str) -> Plot | None:
    """A marker for each model in each language, the source first, above a line for the strongest baseline there.

    None without a task, or with more models than a figure can tell apart.
    """
    if not made.tasks or not distinct(made.results, made.models):
        return None
    look = looks(made.results, made.models)
    shown = {task: printed_metrics(task)[0] for task in made.tasks}
    printed = [
        one
        for one in published
        if made.source == SOURCE
        and one.paper == PAPER
        and one.table in BY_LANGUAGE
        and shown.get(one.task) == one.metric
        and one.setting in (made.source, *made.languages(one.task))
    ]
    small = [
        one
        for task, metric in shown.items()
        for one in of_task(published, task).values()
        if made.source == SOURCE and one.metric == metric and one.setting in (made.source, *made.languages(task))
    ]
    columns = min(COLUMNS, len(shown))
    rows = -(-len(shown) // columns)
    with styled(FULL, 1.7 + 2.3 * rows, f"Zero-shot from {made.source}, by language\n{scale}") as figure:
        axes = figure.subplots(rows, columns, squeeze=False)
        for panel in axes.flat[len(shown) :]:
            panel.remove()
        for panel, (task, metric) in zip(axes.flat, shown.items(), strict=False):
            languages = [made.source, *made.languages(task)]
            for place, language in enumerate(languages):
                _scores(panel, made, look, task, metric, language, place)
            for (colour, marker, _), numbers in ((PUBLISHED[PAPER], printed), (PUBLISHED[MODEL], small)):
                theirs = [one for one in numbers if one.task == task]
                places = [_place(languages.index(one.setting), len(look), len(look)) for one in theirs]
                panel.plot(places, [100 * one.value for one in theirs], marker, color=colour, fillstyle="none")
            panel.set_xticks(range(len(languages)), languages, fontsize=8)
            panel.set_xlim(-0.6, len(languages) - 0.4)
            panel.set_ylim(-3, 103)
            panel.grid(visible=False, axis="x")
            panel.axvline(0.5, color=INK, linewidth=0.5, linestyle=":")
            panel.set_title(task_title(task))
            panel.set_ylabel(f"{metric_title(metric)}, %")
        handles = [key(made.title(model), one.colour, one.marker) for model, one in look.items()]
        floors = [
            floor
            for floor in made.results.floors.all
            if shown.get(floor.task) == floor.metric and floor.learnt == made.source
        ]
        handles += [key(STRONGEST, INK, "", line="-")] if floors else []
        handles += [key(f"{PAPER}, published", *PUBLISHED[PAPER][:2], "none")] if printed else []
        handles += [key(f"{MODEL}, published", *PUBLISHED[MODEL][:2], "none")] if small else []
        legend(figure, handles, 3)
        caption = (
            f"Fine-tuned on {made.source}, left of the dotted line, and tested there and in the others. "
            + ("Bars are 95 % intervals over seeds." if len(made.seeds) > 1 else "Bars are over the items of one seed.")
            + " A score that is not above the line says nothing of transfer." * bool(floors)
            + " XLM-Align, published: from XLM-R base, with XTREME’s own training and test sets." * bool(printed)
            + f" {MODEL}, of 12 layers and width 384: with whole training sets." * bool(small)
        )
        measures = (SOURCE_SCORE, ZERO_SHOT)
        records = [
            r
            for r in made.results.records
            if r.measure in measures and shown.get(r.task) == r.metric and made.is_whole(r)
        ]
        title = f"Tasks by language, zero-shot from {made.source}"
        return Plot(figure, "figure-tasks", title, caption, records, [*printed, *small], floors=floors)


def _place(language: int, number: int, models: int) -> float:
    """Where a model stands; what is published stands right of a language's models."""
    return language + (number - models / 2) * WIDTH / (models + 1)


def _scores(
    panel: Axes, made: Continued, look: dict[str, Look], task: str, metric: str, language: str, place: int
) -> None:
    """The models' markers in a language, side by side, and the line below them."""
    for number, (model, (colour, marker, _)) in enumerate(look.items()):
        if score := mean(made.scored(model, task, language, metric)):
            x = _place(place, number, len(look))
            panel.plot([x], [100 * score.mean], marker, color=colour, markersize=4.5, zorder=3)
            draw_intervals(panel, [x], ends([score]), colour)
    if low := made.results.floors.highest(task, metric, language, made.source):
        sides = [place - WIDTH / 2 - 0.05, place + WIDTH / 2 + 0.05]
        panel.plot(sides, [100 * low.value] * 2, "-", color=INK, linewidth=1, zorder=1)
