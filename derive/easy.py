"""Easy text: the short sentences of a corpus whose words are all frequent in it. Dufter and Schütze (2020) also give
small models a small vocabulary: one Bible and 2,048 types."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.fingerprint import ADDED
from calque.derive.sentence import Sentence

SHORT, LONG, RARE = "too short to be easy", "too long to be easy", "with a word too rare to be easy"


@dataclass(frozen=True)
class EasyText:
    """Keep the sentences of `shortest` to `longest` words whose words are all among the `types` most frequent of the
    corpus; punctuation and numbers count as words. Examples of `tasks` are kept by the same rule, but each of their
    sentences may have `rare` other words and, with `names`, any entities: otherwise few are left."""

    types: int = 4_000
    shortest: int = 4
    longest: int = 20
    tasks: tuple[str, ...] = ()
    rare: int = field(default=0, metadata=ADDED)
    names: bool = field(default=False, metadata=ADDED)

    def __post_init__(self) -> None:
        if self.types < 1:
            raise BadInput(f"types must be at least 1, not {self.types}")
        if self.rare < 0:
            raise BadInput(f"rare is 0 or more, not {self.rare}")
        if not 1 <= self.shortest <= self.longest:
            raise BadInput(f"shortest must be from 1 to longest ({self.longest}), not {self.shortest}")

    def reason(
        self, words: Sequence[str], frequent: Collection[str], rare: int = 0, names: Collection[int] = ()
    ) -> str:
        """Why a sentence is not easy, if words at the places `names` and `rare` others may be rare; empty if it is."""
        if len(words) < self.shortest:
            return SHORT
        if len(words) > self.longest:
            return LONG
        others = {place for place, word in enumerate(words) if word not in frequent}
        return "" if len(others.difference(names)) <= rare else RARE

    def sentences(
        self, sentences: Iterable[Sentence], frequent: Collection[str], counts: Counter[str]
    ) -> list[Sentence]:
        """The easy ones among `sentences`; the others are counted by reason."""
        kept = []
        for sentence in sentences:
            reason = self.reason(sentence.words, frequent)
            if reason:
                counts[f"sentences {reason}"] += 1
            else:
                kept.append(sentence)
        return kept

    def examples(self, examples: Iterable[Example], frequent: Collection[str], counts: Counter[str]) -> list[Example]:
        """The examples whose sentences are all easy; the others are counted by the first reason."""
        kept = []
        for example in examples:
            sentences = [sentence for text in example.texts for sentence in text]
            reasons = [self.reason(s.words, frequent, self.rare, _names(s) if self.names else ()) for s in sentences]
            reason = next(filter(None, reasons), "")
            if reason:
                counts[f"examples {reason}"] += 1
            else:
                kept.append(example)
        return kept


def _names(sentence: Sentence) -> set[int]:
    """The places of entities."""
    return {place for span in sentence.spans for place in range(span.start, span.end)}
