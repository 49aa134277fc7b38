"""Unordered dependency trees, the word orders that linearise them, and words that are drawn later."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Protocol

from calque.derive.files import read_toml
from calque.derive.pocket.preferences import Role, Sense
from calque.derive.sentence import Sentence, Span

Places = Mapping[str, int]
"""Positions of dependents relative to the head: negative values precede it, and larger absolute values are
further away."""


@dataclass(frozen=True)
class WordOrder:
    """A word order with free variation: `free[key]` is an alternative position and its probability."""

    places: Places
    free: Mapping[str, tuple[int, float]] = field(default_factory=dict)

    def draw(self, rng: random.Random) -> Places:
        """Draw the positions for one sentence."""
        if not self.free:
            return self.places
        moved = {key: place for key, (place, probability) in self.free.items() if rng.random() < probability}
        return {**self.places, **moved}


ORDERS: dict[str, WordOrder] = {}
for _name, _table in read_toml(Path(__file__).with_name("orders.toml")).items():
    _base = ORDERS[_table["like"]].places if "like" in _table else {}
    ORDERS[_name] = WordOrder({**_base, **_table["places"]}, _table.get("free", {}))
ENGLISH = ORDERS["english"]


@dataclass(slots=True, eq=False)
class Pick:
    """A word to be drawn later, from its governor's favourites in a role or, if it has no governor, from the
    cast."""

    governor: Pick | None
    role: int

    def form(self, index: int) -> Draw:
        return Draw(self, index)


class Draw(NamedTuple):
    """A form of a word that is drawn later."""

    pick: Pick
    form: int


CAST = (
    Role.NAME, Role.NAME, Role.TOWN, Role.TOWN, Role.SITE, Role.BRAND, Role.FIRM, Role.COLLEGE,
    Role.PERSON, Role.ANIMATE, Role.THING, Role.PLACE,
)  # fmt: skip
"""The roles of the people and things that a paragraph's sentences share, in addition to the topic."""
TOPIC, HERO, FRIEND, TOWN, ELSEWHERE, SITE, BRAND, FIRM, COLLEGE, PERSON, ANIMATE, THING, PLACE = (
    Pick(None, member) for member in range(1 + len(CAST))
)


def draw_cast(topic: Sense, rng: random.Random, withheld: frozenset[str] = frozenset()) -> list[Sense]:
    """Return the topic followed by its cast: hero and friend are different people, and names contain no
    withheld words."""

    def draw(role: Role) -> Sense:
        while True:
            sense = topic.draw(role, rng.random())
            if sense.lexeme or withheld.isdisjoint(sense.forms):
                return sense

    cast = [topic, *map(draw, CAST)]
    while cast[FRIEND.role].forms[0] == cast[HERO.role].forms[0]:
        cast[FRIEND.role] = draw(Role.NAME)
    return cast


Token = str | Draw


class Word(Protocol):
    """A word with several forms, drawn now or later."""

    def form(self, index: int) -> Token: ...


@dataclass(slots=True, eq=False)
class Node:
    """A word and its dependents. `place` is its key in a table of positions (default: its relation); `entity`
    is the label of a name."""

    word: Token
    tag: str
    relation: str
    dependents: list[Node] = field(default_factory=list)
    place: str = ""
    entity: str = ""

    def add(self, *nodes: Node) -> Node:
        """Add dependents and return this node."""
        self.dependents.extend(nodes)
        return self


def linearise(root: Node, places: Places) -> tuple[list[Node], tuple[int, ...]]:
    """Return the nodes in a projective order, and the index of each node's head (-1 for the root)."""
    nodes: list[Node] = []
    parents: list[Node] = []

    def visit(node: Node, parent: Node) -> None:
        placed = sorted(node.dependents, key=lambda child: places[child.place or child.relation])
        before = sum(places[child.place or child.relation] < 0 for child in placed)
        for child in placed[:before]:
            visit(child, node)
        nodes.append(node)
        parents.append(parent)
        for child in placed[before:]:
            visit(child, node)

    visit(root, root)
    index = {id(node): i for i, node in enumerate(nodes)}
    pairs = zip(nodes, parents, strict=True)
    return nodes, tuple(-1 if above is node else index[id(above)] for node, above in pairs)


def say(
    root: Node, places: Places, cast: Sequence[Sense] = (), chance: Callable[[], float] = float
) -> Sentence:
    """Convert a tree to a sentence. Words are drawn in English order, so they are the same in all orders."""
    nodes, heads = linearise(root, ENGLISH.places)
    drawn: dict[Pick, Sense] = {}

    def sense(pick: Pick) -> Sense:
        if pick.governor is None:
            return cast[pick.role]
        if pick not in drawn:
            drawn[pick] = sense(pick.governor).draw(pick.role, chance())
        return drawn[pick]

    words = []
    for node in nodes:
        word = node.word
        words.append(sense(word.pick).forms[word.form] if isinstance(word, Draw) else word)
    tags, relations = tuple([node.tag for node in nodes]), tuple([node.relation for node in nodes])
    sentence = Sentence(tuple(words), tags, heads, relations, _entity_spans(nodes))
    if places is not ENGLISH.places:
        place = {id(node): i for i, node in enumerate(nodes)}
        sentence = sentence.reorder([place[id(node)] for node in linearise(root, places)[0]])
        words = list(sentence.words)
    for i, word in enumerate(words[:-1]):
        if word == "a" and words[i + 1][0] in "aeiou":
            words[i] = "an"
    # In a new sentence, each word's origin is its position in this order.
    return Sentence(tuple(words), sentence.tags, sentence.heads, sentence.relations, sentence.spans)


def _entity_spans(nodes: list[Node]) -> tuple[Span, ...]:
    spans, start = [], 0
    for entity, run in groupby(nodes, key=lambda node: node.entity):
        end = start + len(list(run))
        if entity:
            spans.append(Span(start, end, entity))
        start = end
    return tuple(spans)
