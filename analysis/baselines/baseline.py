"""Model-free baselines: their interface, and the baselines of tagging."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from derive.example import Example

Answer = Sequence[str]  # A label for each word of an example, or one for the whole, or the answers to a question
Spell = Callable[[str], str]  # A word of a data set as a word of one language: in a new script it is another word
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
        """Learn from examples with their gold answers, in the spelling of their language. Raises ValueError if there is
        no example."""


def words_of(example: Example, spell: Spell, text: int = 0) -> list[str]:
    """The words of one text of an example, spelled."""
    return [spell(word) for sentence in example.texts[text] for word in sentence.words]


def most_frequent(counts: Counter[str], overall: Counter[str]) -> str:
    """The label with the largest count; among equals the most frequent overall, and then the first by its name. Raises
    ValueError if there is none."""
    if not counts:
        raise ValueError("no label to learn from")
    return min(counts, key=lambda label: (-counts[label], -overall[label], label))


def majority(examples: Iterable[tuple[Example, Answer]]) -> str:
    """The most frequent label of all."""
    counts = Counter(label for _, gold in examples for label in gold)
    return most_frequent(counts, counts)


Name = tuple[str, ...]


@dataclass(frozen=True)
class MajorityTag(Baseline):
    """Every word has the most frequent tag of the training words."""

    name: str = "majority"
    title: str = "majority"

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        tag = majority(examples)
        return lambda tests, _: [(tag,) * sum(map(len, example.texts[0])) for example in tests]


@dataclass(frozen=True)
class Unigram(Baseline):
    """Every word has its most frequent tag in the training examples, an unknown one the most frequent tag."""

    name: str = "unigram"
    title: str = "unigram"

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        by_word: dict[str, Counter[str]] = {}
        overall: Counter[str] = Counter()
        for example, gold in examples:
            for word, tag in zip(words_of(example, spell), gold, strict=True):
                by_word.setdefault(word, Counter())[tag] += 1
                overall[tag] += 1
        tags = {word: most_frequent(counts, overall) for word, counts in by_word.items()}
        unknown = most_frequent(overall, overall)
        return lambda tests, spell: [
            tuple(tags.get(word, unknown) for word in words_of(example, spell)) for example in tests
        ]


@dataclass(frozen=True)
class Gazetteer(Baseline):
    """IOB2 tags of every string of words that is a name in the training examples, with its most frequent type there.
    From left to right the longest name that starts at a word is taken, and the search continues after it. A word that
    is a name somewhere is one everywhere: context does not count."""

    name: str = "gazetteer"
    title: str = "gazetteer"

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        by_name: dict[Name, Counter[str]] = {}
        overall: Counter[str] = Counter()
        for example, gold in examples:
            for name, kind in _names(words_of(example, spell), gold):
                by_name.setdefault(name, Counter())[kind] += 1
                overall[kind] += 1
        types = {name: most_frequent(counts, overall) for name, counts in by_name.items()}
        longest: dict[str, int] = {}
        for first, *others in types:
            longest[first] = max(longest.get(first, 0), 1 + len(others))
        return lambda tests, spell: [_tags(words_of(example, spell), types, longest) for example in tests]


def _names(words: Sequence[str], tags: Answer) -> Iterator[tuple[Name, str]]:
    """Each name of well-formed IOB2 tags, with its type."""
    for start in (place for place, tag in enumerate(tags) if tag[0] == "B"):
        end = start + 1
        while end < len(tags) and tags[end][0] == "I":
            end += 1
        yield tuple(words[start:end]), tags[start][2:]


def _tags(words: Sequence[str], types: dict[Name, str], longest: dict[str, int]) -> Answer:
    tags: list[str] = []
    while len(tags) < len(words):
        at = len(tags)
        for length in range(min(longest.get(words[at], 0), len(words) - at), 0, -1):
            if kind := types.get(tuple(words[at : at + length])):
                tags += [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]
                break
        else:
            tags.append("O")
    return tags
