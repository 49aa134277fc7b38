"""What a model said, in the files of XTREME's submissions: a folder a task, a file a language.

<task>/test-<language>.tsv   a label a line; of tags a line for each word, and a blank one after each sentence
<task>/test-<language>.json  the answers to questions, by their ids
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from analysis.tasks.questions import Questions
from analysis.tasks.score import Answer
from analysis.tasks.tagging import Tagging
from analysis.tasks.task import Task
from derive.example import Example

FOLDERS = {"pos": "udpos", "ner": "panx", "nli": "xnli", "paraphrase": "pawsx"}
"""What XTREME calls tasks that have another name here."""


def predictions(task: Task, language: str, examples: Iterable[Example], said: Sequence[Answer]) -> tuple[str, str]:
    """The name of a submission's file, and what stands in it."""
    stem = f"{FOLDERS.get(task.name, task.name)}/test-{language}"
    if isinstance(task, Questions):
        answers = {example.id: answer for example, (answer,) in zip(examples, said, strict=True)}
        return f"{stem}.json", json.dumps(answers, ensure_ascii=False, indent=0) + "\n"
    lines = (f"{label}\n" for answer in said for label in (*answer, *([""] if isinstance(task, Tagging) else [])))
    return f"{stem}.tsv", "".join(lines)
