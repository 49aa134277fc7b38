"""Plot AER by layer, as in XLM-Align's Figure 2, and task scores by language, for models pretrained
further."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calque.analysis.papers.columns import shown_records, task_columns
from calque.analysis.papers.continued import (
    BY_LANGUAGE,
    PAPER,
    SMALL,
    SOURCE_SCORE,
    ZERO_SHOT,
    Continued,
    printed_errors,
    printed_metrics,
    set_title,
)
from calque.analysis.papers.looks import PUBLISHED, Look, keys, looks
from calque.analysis.papers.texts import heading, plot
from calque.analysis.records.record import AER, Published
from calque.analysis.report import drawing
from calque.analysis.report.drawing import INK, Plot
from calque.analysis.results.measured import mean, means
from calque.analysis.results.results import Results
from calque.analysis.tasks.catalog import metric_title, task_title

COLUMNS, MANY = (2, 4)  # panels per row, and the minimum number of panels in a figure as wide as a page
CLOSE = 12  # if there are more languages than this, their names are printed in a smaller font
LOWEST = 4  # layers below 1 / LOWEST of the depth are not drawn
PAPERS, PAPERS_LAYER = ("XLM-R", PAPER), 8  # the paper's encoders, and the layer (of 12) that it reports
WIDTH = 0.8  # width of one language's models, as a fraction of the distance between languages


def continued_figures(results: Results) -> Iterator[Plot | None]:
    """Yield the figures on a released encoder and on models pretrained further from it."""
    study = Continued(results)
    look = looks(results, study.models)
    if study.tasks and look:
        yield _task_figure(study, look)
    for aligner in study.aligners if look else ():
        yield _error_figure(study, look, aligner)


def _published_keys(names: Sequence[str]) -> list[Any]:
    return [drawing.key(f"{name}, published", *PUBLISHED[name][:2], "none") for name in names]


def _error_figure(study: Continued, look: Mapping[str, Look], aligner: str) -> Plot:
    """Plot AER by layer, with one panel per gold set, one line per model, and the paper's numbers."""
    layers = range(study.layers // LOWEST, study.layers + 1)
    printed = printed_errors(study, aligner)

    def draw(panel: Axes, gold: str) -> None:
        for rank, (model, (colour, marker, dash)) in enumerate(look.items()):
            shift = 0.12 * (rank - (len(look) - 1) / 2)
            points = means((layer + shift, study.errors(model, gold, aligner, layer)) for layer in layers)
            line: dict[str, Any] = {"linestyle": dash, "linewidth": 1.2, "markersize": 4.5}
            drawing.draw_points(panel, points, colour, marker, **line)
        for p in printed:
            if p.objective in PAPERS and p.task == set_title(gold):
                colour, marker, _ = PUBLISHED[p.objective]
                style: dict[str, Any] = {"fillstyle": "none", "markersize": 7, "zorder": 4}
                panel.plot(PAPERS_LAYER, 100 * p.value, marker, color=colour, **style)
        panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))

    panels = [(set_title(gold), gold) for gold in study.sets]
    title, labels = heading("figure-aer", aligner=aligner), ("layer", "AER, %")
    with drawing.small_multiples(title, panels, draw, COLUMNS, 1.9, labels, sharex=True) as (figure, _):
        theirs = [name for name in PAPERS if any(p.objective == name for p in printed)]
        drawing.legend(figure, [*keys(study.results, look, line=None), *_published_keys(theirs)], 3)
    records = [r for r in study.results.records if r.measure == AER and r.aligner == aligner]
    about: dict[str, Any] = {"aligner": aligner, "layer": PAPERS_LAYER, "seeds": study.seeds}
    about["file"] = f"figure-aer-{aligner}"
    return plot("figure-aer", figure, study.results, records, printed, **about)


def _task_figure(study: Continued, look: Mapping[str, Look]) -> Plot:
    """Plot every model's score in every language and the strongest baseline, with one panel per task."""
    source, results = study.source, study.results
    metrics = {task: printed_metrics(task)[0] for task in study.tasks}
    published = {name: _published(study, metrics, name) for name in (PAPER, SMALL)}
    columns, width = (1, drawing.HALF) if len(metrics) < MANY else (COLUMNS, drawing.FULL)

    def draw(panel: Axes, task: str) -> None:
        languages, step = study.languages[task], WIDTH / (len(look) + 1)
        for place in range(len(languages)):
            _draw_scores(panel, study, look, task, metrics[task], place)
        for name, numbers in published.items():
            theirs = [p for p in numbers if p.task == task]
            places = [languages.index(p.setting) + len(look) / 2 * step for p in theirs]
            its, values = PUBLISHED[name], [100 * p.value for p in theirs]
            panel.plot(places, values, its.marker, color=its.colour, fillstyle="none")
        panel.set_xticks(range(len(languages)), languages)
        if len(languages) > CLOSE and width == drawing.FULL:
            panel.tick_params(axis="x", labelsize="small")
        panel.set(xlim=(-0.6, len(languages) - 0.4), ylim=(-3, 103))
        panel.grid(visible=False, axis="x")
        panel.axvline(0.5, color=INK, linewidth=0.5, linestyle=":")

    panels = [(task_title(task), task) for task in metrics]
    title = heading("figure-tasks", source={"en": "English"}.get(source, source))
    with drawing.small_multiples(title, panels, draw, columns, 1.9, width=width) as (figure, axes):
        for panel, metric in zip(axes.flat, metrics.values(), strict=False):
            panel.set_ylabel(f"{metric_title(metric)}, %")
        floors = [f for f in results.floors.all if metrics.get(f.task) == f.metric and f.learnt == source]
        baseline = [drawing.key("strongest model-free baseline", INK, line="-")] if floors else []
        theirs = _published_keys([name for name, numbers in published.items() if numbers])
        drawing.legend(figure, [*keys(results, look), *baseline, *theirs], 3)
    records = shown_records(results, task_columns((SOURCE_SCORE, ZERO_SHOT), metrics.items()))
    numbers = [p for own in published.values() for p in own]
    about: dict[str, Any] = {"floors": floors, "seeds": study.seeds, "source": source}
    return plot("figure-tasks", figure, results, records, numbers, **about)


def _published(study: Continued, metrics: Mapping[str, str], name: str) -> list[Published]:
    numbers = study.printed(PAPER, BY_LANGUAGE)
    if name == SMALL:
        numbers = [p for task in metrics for p in study.of_small(task)]
    return [p for p in numbers if metrics.get(p.task) == p.metric and p.setting in study.languages[p.task]]


def _draw_scores(
    panel: Axes, study: Continued, look: Mapping[str, Look], task: str, metric: str, place: int
) -> None:
    """Draw the models' scores in one of a task's languages, and the strongest baseline."""
    language, step = study.languages[task][place], WIDTH / (len(look) + 1)
    for rank, (model, (colour, marker, _)) in enumerate(look.items()):
        if score := mean(study.scored(model, task, language, metric)):
            x = place + (rank - len(look) / 2) * step
            drawing.draw_points(panel, [(x, score)], colour, marker, markersize=4.5, zorder=3)
    if low := study.results.floors.highest(task, metric, language, study.source):
        sides = [place - WIDTH / 2 - 0.05, place + WIDTH / 2 + 0.05]
        drawing.level(panel, low.value, sides, "-", INK, linewidth=1, zorder=1)
