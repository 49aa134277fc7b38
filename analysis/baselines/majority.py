"""The most frequent label, always."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from analysis.baselines.baseline import Answer, Baseline, Learnt, Spell, most_frequent
from derive.example import Example


@dataclass(frozen=True)
class MajorityTag(Baseline):
    """Every word has the most frequent tag of the training words."""

    name: str = "majority"
    title: str = "majority"

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        tag = _majority(examples)
        return lambda asked, _: [(tag,) * sum(map(len, example.texts[0])) for example in asked]


@dataclass(frozen=True)
class MajorityLabel(Baseline):
    """Every example has the most frequent label of the training examples."""

    name: str = "majority"
    title: str = "majority"

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        label = _majority(examples)
        return lambda asked, _: [(label,) for _ in asked]


def _majority(examples: Iterable[tuple[Example, Answer]]) -> str:
    counts = Counter(label for _, right in examples for label in right)
    return most_frequent(counts, counts)
