"""The interface of a task: rows of its examples, the head, decoding and scores."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Self

import numpy as np

from analysis.baselines.baseline import Answer, Baseline
from analysis.tasks.head import Head
from analysis.tasks.rows import Reader, TaskRow
from analysis.tasks.score import Metric, Score
from derive.example import Example
from derive.readers.conllu import WORDS, XTREME, Units

TAGS = "udpos"
"""XTREME's name of POS. Tags of syntactic words fit none of its label files, so their folder has our name."""


class Task(ABC):
    """One task. A new one is a file with a class, and a line in `analysis.tasks.catalog`.

    Attributes:
        name: the folder of its data, and its name in records and settings.
        title: its name for people.
        data: the kind of its data, by which sources and their readers know it.
        metrics: the metrics that it is scored by. Models are compared by the first.
        printed: the name of the metric in published tables.
        head: what is trained for it on an encoder.
        baselines: model-free baselines that its scores are compared with.
        of_pairs: whether its examples have two texts.
        xtreme: its name in XTREME, if that is another one.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    data: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]
    printed: ClassVar[str]
    head: ClassVar[Head]
    baselines: ClassVar[tuple[Baseline, ...]] = ()
    of_pairs: ClassVar[bool] = False
    xtreme: ClassVar[str] = ""

    @property
    def primary(self) -> str:
        return self.metrics[0].name

    def in_language(self, name: str) -> Self:
        """The task as it is scored in a natural language; most are scored alike in all. Raises BadInput if it cannot be
        scored there."""
        return self

    @abstractmethod
    def gold(self, example: Example) -> Answer:
        """The correct answer of an example; for questions, every correct answer. Raises ValueError if it has none, or
        not the texts of this task."""

    @abstractmethod
    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        """The labels that a model may predict, from the gold of its training data; empty if it points into its text.
        Any other label in another set is an unknown label."""

    def perfect(self, gold: Answer) -> Answer:
        """The prediction of a model without error: one of several correct answers."""
        return gold

    @abstractmethod
    def rows(
        self, example: Example, gold: Answer, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[TaskRow], bool]:
        """An example as rows of at most `length` ids, and whether it fits: nothing cut, and one row. Raises ValueError
        if a word has no ids."""

    @abstractmethod
    def decode(
        self, example: Example, rows: Sequence[TaskRow], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        """The prediction for an example, from the head's answers to each of its rows (`Head.answers`)."""

    @abstractmethod
    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        """The score of each of `metrics` by its name, for examples in the same order. Raises ValueError if a metric is
        not defined for this gold."""

    def submission(
        self, language: str, examples: Iterable[Example], predictions: Sequence[Answer], units: Units = WORDS
    ) -> tuple[str, str]:
        """The name and the text of the predictions' file in XTREME's submissions, one per task and language. `units`
        are those of the examples' tags."""
        folder = TAGS if units == XTREME else self.xtreme or self.name
        ending, text = self.submitted(examples, predictions)
        return f"{folder}/test-{language}.{ending}", text

    def submitted(self, examples: Iterable[Example], predictions: Sequence[Answer]) -> tuple[str, str]:
        """The ending and the text of such a file: one label per line."""
        return "tsv", "".join(f"{label}\n" for answer in predictions for label in answer)
