"""The cast of a paragraph: the people and things that its sentences share, drawn once for its topic."""

from __future__ import annotations

import random

from derive.pocket.preferences import SIZE, Role, Sense
from derive.pocket.tree import Pick

ROLES = (
    Role.NAME, Role.NAME, Role.TOWN, Role.SITE, Role.BRAND, Role.FIRM, Role.COLLEGE,
    Role.PERSON, Role.ANIMATE, Role.THING, Role.PLACE,
)  # fmt: skip

MEMBERS = 1 + len(ROLES)

# The topic itself comes first: what is new to a paragraph is drawn from it.
TOPIC, HERO, FRIEND, TOWN, SITE, BRAND, FIRM, COLLEGE, PERSON, ANIMATE, THING, PLACE = (
    Pick(None, member) for member in range(MEMBERS)
)

RECURRING = {Role.PERSON: PERSON, Role.ANIMATE: ANIMATE, Role.THING: THING, Role.PLACE: PLACE}


def draw_cast(topic: Sense, rng: random.Random) -> list[Sense]:
    """The topic and its cast; hero and friend are two people."""
    cast = [topic] + [topic.tables[role][int(rng.random() * SIZE)] for role in ROLES]
    while cast[FRIEND.role] is cast[HERO.role]:
        cast[FRIEND.role] = topic.tables[Role.NAME][int(rng.random() * SIZE)]
    return cast
