"""Tasks in which every word has a label."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from analysis.baselines.baseline import Baseline
from analysis.baselines.majority import MajorityTag
from analysis.baselines.unigram import Unigram
from analysis.tasks.head import Head, WordHead
from analysis.tasks.rows import UNLABELLED, Reader, Row, windows
from analysis.tasks.score import Answer
from analysis.tasks.task import Task
from derive.example import Example
from derive.sentence import Sentence


class Tagging(Task):
    """A label for each word of one text, learnt at the word's first sub-word; a long text stands in several rows."""

    head: ClassVar[Head] = WordHead()
    baselines: ClassVar[tuple[Baseline, ...]] = (MajorityTag(), Unigram())

    @abstractmethod
    def tags(self, sentence: Sentence) -> Answer:
        """The label of each word."""

    def gold(self, example: Example) -> Answer:
        words, tags = _words(example), tuple(tag for sentence in example.texts[0] for tag in self.tags(sentence))
        if len(tags) != len(words) or not all(tags):
            raise ValueError("expected a tag for every word")
        return tags

    def rows(
        self, example: Example, gold: Answer, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[Row], bool]:
        return windows(reader, _words(example), [labels.index(tag) for tag in gold], length)

    def decode(
        self, example: Example, rows: Sequence[Row], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        return tuple(
            labels[number]
            for row, answer in zip(rows, answers, strict=True)
            for number in answer[: len(row.targets)][row.targets != UNLABELLED]
        )


def _words(example: Example) -> list[str]:
    if len(example.texts) != 1:
        raise ValueError(f"expected one text, found {len(example.texts)}")
    return [word for sentence in example.texts[0] for word in sentence.words]
