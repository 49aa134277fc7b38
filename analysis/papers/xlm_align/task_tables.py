"""Tables of tasks learnt in one language: XTREME's means, and each task by language (Tables 1 and 13 to 19)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from analysis.papers.small_encoder import MODEL, SAID, of_task
from analysis.papers.xlm_align.continued import Continued
from analysis.records.record import Published
from analysis.report.pos_units import units_note
from analysis.report.retained_cell import FLOOR, floor_cell
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, over_seeds, percent
from analysis.results.measured import BySeed, mean
from analysis.results.together import together
from analysis.tasks.catalog import PRINTED, TASKS, metric_title, task_title
from analysis.tasks.questions import Questions

MEANS, BY_LANGUAGE = 1, range(13, 20)
"""The paper's tables: of XTREME's means, and of its tasks by language."""
PAPER = "XLM-Align"
THEIRS = "en"
"""The language that published models were fine-tuned on."""
XTREME = ("pos", "ner", "xquad", "mlqa", "tydiqa", "nli", "paraphrase")
"""Its tasks but for retrieval, in the order of the paper's Table 1."""


def xtreme_table(made: Continued, published: Sequence[Published], scale: str, runs: tuple[str, ...]) -> Table:
    """The mean of each task over all its languages, and the mean of the tasks as XTREME forms it."""
    tasks = [*(name for name in XTREME if name in made.tasks), *(name for name in made.tasks if name not in XTREME)]
    columns = [(task, metric) for task in tasks for metric in printed_metrics(task)]
    rows: list[tuple[str, ...]] = []
    for model in made.models:
        means = {column: made.everywhere(model, *column) for column in columns}
        average = together([together([means[task, metric] for metric in printed_metrics(task)]) for task in tasks])
        rows.append((made.title(model), OURS, *(shown(means[column]) for column in columns), shown(average)))
    first = len(rows)
    printed = [one for one in published if (one.paper, one.table) == (PAPER, MEANS) and made.source == THEIRS]
    for name in dict.fromkeys(one.objective for one in printed):
        values = {(one.task, one.metric): one.value for one in printed if one.objective == name}
        numbers = (percent(values[column]) if column in values else MISSING for column in columns)
        theirs = values.get(("average", "mean")) if tasks == list(XTREME) else None
        rows.append((name, PUBLISHED, *numbers, MISSING if theirs is None else percent(theirs)))
    small = {task: of_task(published, task) for task in tasks if made.source == THEIRS}
    if any(small.values()):
        means_of = {(task, its["mean"].metric): its["mean"].value for task, its in small.items() if its}
        numbers = (percent(means_of[column]) if column in means_of else MISSING for column in columns)
        rows.append((MODEL, PUBLISHED, *numbers, MISSING))
    languages = ", ".join(f"{task_title(task)} {len(made.languages(task)) + 1}" for task in tasks)
    whole = f" {SAID}, with whole training sets, means over its own languages." * any(small.values())
    return Table(
        f"Zero-shot transfer from {made.source}, means over all languages of a task, percent; {scale}",
        ("model", "source", *(f"{task_title(t)} {metric_title(m)}" for t, m in columns), _named(tasks)),
        tuple(rows),
        f"Languages, {made.source} among them: {languages}. {units_note(made.results.records, tasks)}"
        f"In the mean of tasks one of questions counts with the mean of F1 and exact match, as in XTREME. "
        f"{told_over(made)}. Published (Table 1): XTREME’s own training sets, test sets and languages.{whole}",
        frozenset(range(first, len(rows))),
        runs,
        labels=2,
    )


def task_table(made: Continued, task: str, published: Sequence[Published], scale: str, runs: tuple[str, ...]) -> Table:
    """A task in each language, beside floors, and what the paper has of the same languages."""
    others = made.languages(task)
    languages = [made.source, *others]
    metrics = [metric.name for metric in TASKS[task].metrics]
    rows: list[tuple[str, ...]] = []
    for metric in metrics:
        for model in made.models:
            scores = [made.scored(model, task, language, metric) for language in languages]
            rows.append(
                (made.title(model), metric_title(metric), OURS, *map(shown, scores), *map(shown, _means(scores)))
            )
    for metric in metrics:
        rows += _floors(made, task, metric, languages)
    first = len(rows)
    by_paper = [one for one in published if one.paper == PAPER and one.table in BY_LANGUAGE and one.task == task]
    small = list(of_task(published, task).values())
    printed = [*by_paper, *small] if made.source == THEIRS else []
    for metric in dict.fromkeys(one.metric for one in printed):
        for model in dict.fromkeys(one.objective for one in printed):
            values = {one.setting: one.value for one in printed if (one.objective, one.metric) == (model, metric)}
            if not values:
                continue
            known = (percent(values[language]) if language in values else MISSING for language in languages)
            sets = ([values[name] for name in names if name in values] for names in (others, languages))
            averages = (
                percent(fmean(found)) if len(found) == len(names) else MISSING
                for found, names in zip(sets, (others, languages), strict=True)
            )
            rows.append((model, metric_title(metric), PUBLISHED, *known, *averages))
    tables = " and ".join(sorted({str(one.table) for one in by_paper}))
    note = (
        f"{made.source}: the language of the fine-tuning’s training set; nothing annotated in another one is learnt "
        f"from. {units_note(made.results.records, [task])}{told_over(made)}."
    )
    note += f" Published (Table {tables}): XTREME’s own training and test sets." * bool(printed and by_paper)
    note += f" {SAID}, with a whole training set." * bool(printed and small)
    note += " Floor rows are baselines without a model, learnt where models are fine-tuned." * bool(
        made.results.floors.baselines([task])
    )
    return Table(
        f"{task_title(task)}, zero-shot from {made.source}, percent; {scale}",
        ("model", "metric", "source", *languages, "mean of the others", "mean of all"),
        tuple(rows),
        note,
        frozenset(range(first, len(rows))),
        runs,
        labels=3,
    )


def printed_metrics(task: str) -> list[str]:
    """What published tables have of a task: one number, or two where questions are answered."""
    its = TASKS[task]
    return [metric.name for metric in its.metrics] if isinstance(its, Questions) else [PRINTED[task]]


def shown(values: BySeed) -> str:
    """A number with its interval over seeds, or over test items where there is one seed."""
    estimate = mean(values)
    if estimate is None or estimate.seeds > 1 or estimate.half is None:
        return cell(estimate)
    if estimate.low is not None and estimate.high is not None and not estimate.symmetric:
        return f"{percent(estimate.mean)} [{percent(estimate.low)}, {percent(estimate.high)}]"
    return f"{percent(estimate.mean)} ± {100 * estimate.half:.1f}"


def told_over(made: Continued) -> str:
    """What stands beside the numbers."""
    if len(made.seeds) > 1:
        return over_seeds(made.seeds)
    names = ", ".join(map(str, made.seeds))
    return f"one seed ({names}): ± is half the 95 % interval over the test’s sentences, and says nothing of other runs"


def _means(scores: Sequence[BySeed]) -> Iterator[BySeed]:
    """Of numbers, the source's first: the means without and with it."""
    yield together(scores[1:])
    yield together(scores)


def _floors(made: Continued, task: str, metric: str, languages: Sequence[str]) -> Iterator[tuple[str, ...]]:
    floors = made.results.floors
    for name, baseline in floors.baselines([task]).items():
        low = [floors.of(task, metric, language, made.source).get(name) for language in languages]
        averages = (
            percent(fmean(floor.value for floor in part if floor)) if all(part) else MISSING for part in (low[1:], low)
        )
        yield baseline, metric_title(metric), FLOOR, *map(floor_cell, low), *averages


def _named(tasks: Sequence[str]) -> str:
    return "average" if list(tasks) == list(XTREME) else f"mean of {len(tasks)} tasks"
