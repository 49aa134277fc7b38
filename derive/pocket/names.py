"""The people, places and organisations of each topic. A name's words are shared: only context tells its type."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle, zip_longest

from derive.pocket.lexicon import Names

Entity = tuple[str, ...]

# A person's forms; the last three are the pronouns that stand for it.
FIRST, MIDDLE, LAST, NOMINATIVE, ACCUSATIVE, POSSESSIVE = range(6)


class Entities:
    """Entities, most frequent first; every word of `names` is in one of them.

    `people[t]`: (first, middle, last name, three pronouns); `brands[t]`: (name,); `firms[t]`: (name, firm) as in
    Dalmar Bank; `colleges[t]`: (firm, town) as in School of Dalmar; `towns`: (name,); `sites`: (kind, name) as in
    Lake Orrin. The words of an entity are withheld all or none: every third is of withheld words.
    """

    def __init__(self, names: Names, topics: int, rng: random.Random) -> None:
        known, withheld = (_Part(part, topics, rng) for part in names.parts())
        self.towns = _mix(known.towns, withheld.towns)
        self.sites = _mix(known.sites, withheld.sites)
        self.people = _mix_each(known.people, withheld.people)
        self.brands = _mix_each(known.brands, withheld.brands)
        self.firms = _mix_each(known.firms, withheld.firms)
        self.colleges = _mix_each(known.colleges, withheld.colleges)


class _Part:
    """The entities of known words, or of withheld ones."""

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
            self.brands.append([(next(brands),) for _ in range(2 + len(names.brands) // topics)])
            self.firms.append(_pairs(owners, firms, 2 + (len(places) + len(families)) // topics))
            self.colleges.append(_pairs(firms, towns, 2 + len(places) // topics))


def _mix(known: list[Entity], withheld: list[Entity]) -> list[Entity]:
    """Two known ones and one that is withheld, and so on, whatever is left over last."""
    pairs = [known[i : i + 2] for i in range(0, len(known), 2)]
    turns: Iterator[tuple[list[Entity], list[Entity]]] = zip_longest(pairs, ([one] for one in withheld), fillvalue=[])
    return [one for pair, single in turns for one in (*pair, *single)]


def _mix_each(known: list[list[Entity]], withheld: list[list[Entity]]) -> list[list[Entity]]:
    return [_mix(*both) for both in zip(known, withheld, strict=True)]


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
