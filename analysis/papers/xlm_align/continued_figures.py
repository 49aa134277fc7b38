"""Before and after pretraining further: AER by layer (Figure 2 of XLM-Align), and tasks in every language."""

from collections.abc import Iterator
from typing import Any

from matplotlib.axes import Axes

from analysis.papers.looks import PUBLISHED, Look, looks
from analysis.papers.texts import heading, plot
from analysis.papers.xlm_align.continued import PAPER, SMALL, SOURCE_SCORE, ZERO_SHOT, Continued, set_title
from analysis.papers.xlm_align.continued_tables import BY_LANGUAGE, PUBLISHED_RULES, printed_metrics
from analysis.records.record import AER
from analysis.report.drawing import FULL, INK, draw_points, grid, key, legend, styled
from analysis.report.plot import Plot
from analysis.results.measured import mean, means
from analysis.tasks.catalog import metric_title, task_title

COLUMNS = 2
LOWEST = 4  # of the layers, one in so many is not drawn
PAPERS_LAYER = 8  # the layer of twelve that the paper's numbers are of
PAPERS = ("XLM-R", "XLM-Align")  # the paper's encoders
WIDTH = 0.7  # of the room between two languages, that the models of one take


def published_key(name: str) -> Any:
    """The legend's entry of a published encoder."""
    return key(f"{name}, published", *PUBLISHED[name][:2], "none")


def error_figures(study: Continued, scale: str) -> Iterator[Plot]:
    """AER by layer by each way to read links: a panel a gold set, a line a model, the paper's numbers at their layer.

    None with more models than a figure can tell apart.
    """
    if look := looks(study.results, study.models):
        yield from (_error_figure(study, look, aligner, scale) for aligner in study.aligners)


def _error_figure(study: Continued, look: dict[str, Look], aligner: str, scale: str) -> Plot:
    # As in the paper the lowest layers are not drawn: their rate is high and the same for all.
    sets, layers = study.sets, range(study.layers // LOWEST, study.layers + 1)
    printed = [p for p in study.results.published if p.table == 2 and p.setting in PUBLISHED_RULES.get(aligner, ())]
    height = 1.5 + 2.6 * -(-len(sets) // COLUMNS)
    with styled(FULL, height, heading("figure-aer", scale, aligner=aligner)) as figure:
        axes = grid(figure, len(sets), COLUMNS, sharex=True)
        for place, (panel, gold) in enumerate(zip(axes.flat, sets, strict=False)):
            for rank, (model, (colour, marker, dash)) in enumerate(look.items()):
                shift = 0.12 * (rank - (len(look) - 1) / 2)
                points = means((layer + shift, study.errors(model, gold, aligner, layer)) for layer in layers)
                style: dict[str, Any] = {"linestyle": dash, "marker": marker, "markersize": 4.5, "linewidth": 1.2}
                draw_points(panel, points, colour, **style)
            for name in PAPERS:
                colour, marker, _ = PUBLISHED[name]
                style = {"color": colour, "fillstyle": "none", "markersize": 7, "zorder": 4}
                for one in printed:
                    if (one.objective, one.task) == (name, set_title(gold)):
                        panel.plot(PAPERS_LAYER, 100 * one.value, marker, **style)
            panel.set_title(set_title(gold))
            panel.set_xticks(layers)
            panel.set_xlabel("layer" if place >= len(sets) - COLUMNS else "")
            panel.set_ylabel("AER, %" if place % COLUMNS == 0 else "")
        handles = [key(study.title(model), one.colour, one.marker, line=one.dash) for model, one in look.items()]
        theirs = [name for name in PAPERS if any(one.objective == name for one in printed)]
        legend(figure, [*handles, *map(published_key, theirs)], 3)
    records = [r for r in study.results.records if r.measure == AER and r.aligner == aligner]
    about: dict[str, Any] = {"aligner": aligner, "layer": PAPERS_LAYER, "seeds": study.seeds}
    about["item"] = "seed" if len(study.seeds) > 1 else "sentence"
    return plot("figure-aer", figure, study.results, records, printed, file=f"figure-aer-{aligner}", **about)


def task_figure(study: Continued, scale: str) -> Plot | None:
    """A panel a task: a marker for each model in each language, the source first, above the strongest baseline there.

    None without a task, or with more models than a figure can tell apart.
    """
    source, look = study.source, looks(study.results, study.models) if study.tasks else {}
    if not look:
        return None
    metrics = {task: printed_metrics(task)[0] for task in study.tasks}
    languages = {task: [source, *study.languages(task)] for task in study.tasks}
    small = [number for task in metrics for number in study.of_small(task).values()]
    published = {
        name: [p for p in numbers if metrics.get(p.task) == p.metric and p.setting in languages[p.task]]
        for name, numbers in ((PAPER, study.printed(PAPER, BY_LANGUAGE)), (SMALL, small))
    }
    columns = min(COLUMNS, len(metrics))
    height = 1.7 + 2.3 * -(-len(metrics) // columns)
    with styled(FULL, height, heading("figure-tasks", scale, source=source)) as figure:
        axes = grid(figure, len(metrics), columns)
        for panel, (task, metric) in zip(axes.flat, metrics.items(), strict=False):
            for place, language in enumerate(languages[task]):
                _scores(panel, study, look, task, metric, language, place)
            for name, numbers in published.items():
                theirs = [one for one in numbers if one.task == task]
                places = [_place(languages[task].index(one.setting), len(look), len(look)) for one in theirs]
                colour, marker, _ = PUBLISHED[name]
                panel.plot(places, [100 * one.value for one in theirs], marker, color=colour, fillstyle="none")
            panel.set_xticks(range(len(languages[task])), languages[task], fontsize=8)
            panel.set_xlim(-0.6, len(languages[task]) - 0.4)
            panel.set_ylim(-3, 103)
            panel.grid(visible=False, axis="x")
            panel.axvline(0.5, color=INK, linewidth=0.5, linestyle=":")
            panel.set_title(task_title(task))
            panel.set_ylabel(f"{metric_title(metric)}, %")
        handles = [key(study.title(model), one.colour, one.marker) for model, one in look.items()]
        floors = [f for f in study.results.floors.all if metrics.get(f.task) == f.metric and f.learnt == source]
        handles += [key("strongest baseline without a model", INK, "", line="-")] if floors else []
        legend(figure, [*handles, *(published_key(name) for name, numbers in published.items() if numbers)], 3)
    records = [r for r in study.results.select((SOURCE_SCORE, ZERO_SHOT), metrics) if study.is_whole(r)]
    about: dict[str, Any] = {"source": source, "model": SMALL, "seeds": study.seeds}
    parts = [part for part, name in (("published", PAPER), ("small", SMALL)) if published[name]]
    numbers = [*published[PAPER], *published[SMALL]]
    return plot("figure-tasks", figure, study.results, records, numbers, floors, parts=parts, **about)


def _place(language: int, rank: int, models: int) -> float:
    """The place of a model; published numbers are right of a language's models."""
    return language + (rank - models / 2) * WIDTH / (models + 1)


def _scores(
    panel: Axes, study: Continued, look: dict[str, Look], task: str, metric: str, language: str, place: int
) -> None:
    """The models' markers in a language, side by side, and the line below them."""
    for rank, (model, (colour, marker, _)) in enumerate(look.items()):
        if score := mean(study.scored(model, task, language, metric)):
            style: dict[str, Any] = {"marker": marker, "linestyle": "none", "markersize": 4.5, "zorder": 3}
            draw_points(panel, [(_place(place, rank, len(look)), score)], colour, **style)
    if low := study.results.floors.highest(task, metric, language, study.source):
        sides = [place - WIDTH / 2 - 0.05, place + WIDTH / 2 + 0.05]
        panel.plot(sides, [100 * low.value] * 2, "-", color=INK, linewidth=1, zorder=1)
