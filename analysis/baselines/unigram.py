"""The most frequent tag of a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from analysis.baselines.baseline import Answer, Baseline, Learnt, Spell, most_frequent, words_of
from derive.example import Example


@dataclass(frozen=True)
class Unigram(Baseline):
    """Every word has the tag that it has most often in the training examples, an unknown one the most frequent tag."""

    name: str = "unigram"
    title: str = "unigram"

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        by_word: dict[str, Counter[str]] = {}
        overall: Counter[str] = Counter()
        for example, right in examples:
            for word, tag in zip(words_of(example, spell), right, strict=True):
                by_word.setdefault(word, Counter())[tag] += 1
                overall[tag] += 1
        known = {word: most_frequent(tags, overall) for word, tags in by_word.items()}
        unknown = most_frequent(overall, overall)
        return lambda asked, spell: [
            tuple(known.get(word, unknown) for word in words_of(example, spell)) for example in asked
        ]
