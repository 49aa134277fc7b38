"""The interface of a baseline: learnt from a task's training examples, it answers others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from derive.example import Example

Answer = Sequence[str]
"""A label for each word of an example, or one for the whole."""
Spell = Callable[[str], str]
"""A word of a data set as it is told from others in a language: a word of a new script is another word."""
Learnt = Callable[[Iterable[Example], Spell], list[Answer]]
"""What a baseline says of each example, whose words are spelled in the language of these examples."""


class Baseline(ABC):
    """One baseline. A new one is a frozen dataclass in a file of its own; a task names those it has.

    Attributes:
        name: the word for it in records.
        title: its name for people.
        surface: whether it looks at how texts are alike, whatever words they have, so that no script hides it from it.
    """

    name: str
    title: str
    surface: ClassVar[bool] = False

    @abstractmethod
    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        """What it learns from examples and what is right for each, their words spelled in their language.

        Raises:
            ValueError: there is no example.
        """


def words_of(example: Example, spell: Spell, text: int = 0) -> list[str]:
    """The words of one text of an example, spelled."""
    return [spell(word) for sentence in example.texts[text] for word in sentence.words]


def most_frequent(counts: Counter[str], overall: Counter[str]) -> str:
    """The label with the largest count; of several the most frequent overall, and then the first by its name.

    Raises:
        ValueError: there is none.
    """
    if not counts:
        raise ValueError("no label to learn from")
    return min(counts, key=lambda label: (-counts[label], -overall[label], label))
