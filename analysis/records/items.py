"""Items: what each test example has to do with a number, so that two models can be compared on the same examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True)
class Items:
    """A ratio, item by item: the number is the sum of `hits` over the sum of `of`.

    An item is what is drawn independently of the others: a sentence for tags and entities, an example for NLI. Accuracy
    over words has the right words of each sentence over its words; F1 twice the right entities over the predicted and
    the gold ones; an error rate of links is one minus such a ratio. On disk both are runs of whole numbers: `3 4*2` is
    3, 4, 4.
    """

    hits: str
    of: str

    @classmethod
    def over(cls, hits: Iterable[int], of: Iterable[int]) -> Items:
        """Items from whole numbers.

        Raises:
            ValueError: the two differ in length, or a number is negative.
        """
        hits, of = [int(n) for n in hits], [int(n) for n in of]
        if len(hits) != len(of):
            raise ValueError(f"hits of {len(hits)} items, of {len(of)}")
        if min((*hits, *of), default=0) < 0:
            raise ValueError("an items hold numbers of 0 or more")
        return cls(_written(hits), _written(of))

    @property
    def numbers(self) -> tuple[list[int], list[int]]:
        """Hits, and what they are out of, an entry an item.

        Raises:
            ValueError: what was read is no such list.
        """
        hits, of = _read(self.hits), _read(self.of)
        if len(hits) != len(of):
            raise ValueError(f"hits of {len(hits)} items, of {len(of)}")
        return hits, of


def _written(numbers: Sequence[int]) -> str:
    runs = ((number, len(list(run))) for number, run in groupby(numbers))
    return " ".join(f"{number}*{times}" if times > 1 else str(number) for number, times in runs)


def _read(text: str) -> list[int]:
    numbers: list[int] = []
    for run in text.split():
        number, _, times = run.partition("*")
        numbers += [int(number)] * (int(times) if times else 1)
    return numbers
