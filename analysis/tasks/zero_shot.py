"""Zero-shot transfer between natural languages: fine-tuned on one language, scored on the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from analysis.tasks.finetune import FinetuneConfig, check_types, finetune, longest_row
from analysis.tasks.rows import Reader
from analysis.tasks.score import Score
from analysis.tasks.split import Split, check
from analysis.tasks.task import Task
from derive.derived_folder import SOURCE
from derive.task_data import TaskFolder
from derive.vocabulary import GivenVocabulary


def zero_shot(
    checkpoint: Path,
    examples: TaskFolder,
    languages: Sequence[str],
    task: Task,
    config: FinetuneConfig,
    seed: int,
    device: torch.device,
    progress: Callable[[int, int], None] = lambda step, steps: None,
) -> dict[tuple[str, str], Score]:
    """Every metric of one task, by language and metric: on the source's test set and on each of `languages`.

    One model, fine-tuned on the source's training set, as after its last epoch; nothing is selected on any set. Words
    become ids by the checkpoint's own tokenizer: tagged ones each as it stands after a space, others in their text.

    Raises:
        BadInput: the checkpoint or the data are missing, do not fit each other, or are damaged.
    """
    reader = reader_of(checkpoint)
    check_types(checkpoint, len(reader.table) - 1)
    train = Split(examples.path("train"), task)
    tests = {name: Split(examples.path("test", name), task) for name in (SOURCE, *languages)}
    labels = check(train, tests.values())
    length = longest_row(checkpoint, config)
    encoded = train.encode(labels, reader, length)
    model = finetune(checkpoint, encoded, task.head, len(labels), config, seed, device, progress)
    scores: dict[tuple[str, str], Score] = {}
    for name, test in tests.items():
        rows = test.encode(labels, reader, length)
        said = test.decode(rows, model.answers(rows), labels)
        scores |= {(name, metric): score for metric, score in task.scores(test.gold, said).items()}
    return scores


def reader_of(checkpoint: Path) -> Reader:
    """How the tokenizer beside a model reads words, of whatever language.

    Raises:
        BadInput: there is none, or it lacks a special type that models need.
    """
    return Reader.of_given(GivenVocabulary(checkpoint).open())
