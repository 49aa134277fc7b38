"""Every task, a line each, in the order in which tables show them."""

from __future__ import annotations

from analysis.tasks.mlqa import MLQA
from analysis.tasks.ner import NER
from analysis.tasks.nli import NLI
from analysis.tasks.paraphrase import Paraphrase
from analysis.tasks.pos import POS
from analysis.tasks.qa import QA
from analysis.tasks.task import Task
from analysis.tasks.tydiqa import TyDiQA
from analysis.tasks.xquad import XQuAD
from derive.errors import BadInput, unknown

_ALL: tuple[Task, ...] = (
    NLI(),
    NER(),
    POS(),
    QA(),
    XQuAD(),
    MLQA(),
    TyDiQA(),
    Paraphrase(),
)
TASKS: dict[str, Task] = {task.name: task for task in _ALL}
PRIMARY = {task.name: task.primary for task in _ALL}
"""The metric that each task is judged by."""
PRINTED = {task.name: task.printed for task in _ALL}
"""The metric of each task that ALIGN-MLM prints: for POS another than our primary one."""


def task(name: str) -> Task:
    """The task of a name.

    Raises:
        BadInput: there is none.
    """
    if name not in TASKS:
        raise BadInput(unknown("task", name, TASKS))
    return TASKS[name]


def task_title(name: str) -> str:
    """A task's name for people; one that is not in the catalog, as in a published table, is called as it is."""
    return TASKS[name].title if name in TASKS else name


def metric_title(name: str) -> str:
    """A metric's name for people, or as it is where no task has it."""
    return next((metric.title for task in _ALL for metric in task.metrics if metric.name == name), name)
