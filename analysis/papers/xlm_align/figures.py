"""Plot XLM-Align's results: Tables 3 to 7 as gains, AER by layer (Figure 2), and tasks by language."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.markers import CARETLEFTBASE, CARETRIGHTBASE
from matplotlib.ticker import MaxNLocator

from calque.analysis.papers.looks import PUBLISHED, Look, family, keys, looks
from calque.analysis.papers.texts import heading, plot
from calque.analysis.papers.xlm_align import ablations
from calque.analysis.papers.xlm_align.ablations import DEFAULT, TABLES, TASKS
from calque.analysis.papers.xlm_align.continued import (
    PAPER,
    SMALL,
    SOURCE_SCORE,
    ZERO_SHOT,
    Continued,
    set_title,
)
from calque.analysis.papers.xlm_align.continued_tables import BY_LANGUAGE, printed_errors, printed_metrics
from calque.analysis.records.record import AER, Published
from calque.analysis.report import drawing
from calque.analysis.report.drawing import INK
from calque.analysis.report.plot import Plot
from calque.analysis.results.measured import difference, mean, means
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title

ARROWS = (CARETLEFTBASE, CARETRIGHTBASE)  # markers for intervals that extend beyond the axis
BELOW = 0.24  # vertical offset of the paper's number from ours, as a fraction of a row's height
COLUMNS, MANY = (2, 4)  # panels per row, and the minimum number of panels in a figure as wide as a page
CLOSE = 12  # if there are more languages than this, their names are set smaller
LOWEST = 4  # layers below 1 / LOWEST of the depth are not drawn
PAPERS, PAPERS_LAYER = ("XLM-R", PAPER), 8  # the paper's encoders, and the layer (of 12) that it reports
NAMES = 1.9  # width in inches of settings' names
WIDTH = 0.8  # width of one language's models, as a fraction of the distance between languages
ROOM, LEAST = 0.5, 5.0  # margin of the axis: a fraction of the data's range, and its minimum in points


def ablation_figure(results: Results, scale: str) -> Plot | None:
    """Plot each setting's gain over unmodified XLM-Align, with one panel per task and a common scale."""
    every = ablations.settings(results)
    rows = list(dict.fromkeys((s.name, s.objective, s.transform) for s in every if s.name != DEFAULT))
    default = ablations.variant(results, ablations.usual_start(results))
    tasks = [task for task in TASKS if task in results.tasks]
    if not rows or not tasks or default is None:
        return None
    gains = dict[tuple[int, str], Estimate | None]()
    for (y, (_, objective, transform)), task in product(enumerate(rows), tasks):
        cell = (transform, task, PRIMARY[task])
        gains[y, task] = difference(*(results.scores("ZS", o, *cell) for o in (objective, default)))
    published, printed = _published_gains(results)
    theirs = [printed[name, task] for name, _, _ in rows for task in tasks if (name, task) in printed]
    limits = _limits([*(gain.mean for gain in gains.values() if gain), *theirs])

    def draw(panel: Axes, task: str) -> None:
        for y, (name, objective, _) in enumerate(rows):
            kind = family(results.objective(objective))
            if kind and (gain := gains[y, task]):
                _draw_gain(panel, y, gain, kind.look, limits)
            if (name, task) in printed:
                x = 100 * printed[name, task]
                style: dict[str, Any] = {"color": INK, "markerfacecolor": "#ffffff", "markersize": 5}
                drawing.draw_line(panel, x, y + BELOW, across=True, fmt="D", **style)
        panel.axvline(0, color=INK, linewidth=0.8)
        panel.set_xlim(*limits)
        panel.xaxis.set_major_locator(MaxNLocator(3, prune="both"))  # keeps adjacent panels' labels apart

    panels = [(f"{task_title(task)}\n{metric_title(PRIMARY[task])}", task) for task in tasks]
    title, height = heading("figure-ablations"), 0.8 + 0.38 * len(rows)
    shared: dict[str, Any] = {"labels": ("ZS gain", ""), "sharex": True, "sharey": True}
    with drawing.small_multiples(title, panels, draw, len(tasks), height, **shared) as (figure, axes):
        names = [_row_name(results, name, transform) for name, _, transform in rows]
        axes[0, 0].set_yticks(range(len(names)), names)
        axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
        families = dict.fromkeys(family(results.objective(objective)) for _, objective, _ in rows)
        handles = [drawing.key(f"ours, {k.plain.title}", *k.look[:2]) for k in families if k]
        handles.append(drawing.key("published, at the paper’s scale", INK, "D", "none"))
        drawing.legend(figure, handles, 3)
    cells = {(s.objective, s.transform) for s in every}
    zero_shot = (record for record in results.records if record.measure == "ZS")
    records = [record for record in zero_shot if (results.objective_of(record), record.language) in cells]
    numbers = [p for p in published if p.task in tasks]
    return plot("figure-ablations", figure, results, scale, records, numbers)


def _row_name(results: Results, name: str, transform: str) -> str:
    under = f" ({results.transform_title(transform)})" if len(results.transforms) > 1 else ""
    return drawing.wrapped(name.removesuffix(ablations.OWN) + under, NAMES)


def _published_gains(results: Results) -> tuple[list[Published], dict[tuple[str, str], float]]:
    """Return the numbers in Tables 3 to 7, and their differences from the default by setting and task."""
    published = sorted((p for p in results.published if p.table in TABLES), key=lambda p: p.table)
    start = {p.task: p.value for p in published if p.table == 3 and p.setting == DEFAULT}
    return published, {(p.setting, p.task): p.value - start[p.task] for p in published if p.task in start}


def _limits(gains: Sequence[float]) -> tuple[float, float]:
    points = [0.0, *(100 * gain for gain in gains)]
    room = max(ROOM * (max(points) - min(points)), LEAST)
    return min(points) - room, max(points) + room


def _draw_gain(panel: Axes, y: int, gain: Estimate, look: Look, limits: tuple[float, float]) -> None:
    (both,) = drawing.ends([gain])
    style: dict[str, Any] = {"color": look.colour, "markersize": 6}
    drawing.draw_line(panel, 100 * gain.mean, y, [both], across=True, fmt=look.marker, **style)
    drawing.draw_intervals(panel, [y], [both], look.colour, across=True)
    for end, edge, side, arrow in zip(both or (), limits, (-1, 1), ARROWS, strict=False):
        if side * (end - edge) > 0:
            panel.plot(edge, y, linestyle="", marker=arrow, clip_on=False, **style)


def _published_key(name: str) -> Any:
    return drawing.key(f"{name}, published", *PUBLISHED[name][:2], "none")


def continued_figures(results: Results, scale: str) -> Iterator[Plot | None]:
    """Yield the figures on a released encoder and on models pretrained further from it."""
    study = Continued(results)
    yield task_figure(study, scale)
    yield from error_figures(study, scale)


def error_figures(study: Continued, scale: str) -> Iterator[Plot]:
    """Plot AER by layer for each aligner, with one panel per gold set, one line per model, and the paper's
    numbers at the layer that it reports."""
    look, layers = looks(study.results, study.models), range(study.layers // LOWEST, study.layers + 1)

    def draw(panel: Axes, content: tuple[str, str, list[Published]]) -> None:
        gold, aligner, printed = content
        for rank, (model, (colour, marker, dash)) in enumerate(look.items()):
            shift = 0.12 * (rank - (len(look) - 1) / 2)
            points = means((layer + shift, study.errors(model, gold, aligner, layer)) for layer in layers)
            line: dict[str, Any] = {"linestyle": dash, "linewidth": 1.2, "markersize": 4.5}
            drawing.draw_points(panel, points, colour, marker, **line)
        for p in printed:
            if p.objective in PAPERS and p.task == set_title(gold):
                colour, marker, _ = PUBLISHED[p.objective]
                style: dict[str, Any] = {"fillstyle": "none", "markersize": 7, "zorder": 4}
                drawing.draw_line(panel, PAPERS_LAYER, 100 * p.value, fmt=marker, color=colour, **style)
        panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))

    for aligner in study.aligners if look else ():
        printed = printed_errors(study, aligner)
        panels = [(set_title(gold), (gold, aligner, printed)) for gold in study.sets]
        title, labels = heading("figure-aer", aligner=aligner), ("layer", "AER, %")
        with drawing.small_multiples(title, panels, draw, COLUMNS, 1.9, labels, sharex=True) as (figure, _):
            theirs = [name for name in PAPERS if any(p.objective == name for p in printed)]
            drawing.legend(figure, [*keys(study.results, look, line=None), *map(_published_key, theirs)], 3)
        records = [r for r in study.results.records if r.measure == AER and r.aligner == aligner]
        about: dict[str, Any] = {"aligner": aligner, "layer": PAPERS_LAYER, "seeds": study.seeds}
        about["file"] = f"figure-aer-{aligner}"
        yield plot("figure-aer", figure, study.results, scale, records, printed, **about)


def _draw_languages(panel: Axes, languages: Sequence[str], small: bool) -> None:
    panel.set_xticks(range(len(languages)), languages)
    if small:
        panel.tick_params(axis="x", labelsize="small")
    panel.set(xlim=(-0.6, len(languages) - 0.4), ylim=(-3, 103))
    panel.grid(visible=False, axis="x")
    panel.axvline(0.5, color=INK, linewidth=0.5, linestyle=":")


def _published_scores(study: Continued, metrics: Mapping[str, str]) -> dict[str, list[Published]]:
    small = [p for task in metrics for p in study.of_small(task).values()]
    languages = {task: [study.source, *study.languages(task)] for task in metrics}
    return {
        name: [p for p in own if metrics.get(p.task) == p.metric and p.setting in languages[p.task]]
        for name, own in ((PAPER, study.printed(PAPER, BY_LANGUAGE)), (SMALL, small))
    }


def task_figure(study: Continued, scale: str) -> Plot | None:
    """Plot every model's score in every language (the source first) and the strongest baseline, with one
    panel per task."""
    source, results, look = study.source, study.results, looks(study.results, study.models)
    if not study.tasks or not look:
        return None
    metrics = {task: printed_metrics(task)[0] for task in study.tasks}
    languages = {task: [source, *study.languages(task)] for task in study.tasks}
    published = _published_scores(study, metrics)
    columns, width = (1, drawing.HALF) if len(metrics) < MANY else (COLUMNS, drawing.FULL)
    step = WIDTH / (len(look) + 1)

    def draw(panel: Axes, task: str) -> None:
        metric, own = metrics[task], languages[task]
        for place, language in enumerate(own):
            for rank, (model, (colour, marker, _)) in enumerate(look.items()):
                if score := mean(study.scored(model, task, language, metric)):
                    x = place + (rank - len(look) / 2) * step
                    drawing.draw_points(panel, [(x, score)], colour, marker, markersize=4.5, zorder=3)
            if low := results.floors.highest(task, metric, language, source):
                sides = [place - WIDTH / 2 - 0.05, place + WIDTH / 2 + 0.05]
                drawing.level(panel, low.value, sides, "-", INK, linewidth=1, zorder=1)
        for name, numbers in published.items():
            theirs = [p for p in numbers if p.task == task]
            places = [own.index(p.setting) + len(look) / 2 * step for p in theirs]
            colour, marker, _ = PUBLISHED[name]
            values = [100 * p.value for p in theirs]
            drawing.draw_line(panel, places, values, fmt=marker, color=colour, fillstyle="none")
        _draw_languages(panel, own, small=len(own) > CLOSE and width == drawing.FULL)

    panels = [(task_title(task), task) for task in metrics]
    title = heading("figure-tasks", source={"en": "English"}.get(source, source))
    with drawing.small_multiples(title, panels, draw, columns, 1.9, width=width) as (figure, axes):
        for panel, metric in zip(axes.flat, metrics.values(), strict=False):
            panel.set_ylabel(f"{metric_title(metric)}, %")
        floors = [f for f in results.floors.all if metrics.get(f.task) == f.metric and f.learnt == source]
        baseline = [drawing.key("strongest model-free baseline", INK, "", line="-")] if floors else []
        theirs = [_published_key(name) for name, numbers in published.items() if numbers]
        drawing.legend(figure, [*keys(results, look), *baseline, *theirs], 3)
    records = results.select((SOURCE_SCORE, ZERO_SHOT), metrics)
    about: dict[str, Any] = {"floors": floors, "seeds": study.seeds, "source": source}
    numbers = [p for own in published.values() for p in own]
    return plot("figure-tasks", figure, results, scale, records, numbers, **about)
