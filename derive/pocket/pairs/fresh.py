"""Examples of several texts without end: labels in equal shares, and no example twice."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from derive.errors import BadInput
from derive.example import Example

REPETITIONS = 1_000
"""Times in a row that a case may be drawn with words that it had before."""


def fresh(labels: Sequence[str], rng: random.Random, case: Callable[[str], Callable[[], Example]]) -> Iterator[Example]:
    """Examples of which as many in a row as there are labels bear one each, in a random order.

    `case` draws a case of a label, and that an example with words of its own. With words that it had before a case is
    drawn again, so labels stay in equal shares.

    Raises:
        BadInput: all that the lexicon can make of some case have come.
    """
    seen: set[tuple[tuple[tuple[str, ...], ...], ...]] = set()
    while True:
        for label in rng.sample(labels, len(labels)):
            draw = case(label)
            for _ in range(REPETITIONS):
                example = draw()
                words = tuple(tuple(sentence.words for sentence in text) for text in example.texts)
                if words not in seen:
                    seen.add(words)
                    yield example
                    break
            else:
                kind = example.diagnostic or f"label {label}"
                raise BadInput(f"after {len(seen):,} examples the lexicon has no new ones of the kind {kind}")
