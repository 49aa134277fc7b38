"""List all tasks, in their order in tables, and compute their floors: the scores of their baselines, trained
and tested on the same examples as models."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from calque.analysis.records.record import Floor
from calque.analysis.tasks.baselines import Baseline, Learnt, Spell
from calque.analysis.tasks.classification import NLI, PairLabels, Paraphrase, TextLabels
from calque.analysis.tasks.questions import MLQA, QA, TyDiQA, XQuAD
from calque.analysis.tasks.tagging import NER, POS, WordLabels
from calque.analysis.tasks.task import Reader, Split, Task
from calque.derive.errors import BadInput, unknown
from calque.derive.languages import SOURCE, Languages
from calque.derive.task_data import TaskFolder

_ALL: tuple[Task, ...] = (NLI(), NER(), POS(), QA(), XQuAD(), MLQA(), TyDiQA())
_ALL += (Paraphrase(), WordLabels(), TextLabels(), PairLabels())
TASKS = {task.name: task for task in _ALL}
PRIMARY = {name: task.primary for name, task in TASKS.items()}
PRINTED = {name: task.printed or task.primary for name, task in TASKS.items()}  # as in ALIGN-MLM's tables


def task(name: str) -> Task:
    """Return the task with the given name. Raises BadInput if there is none."""
    if name not in TASKS:
        raise BadInput(unknown("task", name, TASKS))
    return TASKS[name]


def task_title(name: str) -> str:
    """Return a task's title or, for a task that occurs only in published tables, its name."""
    return TASKS[name].title if name in TASKS else name


def metric_title(name: str) -> str:
    """Return a metric's title, or its name if no task has the metric."""
    metrics = (metric for task in TASKS.values() for metric in task.metrics)
    return next((metric.title for metric in metrics if metric.name == name), name)


def floors(
    examples: TaskFolder,
    task: Task,
    pairs: Sequence[tuple[str, str]],
    spell: Mapping[str, Spell],
    progress: Callable[[int, int], None] = lambda done, total: None,
    scored: Callable[[str], Task] | None = None,
) -> list[Floor]:
    """Compute all metrics for a task's baselines, for each pair of a training language and a test
    language."""
    kinds = list(product(dict.fromkeys(first for first, _ in pairs), task.baselines))
    learnt, rows = dict[tuple[str, Baseline], Learnt](), list[Floor]()
    for number, (first, baseline) in enumerate(kinds):
        progress(number, len(kinds))
        train = Split(examples.path("train", first), task)
        learnt[first, baseline] = baseline.learn(train, spell[first])
    for first, second in pairs:
        test = list(Split(examples.path("test", second), task))
        for baseline in task.baselines:
            predictions = learnt[first, baseline]((example for example, _ in test), spell[second])
            scores = (scored(second) if scored else task).scores([gold for _, gold in test], predictions)
            for metric, score in scores.items():
                about = task.name, metric, score.value, score.count, second, first
                rows.append(Floor(baseline.name, baseline.title, *about, baseline.surface, score.items))
    return rows


def spelling(languages: Languages, name: str) -> Spell:
    """Return a function that marks words with the language's name, unless they share the source's ids."""
    source, derived = Reader.of(languages, SOURCE), Reader.of(languages, name)
    return lambda word: word if derived.encode(word) == source.encode(word) else f"{word}\0{name}"
