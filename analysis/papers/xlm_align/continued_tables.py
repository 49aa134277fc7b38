"""Tabulate the results of a released encoder and of models pretrained further from it, next to published
numbers."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations, product
from typing import Any

from calque.analysis.aligners.methods import DEFAULT, RELEASED, SOFTMAX
from calque.analysis.papers.columns import printed_rows, score_title
from calque.analysis.papers.published import notes
from calque.analysis.papers.texts import table
from calque.analysis.papers.xlm_align.continued import (
    ABOUT_SMALL,
    PAPER,
    Continued,
    number,
    printed_cells,
    set_title,
)
from calque.analysis.records.record import MINED, MINED_XTREME, Published
from calque.analysis.report.table import FLOOR, OURS, PUBLISHED, Table, listed, over_seeds, percent
from calque.analysis.results.measured import average
from calque.analysis.results.results import Results
from calque.analysis.tasks.catalog import PRINTED, TASKS, metric_title, task_title
from calque.analysis.tasks.questions import Questions

MEANS, BY_LANGUAGE = (1, range(13, 20))  # the paper's tables of XTREME's means, and of tasks by language
XTREME = ("pos", "ner", "xquad", "mlqa", "tydiqa", "nli", "paraphrase")
"""XTREME's tasks except retrieval, in the order of the paper's Table 1."""
SIMALIGN, AWESOME = ("argmax, as SimAlign printed it",), "awesome-align"
PUBLISHED_RULES = {
    RELEASED.name: (PAPER, 2, ("optimal transport",)),
    DEFAULT.name: (PAPER, 2, SIMALIGN),
    "argmax": (PAPER, 2, SIMALIGN),
    SOFTMAX.name: (AWESOME, 1, ("softmax", "statistical")),
}
"""The paper, table and settings with published error rates of the same method or a similar one."""
METRICS = {"cosine": "cosine", "csls": "CSLS"}
MINED_HEADS = {MINED: "mining F1 (mutual)", MINED_XTREME: "mining F1 (XTREME’s rule)"}
OF_LANGUAGES = ("mean of the others", "mean of all")


def continued_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield a study's tables, each with its file name."""
    study = Continued(results)
    if len(study.tasks) > 1:
        yield "xtreme", _xtreme_table(study, scale)
    if study.sets:
        yield "aer", _errors(study, scale)
        heads, rows = [*map(set_title, study.sets), "mean"], []
        for aligner, model, layer in product(study.aligners, study.models, range(study.layers + 1)):
            rates = study.all_errors(model, aligner, layer)
            rows.append((study.title(model), aligner, str(layer), *map(number, (*rates, average(rates)))))
        yield "layers", continued_table(study, "layers", scale, ("model", "links by", "layer"), heads, rows)
    if study.pairs:
        yield "retrieval", _retrieval(study, scale)
    for task in study.tasks:
        yield f"task-{task}", _task_table(study, task, scale)


def continued_table(
    study: Continued,
    name: str,
    scale: str,
    labels: Sequence[str],
    heads: Iterable[str],
    rows: Iterable[tuple[str, ...]],
    **about: Any,
) -> Table:
    """Return a table from `texts.table`, filled with the values that all tables about such a study need."""
    covers = "± is half the 95 % interval over the test’s sentences, and says nothing of other runs"
    one = f"one seed ({', '.join(map(str, study.seeds))}): {covers}"
    about |= {"seeds": over_seeds(study.seeds) if len(study.seeds) > 1 else one}
    about |= {"source": study.source, "about_small": ABOUT_SMALL}
    return table(name, study.results, scale, labels, heads, rows, **about)


def printed_errors(study: Continued, aligner: str) -> list[Published]:
    """Return the published error rates to compare with a method's."""
    paper, number, settings = PUBLISHED_RULES.get(aligner, ("", 0, ()))
    return [p for p in study.printed(paper, [number]) if p.setting in settings]


def _errors(study: Continued, scale: str) -> Table:
    rows: list[tuple[str, ...]] = []
    for aligner, model in product(study.aligners, study.models):
        rates = study.all_errors(model, aligner)
        rows.append((study.title(model), aligner, OURS, *map(number, (*rates, average(rates)))))
    names = [*map(set_title, study.sets), "average"]
    theirs = [p for aligner in study.aligners for p in printed_errors(study, aligner)]
    for labels, its in printed_rows(theirs, ["objective", "setting"], "task").items():
        rows.append((*labels, PUBLISHED, *map(percent, map(its.get, names))))
    pairs = {pair for run in study.results.runs.values() for pair in run.bitexts}
    read = {"-".join(names) for pair in pairs for names in permutations(pair)}
    unread, papers = [set_title(gold) for gold in study.sets if gold not in read], {p.paper for p in theirs}
    parts = {"unread": unread, "published": PAPER in papers, "awesome": AWESOME in papers}
    about: dict[str, Any] = {"parts": parts, "read": study.read_at, "sets": listed(unread)}
    about["awesome_note"] = notes("awesome_align")[1]
    labels, heads = ("model", "links by", "source"), [*names[:-1], "mean"]
    return continued_table(study, "aer", scale, labels, heads, rows, **about)


def _retrieval(study: Continued, scale: str) -> Table:
    groups = {f"{a} → {b}": [(a, b)] for a, b in study.pairs if study.source in (a, b)}
    others = [pair for pair in study.pairs if study.source not in pair]
    groups |= {f"{len(others)} others, mean": others} if others else {}
    groups[f"all {len(study.pairs)}, mean"] = study.pairs
    layers = (study.layer, study.layers)
    main = f"layer {study.layer}" if len({*study.main.values()}) == 1 else "main layer"
    heads = [f"{title}, layer {layer}" for layer in layers for title in METRICS.values()]
    heads += [f"{MINED_HEADS[metric]}, {main}" for metric in study.mined]
    rows = []
    for model, (name, pairs) in product(study.models, groups.items()):
        columns = [
            [study.found(model, pair, metric, layer) for pair in pairs]
            for layer, metric in product(layers, METRICS)
        ]
        for metric in study.mined:  # in one direction, at each model's main layer
            found = (study.found(model, pair, metric, study.main[model]) for pair in pairs)
            columns.append([scores for scores in found if scores])
        rows.append((study.title(model), name, *map(number, map(average, columns))))
    parts = {"mining": study.mined, "xtreme": MINED_XTREME in study.mined}
    return continued_table(study, "retrieval", scale, ("model", "languages"), heads, rows, parts=parts)


def _xtreme_table(study: Continued, scale: str) -> Table:
    tasks = [name for name in XTREME if name in study.tasks]
    tasks += [name for name in study.tasks if name not in XTREME]
    columns = [(task, metric) for task in tasks for metric in printed_metrics(task)]
    rows: list[tuple[str, ...]] = []
    for model in study.models:
        means = {column: study.everywhere(model, *column) for column in columns}
        of_task = [average([its for (name, _), its in means.items() if name == task]) for task in tasks]
        rows.append((study.title(model), OURS, *map(number, (*means.values(), average(of_task)))))
    small = [its["mean"] for task in tasks if (its := study.of_small(task))]
    whole = tasks == list(XTREME)
    published = {(p.objective, p.task, p.metric): p.value for p in [*study.printed(PAPER, [MEANS]), *small]}
    for name in dict.fromkeys(name for name, _, _ in published):
        theirs = [*columns, ("average", "mean") if whole else ("", "")]
        rows.append((name, PUBLISHED, *(percent(published.get((name, *column))) for column in theirs)))
    languages = ", ".join(f"{task_title(task)} {len(study.languages(task)) + 1}" for task in tasks)
    overall = "average" if whole else f"mean of {len(tasks)} tasks"
    heads = [*(score_title(*column) for column in columns), overall]
    about: dict[str, Any] = {"parts": {"small": small}, "tasks": tasks, "languages": languages}
    return continued_table(study, "xtreme", scale, ("model", "source"), heads, rows, **about)


def _task_table(study: Continued, task: str, scale: str) -> Table:
    languages = [study.source, *study.languages(task)]
    metrics, floors = [metric.name for metric in TASKS[task].metrics], study.results.floors
    rows: list[tuple[str, ...]] = []
    for metric, model in product(metrics, study.models):
        scores = [study.scored(model, task, language, metric) for language in languages]
        cells = map(number, (*scores, average(scores[1:]), average(scores)))
        rows.append((study.title(model), metric_title(metric), OURS, *cells))
    baselines = floors.baselines([task])
    for metric, (name, baseline) in product(metrics, baselines.items()):
        of = {language: floors.of(task, metric, language, study.source) for language in languages}
        values = {language: its[name].value for language, its in of.items() if name in its}
        rows.append((baseline, metric_title(metric), FLOOR, *printed_cells(values, languages)))
    by_paper = [p for p in study.printed(PAPER, BY_LANGUAGE) if p.task == task]
    small = list(study.of_small(task).values())
    published = printed_rows([*by_paper, *small], ["metric", "objective"], "setting")
    order = [metric for metric, _ in published]
    for (metric, model), values in sorted(published.items(), key=lambda row: order.index(row[0][0])):
        rows.append((model, metric_title(metric), PUBLISHED, *printed_cells(values, languages)))
    tables = " and ".join(sorted({str(p.table) for p in by_paper}))
    about: dict[str, Any] = {"tasks": [task], "task": task_title(task), "tables": tables}
    about["parts"] = {"published": by_paper, "small": small, "floors": baselines}
    labels, heads = ("model", "metric", "source"), [*languages, *OF_LANGUAGES]
    return continued_table(study, "task", scale, labels, heads, rows, **about)


def printed_metrics(task: str) -> list[str]:
    """Return the metrics that papers report for a task: one, or two for question answering."""
    its = TASKS[task]
    return [metric.name for metric in its.metrics] if isinstance(its, Questions) else [PRINTED[task]]
