"""Word orders of Pocket English: its own, and those of its variants, which linearise the same trees differently.

A table's keys are relations, and the places that a node may have instead (derive.pocket.tree.Node). The variants
are types of language, not languages: each combines properties that tend to occur together (Greenberg 1963).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from derive.errors import BadInput
from derive.pocket.tree import Places


@dataclass(frozen=True)
class Order:
    """Where dependents stand, and the freedom that sentences have: `free[key]` is another place and its share."""

    places: Places
    free: Mapping[str, tuple[int, float]] = field(default_factory=dict)

    def draw(self, rng: random.Random) -> Places:
        """The places of one sentence; what is free is drawn once for all of it."""
        if not self.free:
            return self.places
        return {
            **self.places,
            **{key: place for key, (place, probability) in self.free.items() if rng.random() < probability},
        }


ENGLISH = Order({
    "mark": -100, "cc": -95, "first": -90, "wh": -80, "front": -60, "nsubj": -50, "nsubj:pass": -50,
    "expl": -50, "helper": -40, "cop": -40, "not": -30, "often": -20, "aux:pass": -15,
    "case": -9, "det": -8, "nmod:poss": -8, "owner": -8, "nummod": -7, "amod": -6, "degree": -5, "compound": -4,
    "clitic": 1, "flat": 1, "nmod": 10, "acl:relcl": 20, "there": 25, "iobj": 26, "obj": 27, "xcomp": 30,
    "advmod": 40, "obl:agent": 45, "obl": 50, "ccomp": 60, "advcl": 70, "conj": 80, "comma": 90, "punct": 100,
})  # fmt: skip

# The noun comes before its adjectives and owners, the verb before its adverbs, things before those who get them;
# questions have the order of statements, and `not` stands before the whole verb group.
ROMANCE = Order(
    {
        **ENGLISH.places,
        "amod": 5, "owner": 8, "often": 24, "obj": 26, "iobj": 28, "front": -40, "not": -45,
    },
    free={"amod": (-6, 0.15), "advmod": (24, 0.5)},
)  # fmt: skip

# Every head after what depends on it: postpositions, subordinators and auxiliaries last; what is asked for stands
# just before the verb. Second conjuncts come second, as everywhere.
VERBFINAL = Order(
    {
        "cc": -95, "first": -90, "expl": -70, "advcl": -60, "nsubj": -50, "nsubj:pass": -50, "obl": -45,
        "obl:agent": -40, "often": -35, "there": -30, "ccomp": -28, "iobj": -27, "obj": -26, "advmod": -24,
        "xcomp": -22, "acl:relcl": -20, "nmod": -15, "nmod:poss": -12, "owner": -12, "wh": -11, "det": -10,
        "nummod": -7, "amod": -6, "degree": -5, "compound": -4,
        "clitic": 1, "flat": 1, "not": 20, "aux:pass": 30, "helper": 40, "cop": 40, "front": 50, "conj": 70,
        "case": 80, "mark": 85, "comma": 90, "punct": 100,
    },
    free={"obj": (-55, 0.1), "obl": (-55, 0.3)},
)  # fmt: skip

# The verb group first, then subject and objects; the noun before all that tells more of it.
VERBINITIAL = Order(
    {
        **ENGLISH.places,
        "often": 29, "expl": 21, "nsubj": 22, "nsubj:pass": 22, "amod": 5, "nmod:poss": 8, "owner": 8,
    },
    free={"nsubj": (-50, 0.1), "amod": (-6, 0.1)},
)  # fmt: skip

ORDERS = {"english": ENGLISH, "romance": ROMANCE, "verbfinal": VERBFINAL, "verbinitial": VERBINITIAL}


def check_order(name: str) -> None:
    """Refuse an order that there is not.

    Raises:
        BadInput: naming those that there are.
    """
    if name not in ORDERS:
        raise BadInput(f"no word order is called {name!r}; there are {', '.join(ORDERS)}")
