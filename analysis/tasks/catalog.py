"""Every task, one line each, in the order of the tables."""

from calque.analysis.tasks.classification import NLI, PairLabels, Paraphrase, TextLabels
from calque.analysis.tasks.questions import MLQA, QA, TyDiQA, XQuAD
from calque.analysis.tasks.tagging import NER, POS, WordLabels
from calque.analysis.tasks.task import Task
from calque.derive.errors import BadInput, unknown

_ALL = (NLI(), NER(), POS(), QA(), XQuAD(), MLQA(), TyDiQA(), Paraphrase(), WordLabels(), TextLabels(), PairLabels())
TASKS: dict[str, Task] = {task.name: task for task in _ALL}
PRIMARY = {name: task.primary for name, task in TASKS.items()}  # the main metric of each task
PRINTED = {name: task.printed or task.primary for name, task in TASKS.items()}  # in ALIGN-MLM's tables


def task(name: str) -> Task:
    """The task with this name. Raises BadInput if there is none."""
    if name not in TASKS:
        raise BadInput(unknown("task", name, TASKS))
    return TASKS[name]


def task_title(name: str) -> str:
    """A task's name for people; one that is not in the catalog, as in a published table, keeps its name."""
    return TASKS[name].title if name in TASKS else name


def metric_title(name: str) -> str:
    """A metric's name for people, or its name if no task has it."""
    return next((metric.title for task in TASKS.values() for metric in task.metrics if metric.name == name), name)
