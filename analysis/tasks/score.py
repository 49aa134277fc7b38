"""Scores: the value of a metric on a test set, and the contribution of each example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.records.items import Items

Answer = Sequence[str]
"""What is right, or is said, of one example: a label for each of its words, or one for the whole."""


@dataclass(frozen=True)
class Metric:
    """A way to score: its `name` in records, and its `title` for people."""

    name: str
    title: str


@dataclass(frozen=True)
class Score:
    """A fraction from 0 to 1, and the number of answers that it is over.

    `items` has what each example adds to it, so that two models can be compared on the same examples; None where
    the number is no sum over examples.
    """

    value: float
    count: int
    items: Items | None = None

    @classmethod
    def over(cls, hits: Iterable[int], of: Iterable[int], count: int) -> Score:
        """The sum of `hits` over the sum of `of`, an entry of each an example."""
        hits, of = list(hits), list(of)
        return cls(sum(hits) / sum(of), count, Items.over(hits, of))


ACCURACY = Metric("accuracy", "accuracy")


def accuracy(gold: Sequence[Answer], predicted: Sequence[Answer]) -> Score:
    """The fraction of labels that are predicted exactly.

    Raises:
        ValueError: there is no label at all, or the two differ in length.
    """
    hits = [[a == b for a, b in zip(*pair, strict=True)] for pair in zip(gold, predicted, strict=True)]
    count = sum(map(len, hits))
    if not count:
        raise ValueError("no label to be right or wrong about")
    return Score.over(map(sum, hits), map(len, hits), count)
