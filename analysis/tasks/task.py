"""The interface of a task: rows of its examples, the head, decoding and scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from analysis.baselines.baseline import Baseline
from analysis.tasks.head import Head
from analysis.tasks.rows import Reader, Row
from analysis.tasks.score import Answer, Metric, Score
from derive.example import Example


class Task(ABC):
    """One task. A new one is a file with a class, and a line in `analysis.tasks.catalog`.

    Attributes:
        name: the folder of its data, and the word for it in records and settings.
        title: its name for people.
        metrics: those that it is scored by. It is judged by the first.
        printed: the name of the metric that published tables print.
        head: what is learnt for it, above an encoder.
        baselines: what needs no model, and its scores are held against.
        of_pairs: whether its examples have two texts.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]
    printed: ClassVar[str]
    head: ClassVar[Head]
    baselines: ClassVar[tuple[Baseline, ...]] = ()
    of_pairs: ClassVar[bool] = False

    @property
    def primary(self) -> str:
        """The name of the metric that it is judged by."""
        return self.metrics[0].name

    @property
    def data(self) -> str:
        """The kind of its data, by which a source and its readers know them."""
        return self.name

    def in_language(self, name: str) -> Task:
        """The task as it is scored in a natural language; most are scored alike in all.

        Raises:
            BadInput: it cannot be scored there.
        """
        return self

    @abstractmethod
    def gold(self, example: Example) -> Answer:
        """What is right for an example.

        Raises:
            ValueError: it says nothing of it, or has not the texts of this task.
        """

    @abstractmethod
    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        """What a model may say, from what is right for its training data; empty where it points into its text.

        What these labels lack and those of another set have is an unknown label.
        """

    def said(self, gold: Answer) -> Answer:
        """What a model that is right says of an example: of several right answers one."""
        return gold

    @abstractmethod
    def rows(
        self, example: Example, gold: Answer, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[Row], bool]:
        """An example as rows of at most `length` ids, and whether it fitted: nothing cut, and one row.

        Raises:
            ValueError: a word has no ids.
        """

    @abstractmethod
    def decode(
        self, example: Example, rows: Sequence[Row], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        """What a model says of an example, from what its head answered to each of its rows (`Head.answers`)."""

    @abstractmethod
    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        """The score of each of `metrics` by its name, for examples in the same order.

        Raises:
            ValueError: a metric is not defined for this gold.
        """
