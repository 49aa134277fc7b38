"""List all tasks, in their order in tables."""

from calque.analysis.tasks.classification import NLI, PairLabels, Paraphrase, TextLabels
from calque.analysis.tasks.questions import MLQA, QA, TyDiQA, XQuAD
from calque.analysis.tasks.tagging import NER, POS, WordLabels
from calque.analysis.tasks.task import Task
from calque.derive.errors import BadInput, unknown

_ALL = (
    NLI(),
    NER(),
    POS(),
    QA(),
    XQuAD(),
    MLQA(),
    TyDiQA(),
    Paraphrase(),
    WordLabels(),
    TextLabels(),
    PairLabels(),
)
TASKS: dict[str, Task] = {task.name: task for task in _ALL}
PRIMARY = {name: task.primary for name, task in TASKS.items()}
PRINTED = {name: task.printed or task.primary for name, task in TASKS.items()}  # as in ALIGN-MLM's tables


def task(name: str) -> Task:
    """Return the task with the given name. Raises BadInput if there is none."""
    if name not in TASKS:
        raise BadInput(unknown("task", name, TASKS))
    return TASKS[name]


def task_title(name: str) -> str:
    """Return a task's display name, or the name itself for a task that is only in published tables."""
    return TASKS[name].title if name in TASKS else name


def metric_title(name: str) -> str:
    """Return a metric's display name, or the name itself if no task uses the metric."""
    metrics = (metric for task in TASKS.values() for metric in task.metrics)
    return next((metric.title for metric in metrics if metric.name == name), name)
