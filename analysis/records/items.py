"""Items: what each test example has to do with a number, so that two models can be compared on the same examples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

_RUN = re.compile(r"(\d{1,15})(?:\*([1-9]\d{0,8}))?", re.ASCII)
MOST = 10_000_000  # items of a test set at most: a run of a few letters could otherwise fill all memory


@dataclass(frozen=True)
class Items:
    """A ratio, item by item: the number is the sum of `hits` over the sum of `of`.

    An item is what is drawn independently of the others: a sentence for tags and entities, an example for NLI. Accuracy
    over words has the right words of each sentence over its words; F1 twice the right entities over the predicted and
    the gold ones; an error rate of links is one minus such a ratio. On disk both are runs of whole numbers: `3 4*2` is
    3, 4, 4.

    Raises:
        ValueError: the two are not such runs, or differ in length.
    """

    hits: str
    of: str

    def __post_init__(self) -> None:
        hits, of = (sum(times for _, times in _runs(text)) for text in (self.hits, self.of))
        if hits != of:
            raise ValueError(f"hits of {hits} items, of {of}")
        if of > MOST:
            raise ValueError(f"{of:,} items; expected at most {MOST:,}")

    @property
    def ratio(self) -> float | None:
        """The number; None where there is nothing that it could be the ratio of."""
        hits, of = (sum(number * times for number, times in _runs(text)) for text in (self.hits, self.of))
        return hits / of if of else None

    @classmethod
    def over(cls, hits: Iterable[int], of: Iterable[int]) -> Items:
        """Items from whole numbers; as many `hits` as `of`.

        Raises:
            ValueError: the two differ in length, or a number is negative.
        """
        hits, of = [int(n) for n in hits], [int(n) for n in of]
        if min((*hits, *of), default=0) < 0:
            raise ValueError("items are numbers of 0 or more")
        return cls(_written(hits), _written(of))

    @property
    def numbers(self) -> tuple[list[int], list[int]]:
        """Hits, and what they are out of, one entry per item."""
        hits, of = ([number for number, times in _runs(text) for _ in range(times)] for text in (self.hits, self.of))
        return hits, of


def _written(numbers: Sequence[int]) -> str:
    runs = ((number, len(list(run))) for number, run in groupby(numbers))
    return " ".join(f"{number}*{times}" if times > 1 else str(number) for number, times in runs)


@lru_cache(maxsize=1 << 16)
def _runs(text: str) -> tuple[tuple[int, int], ...]:
    """Each number, and how many times it stands there. Tables and claims read the same records again and again."""
    runs = []
    for run in text.split():
        matched = _RUN.fullmatch(run)
        if not matched:
            raise ValueError(f"items are whole numbers, as in '3 4*2', not {run[:80]!r}")
        runs.append((int(matched[1]), int(matched[2] or 1)))
    return tuple(runs)
