"""Tabulate the results of an encoder and of models pretrained further from it, with published numbers
marked."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
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
from calque.analysis.tasks.catalog import PRINTED, TASKS, metric_title, task_title
from calque.analysis.tasks.questions import Questions

# Numbers of the paper's tables: XTREME's means, and its tasks by language.
MEANS, BY_LANGUAGE = (1, range(13, 20))
XTREME = ("pos", "ner", "xquad", "mlqa", "tydiqa", "nli", "paraphrase")
"""The tasks in XTREME except retrieval, in the order of the paper's Table 1."""
SIMALIGN, AWESOME = ("argmax, as SimAlign printed it",), "awesome-align"
PUBLISHED_RULES = {
    RELEASED.name: (PAPER, 2, ("optimal transport",)),
    DEFAULT.name: (PAPER, 2, SIMALIGN),
    "argmax": (PAPER, 2, SIMALIGN),
    SOFTMAX.name: (AWESOME, 1, ("softmax", "statistical")),
}
"""The paper, table and settings in which error rates for a method, or a similar one, were published."""
METRICS = {"cosine": "cosine", "csls": "CSLS"}
MINED_HEADS = {MINED: "mining F1 (mutual)", MINED_XTREME: "mining F1 (XTREME’s rule)"}
Rows = Iterable[tuple[str, ...]]
OF_LANGUAGES = ("mean of the others", "mean of all")


def continued_tables(study: Continued, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield the tables on XTREME, AER, AER by layer, retrieval, and each task by language, with their file
    names."""
    if len(study.tasks) > 1:
        yield "xtreme", xtreme_table(study, scale)
    if study.sets:
        yield "aer", _errors(study, scale)
        header = ("model", "links by", "layer", *map(set_title, study.sets), "mean")
        rows = [
            (study.title(model), aligner, str(layer), *_error_cells(study, model, aligner, layer))
            for aligner in study.aligners
            for model in study.models
            for layer in range(study.layers + 1)
        ]
        yield "layers", continued_table(study, "layers", scale, header, rows, 3)
    if study.pairs:
        yield "retrieval", _retrieval(study, scale)
    for task in study.tasks:
        yield f"task-{task}", task_table(study, task, scale)


def continued_table(
    study: Continued, name: str, scale: str, header: Iterable[str], rows: Rows, labels: int, **values: Any
) -> Table:
    """Build a table with `texts.table`, whose note may use values common to all tables about such a study."""
    covers = "± is half the 95 % interval over the test’s sentences, and says nothing of other runs"
    one = f"one seed ({', '.join(map(str, study.seeds))}): {covers}"
    values |= {"seeds": over_seeds(study.seeds) if len(study.seeds) > 1 else one}
    values |= {"source": study.source, "about_small": ABOUT_SMALL}
    return table(name, study.results, scale, header, rows, labels, **values)


def _error_cells(study: Continued, model: str, aligner: str, layer: int | None = None) -> list[str]:
    by_set = [study.errors(model, gold, aligner, layer) for gold in study.sets]
    return [*map(number, by_set), number(average(by_set))]


def printed_errors(study: Continued, aligner: str) -> list[Published]:
    """Return the published error rates to compare with a method's."""
    paper, number, settings = PUBLISHED_RULES.get(aligner, ("", 0, ()))
    return [p for p in study.printed(paper, [number]) if p.setting in settings]


def _errors(study: Continued, scale: str) -> Table:
    rows = [
        (study.title(model), aligner, OURS, *_error_cells(study, model, aligner))
        for aligner in study.aligners
        for model in study.models
    ]
    names = [*map(set_title, study.sets), "average"]
    theirs = [p for aligner in study.aligners for p in printed_errors(study, aligner)]
    for labels, its in printed_rows(theirs, ["objective", "setting"], "task").items():
        rows.append((*labels, PUBLISHED, *map(percent, map(its.get, names))))
    pairs = {pair for run in study.results.runs.values() for pair in run.bitexts}
    read = {"-".join(names) for pair in pairs for names in permutations(pair)}
    unread = [set_title(gold) for gold in study.sets if gold not in read]
    header, sets = ("model", "links by", "source", *names[:-1], "mean"), listed(unread)
    papers = {p.paper for p in theirs}
    parts = {"unread": unread, "published": PAPER in papers, "awesome": AWESOME in papers}
    about = {"read": study.read_at, "awesome_note": notes("awesome_align")[1]}
    return continued_table(study, "aer", scale, header, rows, 3, parts=parts, sets=sets, **about)


def _retrieval(study: Continued, scale: str) -> Table:
    groups = {f"{a} → {b}": [(a, b)] for a, b in study.pairs if study.source in (a, b)}
    others = [pair for pair in study.pairs if study.source not in pair]
    groups |= {f"{len(others)} others, mean": others} if others else {}
    groups[f"all {len(study.pairs)}, mean"] = study.pairs
    columns = [(layer, metric) for layer in (study.layer, study.layers) for metric in METRICS]
    columns += [(study.layer, metric) for metric in study.mined]  # at each model's own main layer

    def cell(model: str, pairs: Sequence[tuple[str, str]], layer: int, metric: str) -> str:
        layer = study.main[model] if metric in study.mined else layer
        by_pair = [study.found(model, pair, metric, layer) for pair in pairs]
        # Mined in one direction.
        return number(average([scores for scores in by_pair if scores or metric in METRICS]))

    rows = (
        (study.title(model), name, *(cell(model, pairs, *column) for column in columns))
        for model in study.models
        for name, pairs in groups.items()
    )
    main = f"layer {study.layer}" if len({*study.main.values()}) == 1 else "main layer"
    heads = [
        f"{(METRICS | MINED_HEADS)[metric]}, {main if metric in study.mined else f'layer {layer}'}"
        for layer, metric in columns
    ]
    parts = {"mining": study.mined, "xtreme": MINED_XTREME in study.mined}
    return continued_table(study, "retrieval", scale, ("model", "languages", *heads), rows, 2, parts=parts)


def xtreme_table(study: Continued, scale: str) -> Table:
    """Tabulate each task's mean over all languages, and the mean over tasks, computed as in XTREME."""
    tasks = [
        *(name for name in XTREME if name in study.tasks),
        *(name for name in study.tasks if name not in XTREME),
    ]
    columns = [(task, metric) for task in tasks for metric in printed_metrics(task)]
    rows: list[tuple[str, ...]] = []
    for model in study.models:
        means = {column: study.everywhere(model, *column) for column in columns}
        of_task = {
            task: average([means[column] for column in columns if column[0] == task]) for task in tasks
        }
        overall = average(list(of_task.values()))
        rows.append((study.title(model), OURS, *map(number, means.values()), number(overall)))
    small = [its["mean"] for task in tasks if (its := study.of_small(task))]
    whole = tasks == list(XTREME)
    published = {(p.objective, p.task, p.metric): p.value for p in [*study.printed(PAPER, [MEANS]), *small]}
    for name in dict.fromkeys(name for name, _, _ in published):
        theirs = [*columns, ("average", "mean") if whole else ("", "")]
        rows.append((name, PUBLISHED, *(percent(published.get((name, *column))) for column in theirs)))
    languages = ", ".join(f"{task_title(task)} {len(study.languages(task)) + 1}" for task in tasks)
    together = "average" if whole else f"mean of {len(tasks)} tasks"
    header, parts = (
        ("model", "source", *(score_title(*column) for column in columns), together),
        {"small": small},
    )
    return continued_table(
        study, "xtreme", scale, header, rows, 2, parts=parts, tasks=tasks, languages=languages
    )


def task_table(study: Continued, task: str, scale: str) -> Table:
    """Tabulate a task's scores by language, with floors and the paper's numbers for the same languages."""
    languages = [study.source, *study.languages(task)]
    metrics, floors = [metric.name for metric in TASKS[task].metrics], study.results.floors
    rows: list[tuple[str, ...]] = []
    for metric in metrics:
        for model in study.models:
            scores = [study.scored(model, task, language, metric) for language in languages]
            cells = map(number, (*scores, average(scores[1:]), average(scores)))
            rows.append((study.title(model), metric_title(metric), OURS, *cells))
    for metric in metrics:
        by_language = {language: floors.of(task, metric, language, study.source) for language in languages}
        for name, baseline in floors.baselines([task]).items():
            values = {language: its[name].value for language, its in by_language.items() if name in its}
            rows.append((baseline, metric_title(metric), FLOOR, *printed_cells(values, languages)))
    by_paper = [p for p in study.printed(PAPER, BY_LANGUAGE) if p.task == task]
    small = list(study.of_small(task).values())
    published = printed_rows([*by_paper, *small], ["metric", "objective"], "setting")
    order = [metric for metric, _ in published]
    for (metric, model), values in sorted(published.items(), key=lambda row: order.index(row[0][0])):
        rows.append((model, metric_title(metric), PUBLISHED, *printed_cells(values, languages)))
    parts = {"published": by_paper, "small": small, "floors": floors.baselines([task])}
    about = {"tasks": [task], "task": task_title(task)}
    about["tables"] = " and ".join(sorted({str(p.table) for p in by_paper}))
    header = ("model", "metric", "source", *languages, *OF_LANGUAGES)
    return continued_table(study, "task", scale, header, rows, 3, parts=parts, **about)


def printed_metrics(task: str) -> list[str]:
    """Return the metrics that published tables report for a task: one, or two for question answering."""
    its = TASKS[task]
    return [metric.name for metric in its.metrics] if isinstance(its, Questions) else [PRINTED[task]]
