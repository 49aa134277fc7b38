"""Sentences: a tree in its order, its content words drawn for one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from derive.pocket.orders import ENGLISH
from derive.pocket.preferences import Sense
from derive.pocket.tree import Draw, Node, Pick, Places, linearise
from derive.sentence import Sentence, Span


def say(root: Node, places: Places, cast: Sequence[Sense], random: Callable[[], float]) -> Sentence:
    """The sentence of a tree, its words drawn for the cast and for one another.

    Whatever the order of a sentence, its words and names are drawn in English order: so word-order variants
    have the same words and the same names.
    """
    nodes, heads = linearise(root, ENGLISH.places)
    drawn: dict[Pick, Sense] = {}

    def sense(pick: Pick) -> Sense:
        if pick.governor is None:
            return cast[pick.role]
        known = drawn.get(pick)
        if known is None:
            known = drawn[pick] = sense(pick.governor).draw(pick.role, random())
        return known

    words = [
        sense(node.word.pick).forms[node.word.form] if isinstance(node.word, Draw) else node.word for node in nodes
    ]
    said = Sentence(
        words=tuple(words),
        tags=tuple([node.tag for node in nodes]),
        heads=heads,
        relations=tuple([node.relation for node in nodes]),
        spans=entity_spans(nodes),
    )
    if places is not ENGLISH.places:
        place = {id(node): i for i, node in enumerate(nodes)}
        said = said.reorder([place[id(node)] for node in linearise(root, places)[0]])
    return _with_articles(said)


def _with_articles(sentence: Sentence) -> Sentence:
    """`an` before a vowel; the words now stand in the order in which they are said, so each is its own origin."""
    words = list(sentence.words)
    for i, word in enumerate(words[:-1]):
        if word == "a" and words[i + 1][0] in "aeiou":
            words[i] = "an"
    return Sentence(tuple(words), sentence.tags, sentence.heads, sentence.relations, sentence.spans)


def known_sentence(root: Node, places: Places) -> Sentence:
    """The sentence of a tree whose words are all known."""
    return say(root, places, (), float)


def entity_spans(nodes: list[Node]) -> tuple[Span, ...]:
    """The runs of nodes that belong to names."""
    spans = []
    start = 0
    for i, node in enumerate(nodes):
        after = nodes[i + 1].entity if i + 1 < len(nodes) else ""
        if node.entity and node.entity != after:
            spans.append(Span(start, i + 1, node.entity))
        if node.entity != after:
            start = i + 1
    return tuple(spans)
