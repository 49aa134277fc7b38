"""What a task is: which labels its examples carry, and how predicted ones are scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from derive.errors import BadInput
from derive.example import Example, read_examples

Labels = Sequence[str]
"""One example's labels: one a word, or one alone for the whole example."""


@dataclass(frozen=True)
class Score:
    """A share from 0 to 1, and the number of items that it is over."""

    value: float
    count: int


class Task(ABC):
    """One task. A new one is a frozen dataclass with these three class variables and two methods.

    `name` is the folder of its data, `primary` the metric that it is judged by; `per_word` says whether every
    word has a label (token classification) or the example as a whole (sequence classification).
    """

    name: ClassVar[str]
    primary: ClassVar[str]
    per_word: ClassVar[bool]

    @abstractmethod
    def gold(self, example: Example) -> tuple[str, ...]:
        """The example's labels.

        Raises:
            ValueError: it has none, or not the texts of this task.
        """

    @abstractmethod
    def scores(self, gold: Sequence[Labels], predicted: Sequence[Labels]) -> dict[str, Score]:
        """Every metric of the task, `primary` among them, for examples in the same order.

        Raises:
            ValueError: a metric is not defined for this gold.
        """

    def labels(self, gold: Iterable[Labels]) -> tuple[str, ...]:
        """All labels that a model may predict, sorted, from those of its training data."""
        return tuple(sorted({label for labels in gold for label in labels}))


@dataclass(frozen=True)
class Split:
    """The examples of a file with their labels, one entry an example; the file's line i + 1 holds example i."""

    path: Path
    examples: tuple[Example, ...]
    gold: tuple[tuple[str, ...], ...]


def read_split(path: Path, task: Task) -> Split:
    """Read a file of derived task data.

    Raises:
        BadInput: the file is missing or empty, a row is no example of the task, or a metric is not defined on it.
    """
    if not path.is_file():
        raise BadInput(f"there are no such examples for the task {task.name}", path)
    examples: list[Example] = []
    gold: list[tuple[str, ...]] = []
    rows = read_examples(path)
    while True:
        try:
            example = next(rows)
            labels = task.gold(example)
        except StopIteration:
            break
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise BadInput(f"no example of the task {task.name}: {error}", path, len(examples) + 1) from error
        examples.append(example)
        gold.append(labels)
    if not examples:
        raise BadInput(f"no example of the task {task.name} in an empty file", path)
    return Split(path, tuple(examples), tuple(gold))


def words_of(example: Example) -> list[str]:
    """The words of an example of one text.

    Raises:
        ValueError: it has another number of texts.
    """
    if len(example.texts) != 1:
        raise ValueError(f"expected one text, found {len(example.texts)}")
    return [word for sentence in example.texts[0] for word in sentence.words]


def accuracy(gold: Sequence[Labels], predicted: Sequence[Labels]) -> Score:
    """The share of labels that are predicted exactly.

    Raises:
        ValueError: there is no label at all, or the two differ in length.
    """
    hits = [a == b for pair in zip(gold, predicted, strict=True) for a, b in zip(*pair, strict=True)]
    if not hits:
        raise ValueError("no label to be right or wrong about")
    return Score(sum(hits) / len(hits), len(hits))
