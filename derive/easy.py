"""Easy text: short sentences of frequent words only (after Dufter and Schütze 2020)."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TypeVar

from calque.derive.errors import check_range
from calque.derive.example import Example
from calque.derive.sentence import Sentence

Item = TypeVar("Item", Sentence, Example)


@dataclass(frozen=True)
class EasyText:
    """Keeps sentences of `shortest` to `longest` words that are all among the `types` most frequent ones.
    The same rule applies to examples for the `tasks`, except that words in entities may be rare."""

    types: int = 4_000
    shortest: int = 4
    longest: int = 20
    tasks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_range("types", self.types, 1)
        check_range("shortest", self.shortest, 1, self.longest)

    def reason(self, sentence: Sentence, frequent: Collection[str]) -> str:
        if len(sentence) < self.shortest:
            return "too short to be easy"
        if len(sentence) > self.longest:
            return "too long to be easy"
        entities = {place for span in sentence.spans for place in range(span.start, span.end)}
        rare = (word not in frequent for place, word in enumerate(sentence.words) if place not in entities)
        return "with a word too rare to be easy" if any(rare) else ""

    def kept(self, items: Iterable[Item], frequent: Collection[str], counts: Counter[str]) -> list[Item]:
        """Return the items whose sentences are all easy; count the others by reason in `counts`."""
        kept = []
        for item in items:
            sentences = item.sentences if isinstance(item, Example) else [item]
            reasons = (self.reason(sentence, frequent) for sentence in sentences)
            if reason := next(filter(None, reasons), ""):
                counts[f"{'examples' if isinstance(item, Example) else 'sentences'} {reason}"] += 1
            else:
                kept.append(item)
        return kept
