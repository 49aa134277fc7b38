"""The people, places and organisations of each topic. A name's words are shared: only context tells its type."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle

from derive.pocket.lexicon import Names

Entity = tuple[str, ...]

# A person's forms; the last three are the pronouns that stand for it.
FIRST, MIDDLE, LAST, NOMINATIVE, ACCUSATIVE, POSSESSIVE = range(6)


class Entities:
    """Entities, most frequent first; every word of `names` is in one of them.

    `people[t]`: (first, middle, last name, three pronouns); `brands[t]`: (name,); `firms[t]`: (name, firm) as in
    Dalmar Bank; `colleges[t]`: (firm, town) as in School of Dalmar; `towns`: (name,); `sites`: (kind, name) as in
    Lake Orrin.
    """

    def __init__(self, names: Names, topics: int, rng: random.Random) -> None:
        places, families = names.places, names.surnames
        self.towns: list[Entity] = [(place,) for place in places]
        self.sites: list[Entity] = _pairs(_turns(names.sites, rng), _turns(places, rng), len(places) + len(names.sites))
        self.people = _people(names, topics, rng)
        owners, firms = _turns(places + families, rng), _turns(names.firms, rng)
        brands, towns = _turns(names.brands, rng), _turns(places, rng)
        self.brands: list[list[Entity]] = []
        self.firms: list[list[Entity]] = []
        self.colleges: list[list[Entity]] = []
        for _ in range(topics):
            self.brands.append([(next(brands),) for _ in range(3 + len(names.brands) // topics)])
            self.firms.append(_pairs(owners, firms, 2 + (len(places) + len(families)) // topics))
            self.colleges.append(_pairs(firms, towns, 2 + len(places) // topics))


def _people(names: Names, topics: int, rng: random.Random) -> list[list[Entity]]:
    women, men, families = (_turns(pool, rng) for pool in (names.women, names.men, names.surnames))
    each = 2 + max(len(names.women), len(names.men), len(names.surnames) // 2) // topics
    people: list[list[Entity]] = []
    for _ in range(topics):
        people.append([])
        for _ in range(each):
            people[-1].append((next(women), next(women), next(families), "she", "her", "her"))
            people[-1].append((next(men), next(men), next(families), "he", "him", "his"))
    return people


def _pairs(first: Iterator[str], second: Iterator[str], count: int) -> list[Entity]:
    return [(next(first), next(second)) for _ in range(count)]


def _turns(pool: Sequence[str], rng: random.Random) -> Iterator[str]:
    """The pool's names over and over, in a random order."""
    return cycle(rng.sample(pool, len(pool)))
