"""Unordered dependency trees, their phrases and words, and word orders to linearise them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from calque.derive.files import read_toml
from calque.derive.pocket.lexicon import BASE, FIRST, LAST, MIDDLE, PARTICIPLE, PAST, THIRD, Sense
from calque.derive.sentence import Sentence, Span, runs

Places = Mapping[str, float]
"""Positions of dependents relative to the head: negative before it, larger absolute values further away."""
HERE = -0.5  # a head's own position


@dataclass(frozen=True)
class WordOrder:
    """A word order with free variation: `free[key]` is an alternative position and its probability."""

    places: Places
    free: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def draw(self, rng: random.Random) -> Places:
        changes = {key: place for key, (place, share) in self.free.items() if rng.random() < share}
        return {**self.places, **changes} if self.free else self.places


_TABLES = read_toml(Path(__file__).with_name("orders.toml"))
ORDERS = {
    name: WordOrder(_TABLES["english"]["places"] | table["places"], table.get("free", {}))
    for name, table in _TABLES.items()
}
ENGLISH = ORDERS["english"]


@dataclass(slots=True, eq=False)
class Pick:
    """A word to draw later from its governor's favourites in a role, or (no governor) from the cast."""

    governor: Pick | None
    role: str


Token = str | Pick
Cast = Mapping[str, Sense]
_CAST = "hero friend town elsewhere site brand firm college person animate thing place".split()
_ROLES = {"hero": "name", "friend": "name", "elsewhere": "town"}  # any other member's role is its name
TOPIC, HERO, FRIEND, TOWN, ELSEWHERE, SITE, BRAND, FIRM, COLLEGE, PERSON, ANIMATE, THING, PLACE = (
    Pick(None, member) for member in ("topic", *_CAST)
)
"""The topic of a paragraph, and the people and things that its sentences share."""


def draw_cast(topic: Sense, rng: random.Random, withheld: frozenset[str] = frozenset()) -> Cast:
    """Draw a topic's cast, with two different people and without names that contain withheld words."""

    def draw(role: str) -> Sense:
        while True:
            sense = topic.draw(role, rng.random())
            if sense.kind or withheld.isdisjoint(sense.forms):
                return sense

    cast = {"topic": topic, **{member: draw(_ROLES.get(member, member)) for member in _CAST}}
    while cast["friend"].forms[0] == cast["hero"].forms[0]:
        cast["friend"] = draw("name")
    return cast


@dataclass(slots=True, eq=False)
class Node:
    """A word in a `form` (an index) and its dependents. `place` is its key in a table of positions (default:
    its relation); `entity` is the label of a name."""

    word: Token
    tag: str
    relation: str
    dependents: list[Node] = field(default_factory=list)
    place: str = ""
    entity: str = ""
    form: int = 0

    def add(self, *nodes: Node) -> Node:
        self.dependents.extend(nodes)
        return self


def linearise(root: Node, places: Places) -> tuple[list[Node], tuple[int, ...]]:
    """Return the nodes in a projective order, and the index of each node's head (-1 for the root)."""
    parents: dict[Node, Node | None] = {}  # in the order of the words

    def visit(node: Node, parent: Node | None) -> None:
        def place(part: Node) -> float:
            return HERE if part is node else places[part.place or part.relation]

        for part in sorted([*node.dependents, node], key=place):
            if part is node:
                parents[node] = parent
            else:
                visit(part, node)

    visit(root, None)
    index = {node: i for i, node in enumerate(parents)}
    return list(parents), tuple([index[parent] if parent else -1 for parent in parents.values()])


def say(root: Node, places: Places, cast: Cast, chance: Callable[[], float]) -> Sentence:
    """Convert a tree to a sentence. Words are drawn in English order, so they are the same in all orders."""
    nodes, heads = linearise(root, ENGLISH.places)
    senses: dict[Pick, Sense] = {}

    def sense(word: Pick) -> Sense:
        if word.governor is None:
            return cast[word.role]
        if word not in senses:
            senses[word] = sense(word.governor).draw(word.role, chance())
        return senses[word]

    def text(node: Node) -> str:
        return node.word if isinstance(node.word, str) else sense(node.word).forms[node.form]

    tags, relations = tuple([node.tag for node in nodes]), tuple([node.relation for node in nodes])
    spans = tuple([Span(*run) for run in runs([node.entity for node in nodes]) if run[2]])
    sentence = Sentence(tuple(map(text, nodes)), tags, heads, relations, spans)
    if places is not ENGLISH.places:
        sentence = sentence.reorder([nodes.index(node) for node in linearise(root, places)[0]])
    words = list(sentence.words)
    for i, (word, following) in enumerate(pairwise(words)):
        if word == "a" and following[0] in "aeiou":
            words[i] = "an"
    # In a new sentence, each word's origin is its position in this order.
    return Sentence(tuple(words), sentence.tags, sentence.heads, sentence.relations, sentence.spans)


def noun(word: Pick, relation: str, plural: bool = False, determiner: str = "") -> Node:
    """Build a noun, with a determiner if one is given."""
    node = Node(word, "NOUN", relation, form=int(plural))
    return node.add(Node(determiner, "DET", "det")) if determiner else node


def pronoun(word: Token, relation: str, place: str = "", form: int = 0) -> Node:
    return Node(word, "PRON", relation, place=place, form=form)


def adjective(word: Pick, relation: str = "amod") -> Node:
    return Node(word, "ADJ", relation)


def adverb(word: Token, place: str = "") -> Node:
    return Node(word, "ADV", "advmod", place=place)


def mark(text: str, place: str = "") -> Node:
    return Node(text, "PUNCT", "punct", place=place)


def adposition(node: Node, preposition: Token) -> Node:
    """Add a preposition to a noun."""
    return node.add(Node(preposition, "ADP", "case"))


def person(word: Pick, relation: str, length: int = 1) -> Node:
    """Build a person's name of up to three words, headed by the first (UD: flat)."""
    more = ((), (LAST,), (MIDDLE, LAST))[length - 1]
    names = [Node(word, "PROPN", "flat", entity="PER", form=form) for form in more]
    return Node(word, "PROPN", relation, names, entity="PER", form=FIRST)


def name(word: Pick, relation: str, label: str, length: int = 1) -> Node:
    """Build a name of one to three words (Northfield Bank: head last; University of Dalmar: head first)."""
    node = Node(word, "PROPN", relation, entity=label, form=int(length == 2))
    if length == 2:
        node.add(Node(word, "PROPN", "compound", entity=label))
    if length == 3:
        case = Node("of", "ADP", "case", entity=label)
        node.add(Node(word, "PROPN", "nmod", [case], entity=label, form=1))
    return node


def verb(
    word: Pick,
    tense: str,
    plural: bool = False,
    negative: bool = False,
    question: bool = False,
    passive: bool = False,
) -> Node:
    """Build a finite verb group; `tense` is past, present, perfect or modal."""
    helpers: list[tuple[Token, str]] = []
    form = BASE
    if tense == "modal":
        helpers = [(Pick(word, "modal"), "aux")]
    elif passive:
        pass
    elif tense == "perfect":
        helpers, form = [("have" if plural else "has", "aux")], PARTICIPLE
    elif negative or question:
        helpers = [("did" if tense == "past" else "do" if plural else "does", "aux")]
    else:
        form = PAST if tense == "past" else BASE if plural else THIRD
    if passive:
        helpers.append(("be" if helpers else be(tense, plural), "aux:pass"))
        form = PARTICIPLE
    node, place = Node(word, "VERB", "root", form=form), "front" if question else "helper"
    for helper, relation in helpers:
        node.add(Node(helper, "AUX", relation, place=place))
        place = ""
    return _negated(node, negative)


def _negated(node: Node, negative: bool) -> Node:
    return node.add(Node("not", "PART", "advmod", place="not")) if negative else node


def be(tense: str, plural: bool) -> str:
    """Return a form of the verb *be*."""
    return (("is", "are"), ("was", "were"))[tense == "past"][plural]


def copular(predicate: Node, tense: str, plural: bool, negative: bool, question: bool = False) -> Node:
    """Add a form of *be* to a predicate."""
    predicate.add(Node(be(tense, plural), "AUX", "cop", place="front" if question else ""))
    return _negated(predicate, negative)


def coordinate(first: Node, second: Node, conjunction: str) -> Node:
    """Add `second` to `first` as its conjunct (UD: the conjunction depends on `second`)."""
    second.relation = "conj"
    return first.add(second.add(Node(conjunction, "CCONJ", "cc")))


def fronted(node: Node) -> Node:
    """Move a phrase to the front and add a comma."""
    node.place = "first"
    return node.add(mark(",", "comma"))


def subordinate(clause: Node, relation: str, conjunction: str, first: bool = False) -> Node:
    """Make a clause subordinate, and front it if `first`."""
    clause.relation = relation
    clause.add(Node(conjunction, "SCONJ", "mark"))
    return fronted(clause) if first else clause
