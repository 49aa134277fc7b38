"""The cast of a paragraph: the people and things that its sentences share, drawn once for its topic."""

from __future__ import annotations

import random

from derive.pocket.preferences import Role, Sense
from derive.pocket.tree import Pick

ROLES = (
    Role.NAME, Role.NAME, Role.TOWN, Role.TOWN, Role.SITE, Role.BRAND, Role.FIRM, Role.COLLEGE,
    Role.PERSON, Role.ANIMATE, Role.THING, Role.PLACE,
)  # fmt: skip

MEMBERS = 1 + len(ROLES)

# The topic itself comes first: what is new to a paragraph is drawn from it.
TOPIC, HERO, FRIEND, TOWN, ELSEWHERE, SITE, BRAND, FIRM, COLLEGE, PERSON, ANIMATE, THING, PLACE = (
    Pick(None, member) for member in range(MEMBERS)
)

RECURRING = {Role.PERSON: PERSON, Role.ANIMATE: ANIMATE, Role.THING: THING, Role.PLACE: PLACE}


def draw_cast(topic: Sense, rng: random.Random, withheld: frozenset[str] = frozenset()) -> list[Sense]:
    """The topic and its cast; hero and friend are two people, and no name has a word that is withheld."""

    def draw(role: Role) -> Sense:
        while True:
            sense = topic.draw(role, rng.random())
            if sense.lexeme or withheld.isdisjoint(sense.forms):
                return sense

    cast = [topic, *map(draw, ROLES)]
    while cast[FRIEND.role].forms[0] == cast[HERO.role].forms[0]:
        cast[FRIEND.role] = draw(Role.NAME)
    return cast
