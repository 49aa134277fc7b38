"""A model's predictions, in the files of XTREME's submissions: a folder per task, a file per language.

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
from derive.readers.conllu import WORDS, XTREME, Units

FOLDERS = {"ner": "panx", "nli": "xnli", "paraphrase": "pawsx"}
"""XTREME's names of tasks that have another name here."""
TAGS = "udpos"
"""XTREME's name of POS. Tags of syntactic words fit none of its label files, so their folder has our name."""


def predictions(
    task: Task, language: str, examples: Iterable[Example], said: Sequence[Answer], units: Units = WORDS
) -> tuple[str, str]:
    """The name and the content of a submission's file. `units` are the units of the examples."""
    folder = TAGS if units == XTREME else FOLDERS.get(task.name, task.name)
    stem = f"{folder}/test-{language}"
    if isinstance(task, Questions):
        answers = {example.id: answer for example, (answer,) in zip(examples, said, strict=True)}
        return f"{stem}.json", json.dumps(answers, ensure_ascii=False, indent=0) + "\n"
    lines = (f"{label}\n" for answer in said for label in (*answer, *([""] if isinstance(task, Tagging) else [])))
    return f"{stem}.tsv", "".join(lines)
