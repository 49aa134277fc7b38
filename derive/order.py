"""Other word orders: inversion, random order, and the distance between orders."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from derive.files import ADDED
from derive.sentence import Sentence
from derive.transform import Transform, draw

FINAL_MARKS = (".", "!", "?")
"""Of English. Text in another script names its own, such as 。 or ।, which are ordinary words in English."""


def check_probability(p: float) -> None:
    """Raise ValueError for what is no probability."""
    if not 0 <= p <= 1:
        raise ValueError(f"p is a probability, from 0 to 1, not {p}")


@dataclass(frozen=True)
class Invert(Transform):
    """The words in reverse; a final mark stays last (ALIGN-MLM, appendix F). Twice is the identity.

    For that law's sake marks that open a sentence without a final one stay first: at its end they would
    be taken for final marks on the way back. `p` is the fraction of sentences that are inverted,
    which interpolates between the source order and its mirror; `marks` are the words that are final marks.
    """

    p: float = 1.0
    seed: int = 0
    marks: tuple[str, ...] = field(default=FINAL_MARKS, metadata=ADDED)

    def __post_init__(self) -> None:
        check_probability(self.p)

    @property
    def name(self) -> str:
        return "inv" if self.p == 1 else f"inv-{self.p * 100:g}"

    @property
    def title(self) -> str:
        return "Inv" if self.p == 1 else f"Inv {self.p * 100:g} %"

    def _drawn(self, number: int) -> bool:
        return self.p == 1 or draw(self.seed, number).random() < self.p

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        if not self._drawn(number):
            return sentence
        words, n = sentence.words, len(sentence)
        if n and words[-1] in self.marks:
            return sentence.reorder([*range(n - 2, -1, -1), n - 1])
        first = next((i for i, word in enumerate(words) if word not in self.marks), n)
        return sentence.reorder([*range(first), *range(n - 1, first - 1, -1)])


@dataclass(frozen=True)
class Permute(Transform):
    """A random order of all words, drawn afresh for each sentence: the control that keeps nothing."""

    seed: int = 0

    @property
    def name(self) -> str:
        return "perm"

    @property
    def title(self) -> str:
        return "Perm"

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        order = list(range(len(sentence)))
        draw(self.seed, number).shuffle(order)
        return sentence.reorder(order)


def kendall_distance(origin: Sequence[int]) -> float:
    """The share of word pairs that stand the other way round: 0 for the same order, 1 for its mirror.

    It is the normalised Kendall tau distance; a sentence of fewer than two words has none, 0.
    """
    n = len(origin)
    seen: list[int] = []
    crossed = 0
    for place in origin:
        here = bisect(seen, place)
        crossed += len(seen) - here
        seen.insert(here, place)
    return crossed / (n * (n - 1) / 2) if n > 1 else 0.0


def order_distance(origins: Iterable[Sequence[int]]) -> float:
    """Mean normalised Kendall tau of sentences' origins, over those of two words and more; 0 if there is none."""
    distances = [kendall_distance(origin) for origin in origins if len(origin) > 1]
    return sum(distances) / len(distances) if distances else 0.0
