"""Tasks in which an example as a whole has a label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from analysis.tasks.head import Head, TextHead
from analysis.tasks.rows import Reader, Row, joined
from analysis.tasks.score import Answer
from analysis.tasks.task import Task
from derive.example import Example


class Classification(Task):
    """One label for one or more texts, which stand in one row; of what does not fit, the end is left out.

    Attributes:
        texts: what the texts of an example are called.
    """

    head: ClassVar[Head] = TextHead()
    texts: ClassVar[tuple[str, ...]]

    def gold(self, example: Example) -> Answer:
        if len(example.texts) != len(self.texts):
            raise ValueError(f"expected a {' and a '.join(self.texts)}, found {len(example.texts)} texts")
        if not example.label:
            raise ValueError("the example has no label")
        return (example.label,)

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        return tuple(sorted({label for labels in gold for label in labels}))

    def rows(
        self, example: Example, gold: Answer, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[Row], bool]:
        row, whole = joined(reader, example.texts, labels.index(gold[0]), length)
        return [row], whole

    def decode(
        self, example: Example, rows: Sequence[Row], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        return (labels[int(answers[0][0])],)
