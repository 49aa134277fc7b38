"""Tables, claims and figures about a released encoder and models pretrained further from it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, permutations, product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calque.analysis.papers.colours import Look, keys, looks
from calque.analysis.papers.columns import score_title, shown_records, task_columns
from calque.analysis.papers.texts import chart, table
from calque.analysis.records.record import AER, RETRIEVAL
from calque.analysis.report import drawing
from calque.analysis.report.drawing import INK, Plot
from calque.analysis.report.table import FLOOR, OURS, Table, cell, listed, over_seeds, percent
from calque.analysis.results import (
    BySeed,
    Key,
    Results,
    average,
    gap,
    judge_estimate,
    mean,
    mean_of_all,
    means,
)
from calque.analysis.tasks.catalogue import PRIMARY, PRINTED, TASKS, Questions, metric_title, task_title
from calque.analysis.verdicts import Claim
from calque.derive.errors import BadInput

SOURCE_SCORE, ZERO_SHOT = "SRC", "ZS"  # a task's measures in the training language, and in other languages
MAIN = -1  # a model's main layer
PAPERS_NAMES = {"de-en": "en-de", "ro-en": "en-ro"}  # the paper's names for gold sets, if different
XTREME = ("pos", "ner", "xquad", "mlqa", "tydiqa", "nli", "paraphrase")
"""XTREME's tasks except retrieval, in the order of the paper's Table 1."""
Pair = tuple[str, str]  # two languages
Rows = list[tuple[str, ...]]


class Continued:
    """A study's `models`, the start first, their `main` layers, the `pairs` for retrieval, and each task's
    `languages`, the source first. Raises BadInput without a starting model."""

    def __init__(self, results: Results) -> None:
        self.results, self.source = results, results.source
        errors, retrievals = results.keys(measure=AER), results.keys(measure=RETRIEVAL)
        self.sets = list(dict.fromkeys(key.gold_set for key in errors))
        self.aligners = list(dict.fromkeys(key.aligner for key in errors))
        self.pairs = list(dict.fromkeys((key.first, key.language) for key in retrievals))
        self.languages: dict[str, list[str]] = {}
        for task in TASKS:
            targets = dict.fromkeys(key.language for key in results.keys(measure=ZERO_SHOT, task=task))
            if targets:
                self.languages[task] = [self.source, *targets]
        runs = [run for run in results.runs.values() if run.objective]
        self.main = {run.objective.name: run.main_layer for run in runs if run.objective}
        self.start = next((run.objective.name for run in runs if run.objective and not run.start), "")
        if not self.start:
            raise BadInput("there are no records of the starting model, which this report needs")
        self.layer, self.layers = self.main[self.start], runs[0].layers
        self.learnt = [name for name in results.objectives if name != self.start]
        self.models, self.title = [self.start, *self.learnt], results.objective_title
        tuned = {record.run for record in results.records if record.measure in (SOURCE_SCORE, ZERO_SHOT)}
        self.seeds = sorted({r.seed for r in runs if (r.start if self.learnt else r.id in tuned)})
        others = listed([str(layer) for layer in sorted({*self.main.values()} - {self.layer})])
        self.read_at = f"layer {self.layer} of {self.layers}{f' before and {others} after' if others else ''}"

    def scores(self, task: str, metric: str = "") -> list[Key]:
        """Return the keys of a task's scores, the source's first."""
        source, *targets = self.languages.get(task, [self.source])
        about = task, metric or PRIMARY[task]
        zero_shot = [Key(ZERO_SHOT, "", name, *about) for name in targets]
        return [Key(SOURCE_SCORE, "", source, *about), *zero_shot]

    def values(self, model: str, keys: Iterable[Key]) -> BySeed:
        """Return the mean of a model's numbers. Among several seeds, a number of a single one has no
        interval, because one over items is not comparable with those over seeds."""
        numbers = []
        for key in keys:
            layer = self.main[model] if key.layer == MAIN else key.layer
            scores = self.results.scores(*key._replace(objective=model, layer=layer))
            if len(scores) == 1 and len(self.seeds) > 1:
                ((seed, score),) = scores.items()
                if model == self.start and not key.task:  # the starting model was trained only once
                    scores = dict.fromkeys(self.seeds, score)
                else:
                    scores = {seed: replace(score, error=None, parts=None)}
            numbers.append(scores)
        return average(numbers)

    def rows(self, columns: Sequence[Iterable[Key]], *labels: str) -> Rows:
        """Return a row for each model, with the mean over each column's numbers."""
        return [
            (self.title(model), *labels, *(_cell(self.values(model, keys)) for keys in columns))
            for model in self.models
        ]

    def table(self, name: str, heads: Iterable[str], rows: Rows, **about: Any) -> Table | None:
        """Return a table whose note describes the study's seeds and source."""
        seeds = over_seeds(self.seeds)
        if len(self.seeds) == 1:
            covers = "± is half the 95 % interval over the test’s sentences, and says nothing of other runs"
            seeds = f"one seed ({self.seeds[0]}): {covers}"
        return table(name, self.results, heads, rows, seeds=seeds, source=self.source, **about)


def _cell(values: BySeed) -> str:
    return cell(mean(values), over_items=True)


def error(gold: str, aligner: str, layer: int = MAIN) -> Key:
    """Return the key of an alignment error rate."""
    return Key(AER, "", "", metric="aer", layer=layer, aligner=aligner, gold_set=gold)


def _retrieval(pair: Pair, layer: int) -> Key:
    return Key(RETRIEVAL, "", pair[1], metric="cosine", layer=layer, first=pair[0])


def set_title(gold: str) -> str:
    """Return the paper's name for a gold set."""
    return PAPERS_NAMES.get(gold, gold)


def _printed_metrics(task: str) -> list[str]:
    """Return the metrics that papers report for a task: two for question answering."""
    reader = TASKS[task]
    return [metric.name for metric in reader.metrics] if isinstance(reader, Questions) else [PRINTED[task]]


def continued_tables(results: Results) -> dict[str, Table | None]:
    """Return a study's tables, by file name."""
    study = Continued(results)
    tables = {f"task-{task}": _task_table(study, task) for task in study.languages}
    xtreme = {"xtreme": _xtreme_table(study)} if len(study.languages) > 1 else {}
    return {**xtreme, **_error_tables(study), "retrieval": _retrieval_table(study), **tables}


def _xtreme_table(study: Continued) -> Table | None:
    tasks = sorted(study.languages, key=lambda task: XTREME.index(task) if task in XTREME else len(XTREME))
    rows: Rows = []
    for model in study.models:
        scores = [[study.values(model, study.scores(t, m)) for m in _printed_metrics(t)] for t in tasks]
        overall = average(list(map(average, scores)))
        rows.append((study.title(model), *map(_cell, chain(*scores)), _cell(overall)))
    languages = ", ".join(f"{task_title(task)} {len(study.languages[task])}" for task in tasks)
    heads = [score_title(task, metric) for task in tasks for metric in _printed_metrics(task)]
    heads.append(f"mean of {len(tasks)} tasks")
    return study.table("xtreme", heads, rows, tasks=tasks, languages=languages)


def _error_tables(study: Continued) -> dict[str, Table | None]:
    at_main, by_layer = Rows(), Rows()
    for aligner in study.aligners:
        rows_at = []
        for layer in (MAIN, *range(study.layers + 1)):
            keys = [error(gold, aligner, layer) for gold in study.sets]
            label = [] if layer == MAIN else [str(layer)]
            rows_at.append(study.rows([*([key] for key in keys), keys], aligner, *label))
        at_main += rows_at[0]
        by_layer += chain(*zip(*rows_at[1:], strict=True))
    pairs = {pair for run in study.results.runs.values() for pair in run.bitexts}
    read = {"-".join(names) for pair in pairs for names in permutations(pair)}
    unread = listed([set_title(gold) for gold in study.sets if gold not in read])
    heads = [*map(set_title, study.sets), "mean"]
    return {
        "aer": study.table("aer", heads, at_main, read=study.read_at, unread=unread),
        "layers": study.table("layers", heads, by_layer),
    }


def _retrieval_table(study: Continued) -> Table | None:
    if not study.pairs:
        return None
    groups = {f"{a} → {b}": [(a, b)] for a, b in study.pairs if study.source in (a, b)}
    if target_pairs := [pair for pair in study.pairs if study.source not in pair]:
        groups[f"{len(target_pairs)} others, mean"] = target_pairs
    groups[f"all {len(study.pairs)}, mean"] = study.pairs
    layers, by_group = (study.layer, study.layers), []
    for name, group in groups.items():
        by_group.append(study.rows([[_retrieval(pair, n) for pair in group] for n in layers], name))
    heads = [f"cosine, layer {n}" for n in layers]
    return study.table("retrieval", heads, list(chain(*zip(*by_group, strict=True))))


def _task_table(study: Continued, task: str) -> Table | None:
    languages, results, rows = study.languages[task], study.results, Rows()
    metrics = [metric.name for metric in TASKS[task].metrics]
    for metric in metrics:
        keys = study.scores(task, metric)
        rows += study.rows([*([key] for key in keys), keys[1:], keys], metric_title(metric), OURS)
    baselines = {floor.baseline: floor.title for floor in results.floors if floor.task == task}
    for metric, (name, title) in product(metrics, baselines.items()):
        values = [results.baseline(name, task, metric, language, study.source) for language in languages]
        cells = map(percent, [*values, mean_of_all(values[1:]), mean_of_all(values)])
        rows.append((title, metric_title(metric), FLOOR, *cells))
    heads = [*languages, "mean of the others", "mean of all"]
    return study.table("task", heads, rows, tasks=[task], task=task_title(task), floors=baselines)


def continued_claims(results: Results) -> Iterator[Claim]:
    """Claim that each model improves on the starting model in mean AER, retrieval and each task."""
    study = Continued(results)

    def claim(model: str, verb: str, of: str, family: str, keys: Sequence[Key], side: int = 1) -> Claim:
        scores = ([study.values(one, [key]) for key in keys] for one in (model, study.start))
        text = f"{study.title(model)} {verb} than {study.title(study.start)}, mean of {len(keys)}{of}"
        where = "ours: for the papers’ claims, see calque paper"
        if family == "retrieval":
            where = "ours: the papers have no retrieval"
        return Claim(text, where, family, judge_estimate(gap(*scores), side))

    for model in study.learnt:
        for aligner in study.aligners:
            of, keys = f" gold sets, by {aligner}, {study.read_at}", [error(s, aligner) for s in study.sets]
            yield claim(model, "has a lower AER", of, "AER", keys, -1)
        if study.pairs:
            of = f" ordered pairs of languages, {study.read_at}"
            keys = [_retrieval(pair, MAIN) for pair in study.pairs]
            yield claim(model, "finds more translations", of, "retrieval", keys)
        for task in study.languages:
            verb, keys = f"transfers {task_title(task)} better", study.scores(task)[1:]
            yield claim(model, verb, "", "zero-shot transfer", keys)


# Figures: AER by layer, as in XLM-Align's Figure 2, and task scores by language

COLUMNS, MANY = (2, 4)  # panels per row, and the minimum number of panels in a figure as wide as a page
CLOSE = 12  # if there are more languages than this, their names are printed in a smaller font
LOWEST = 4  # layers below 1 / LOWEST of the depth are not drawn


def continued_figures(results: Results) -> Iterator[Plot | None]:
    """Yield the figures on a released encoder and on models pretrained further from it."""
    study = Continued(results)
    if look := looks(results, study.models):
        if study.languages:
            yield _task_figure(study, look)
        for aligner in study.aligners:
            yield _error_figure(study, look, aligner)


def _error_figure(study: Continued, look: Mapping[str, Look], aligner: str) -> Plot:
    layers = range(study.layers // LOWEST, study.layers + 1)

    def draw(panel: Axes, gold: str) -> None:
        for rank, (model, (colour, marker, dash)) in enumerate(look.items()):
            shift = 0.12 * (rank - (len(look) - 1) / 2)
            rates = ((layer + shift, study.values(model, [error(gold, aligner, layer)])) for layer in layers)
            style: dict[str, Any] = {"linestyle": dash, "linewidth": 1.2, "markersize": 4.5}
            drawing.draw_points(panel, means(rates), colour, marker, **style)
        panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))

    plot = chart(
        "figure-aer",
        study.results,
        [(set_title(gold), gold) for gold in study.sets],
        draw,
        (COLUMNS, 1.9),
        keys(study.results, look, line=None),
        [r for r in study.results.records if r.measure == AER and r.aligner == aligner],
        about={"aligner": aligner, "seeds": study.seeds},
        labels=("layer", "AER, %"),
        sharex=True,
    )
    return replace(plot, name=f"figure-aer-{aligner}")


def _task_figure(study: Continued, look: Mapping[str, Look]) -> Plot:
    source, results = study.source, study.results
    metrics = {task: _printed_metrics(task)[0] for task in study.languages}
    columns, width = (1, drawing.HALF) if len(metrics) < MANY else (COLUMNS, drawing.FULL)

    def draw(panel: Axes, task: str) -> None:
        languages = study.languages[task]
        _draw_scores(panel, study, look, task, metrics[task])
        panel.set_xticks(range(len(languages)), languages)
        if len(languages) > CLOSE and width == drawing.FULL:
            panel.tick_params(axis="x", labelsize="small")
        panel.set(xlim=(-0.6, len(languages) - 0.4), ylim=(-3, 103))
        panel.grid(visible=False, axis="x")
        panel.axvline(0.5, color=INK, linewidth=0.5, linestyle=":")
        panel.set_ylabel(f"{metric_title(metrics[task])}, %")

    floors = [f for f in results.floors if metrics.get(f.task) == f.metric and f.learnt == source]
    baseline = [drawing.key("strongest model-free baseline", INK, line="-")] if floors else []
    return chart(
        "figure-tasks",
        results,
        [(task_title(task), task) for task in metrics],
        draw,
        (columns, 1.9),
        [*keys(results, look), *baseline],
        shown_records(results, task_columns((SOURCE_SCORE, ZERO_SHOT), metrics.items())),
        floors=floors,
        about={"seeds": study.seeds, "source": {"en": "English"}.get(source, source)},
        width=width,
    )


def _draw_scores(panel: Axes, study: Continued, look: Mapping[str, Look], task: str, metric: str) -> None:
    numbers = study.scores(task, metric)
    for x, model, key in drawing.in_groups(list(look), numbers):
        if value := mean(study.values(model, [key])):
            drawing.draw_points(panel, [(x, value)], *look[model][:2], markersize=4.5, zorder=3)
    for place, key in enumerate(numbers):
        if floor := study.results.floor(task, metric, key.language, study.source):
            sides = [place - drawing.FILLED / 2, place + drawing.FILLED / 2]
            drawing.level(panel, floor.value, sides, "-", INK, linewidth=1, zorder=1)
