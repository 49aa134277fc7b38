"""A list of the names that training has, and their types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from analysis.baselines.baseline import Answer, Baseline, Learnt, Spell, most_frequent, words_of
from derive.example import Example

Name = tuple[str, ...]


@dataclass(frozen=True)
class Gazetteer(Baseline):
    """IOB2 tags of every string of words that is a name in the training examples, by the type that it has most often.

    From left to right the longest name that begins at a word is taken, and what follows it is asked next. A word that
    is a name somewhere is one everywhere: context is not looked at.
    """

    name: str = "gazetteer"
    title: str = "gazetteer"

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        types: dict[Name, Counter[str]] = {}
        overall: Counter[str] = Counter()
        for example, right in examples:
            for name, kind in _names(words_of(example, spell), right):
                types.setdefault(name, Counter())[kind] += 1
                overall[kind] += 1
        known = {name: most_frequent(kinds, overall) for name, kinds in types.items()}
        longest: dict[str, int] = {}
        for first, *others in known:
            longest[first] = max(longest.get(first, 0), 1 + len(others))
        return lambda asked, spell: [_tags(words_of(example, spell), known, longest) for example in asked]


def _names(words: Sequence[str], tags: Answer) -> Iterator[tuple[Name, str]]:
    """Each name of well-formed IOB2 tags, with its type."""
    begins = [place for place, tag in enumerate(tags) if tag[0] == "B"]
    for begin in begins:
        end = begin + 1
        while end < len(tags) and tags[end][0] == "I":
            end += 1
        yield tuple(words[begin:end]), tags[begin][2:]


def _tags(words: Sequence[str], known: dict[Name, str], longest: dict[str, int]) -> Answer:
    tags: list[str] = []
    while len(tags) < len(words):
        at = len(tags)
        for length in range(min(longest.get(words[at], 0), len(words) - at), 0, -1):
            if kind := known.get(tuple(words[at : at + length])):
                tags += [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]
                break
        else:
            tags.append("O")
    return tags
