"""Shapes: sentences with everything decided but their content words, ready to be filled quickly.

A tree's order, tags, heads, relations and entity spans do not depend on which words are drawn, so they are
worked out once and shared by all the sentences of that shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from derive.pocket.orders import ENGLISH
from derive.pocket.preferences import SIZE, Sense
from derive.pocket.tree import Draw, Node, Pick, Places, linearise
from derive.sentence import Sentence, Span


@dataclass(frozen=True, slots=True)
class Shape:
    """`words` with "" where a content word goes; `draws` (slot of the governor, role) fill one slot each, after
    the cast's; `places` (position, slot, form) put slots into words; `articles` are the positions of `a`.
    """

    words: tuple[str, ...]
    draws: tuple[tuple[int, int], ...]
    places: tuple[tuple[int, int, int], ...]
    articles: tuple[int, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    spans: tuple[Span, ...]
    origin: tuple[int, ...]

    def fill(self, cast: list[Sense], random: Callable[[], float]) -> Sentence:
        """A sentence of this shape, its words drawn for the cast and for one another."""
        senses = cast[:]
        for governor, role in self.draws:
            senses.append(senses[governor].tables[role][int(random() * SIZE)])
        words = list(self.words)
        for position, slot, form in self.places:
            words[position] = senses[slot].forms[form]
        for position in self.articles:
            if words[position + 1][0] in "aeiou":
                words[position] = "an"
        return Sentence(tuple(words), self.tags, self.heads, self.relations, self.spans, self.origin)


def compile_shape(root: Node, places: Places, cast: int) -> Shape:
    """The shape of a tree; `cast` is the number of senses in a paragraph's cast.

    Whatever the order of a sentence, its words and names are drawn in English order: so word-order variants
    have the same words and the same names.
    """
    english, heads = linearise(root, ENGLISH.places)
    slots: dict[int, int] = {}
    draws: list[tuple[int, int]] = []

    def slot(pick: Pick) -> int:
        if pick.governor is None:
            return pick.role
        if id(pick) not in slots:
            draws.append((slot(pick.governor), int(pick.role)))
            slots[id(pick)] = cast + len(draws) - 1
        return slots[id(pick)]

    picked = {id(node): (slot(node.word.pick), node.word.form) for node in english if isinstance(node.word, Draw)}
    known = Sentence(
        words=tuple("" if isinstance(node.word, Draw) else node.word for node in english),
        tags=tuple(node.tag for node in english),
        heads=heads,
        relations=tuple(node.relation for node in english),
        spans=entity_spans(english),
    )
    nodes, _ = linearise(root, places)
    place = {id(node): i for i, node in enumerate(english)}
    said = known.reorder([place[id(node)] for node in nodes])
    return Shape(
        words=said.words,
        draws=tuple(draws),
        places=tuple((i, *picked[id(node)]) for i, node in enumerate(nodes) if id(node) in picked),
        articles=tuple(i for i, word in enumerate(said.words[:-1]) if word == "a"),
        tags=said.tags,
        heads=said.heads,
        relations=said.relations,
        spans=said.spans,
        origin=tuple(range(len(nodes))),
    )


def known_sentence(root: Node, places: Places) -> Sentence:
    """The sentence of a tree whose words are all known."""
    return compile_shape(root, places, 0).fill([], float)


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
