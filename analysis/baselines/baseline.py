"""The interface of a baseline: it learns a task's training examples and answers others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from derive.example import Example

Answer = Sequence[str]
"""A label for each word of an example, or one for the whole, or the answers to a question."""
Spell = Callable[[str], str]
"""A word of a data set as a word of one language: in a new script it is another word."""
Learnt = Callable[[Iterable[Example], Spell], list[Answer]]
"""A baseline's answer to each example, given the spelling of these examples' language."""


class Baseline(ABC):
    """One baseline: a frozen dataclass. A task lists those that it has.

    Attributes:
        name: its name in records.
        title: its name for people.
        surface: whether it compares how two texts overlap, whatever their words, so that a new script hides nothing.
    """

    name: str
    title: str
    surface: ClassVar[bool] = False

    @abstractmethod
    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        """Learn from examples with their gold answers, in the spelling of their language.

        Raises:
            ValueError: there is no example.
        """


def words_of(example: Example, spell: Spell, text: int = 0) -> list[str]:
    """The words of one text of an example, spelled."""
    return [spell(word) for sentence in example.texts[text] for word in sentence.words]


def most_frequent(counts: Counter[str], overall: Counter[str]) -> str:
    """The label with the largest count; among equals the most frequent overall, and then the first by its name.

    Raises:
        ValueError: there is none.
    """
    if not counts:
        raise ValueError("no label to learn from")
    return min(counts, key=lambda label: (-counts[label], -overall[label], label))


def majority(examples: Iterable[tuple[Example, Answer]]) -> str:
    """The most frequent label of all."""
    counts = Counter(label for _, gold in examples for label in gold)
    return most_frequent(counts, counts)
