"""Questions about short paragraphs; the answer is a span of words in one of their sentences.

Who did something to somebody, to whom, or where: several sentences have the question's words, and only who does it, to
whom, and whether it is denied tells them apart. Each has what could be an answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from derive.example import Example
from derive.pocket import phrase
from derive.pocket.pairs.fresh import fresh
from derive.pocket.pairs.material import Words
from derive.pocket.preferences import Sense
from derive.pocket.shape import known_sentence
from derive.pocket.tree import Node, Places, linearise
from derive.sentence import Sentence, Span

PLACED = 0.4
"""Share of the sentences that tell where, in contexts that nobody asks where of; questions of places need it in all."""
FRONTED = 0.3
"""Share of the places that stand first."""
ANSWER = "answer"
"""The label of the answer's span."""
SUBJECT, OBJECT, PLACE = KINDS = ("subject", "object", "place")
"""What questions ask for, as examples say it."""


@dataclass(frozen=True)
class Event:
    """Who does what to whom, and where."""

    agent: Sense
    verb: Sense
    patient: Sense
    place: Sense
    negative: bool = False


class Questions:
    """Draws questions about the senses of `topics`; `places` draws the word order of a sentence."""

    def __init__(self, topics: list[Sense], rng: random.Random, places: Callable[[], Places]) -> None:
        self._words = Words(topics, rng)
        self._rng = rng
        self._places = places

    def examples(self) -> Iterator[Example]:
        """Questions without end, about as many of each kind.

        Raises:
            BadInput: all questions that the lexicon can make of some kind have come.
        """
        return fresh(KINDS, self._rng, lambda kind: lambda: self._example(kind))

    def _example(self, kind: str) -> Example:
        events, tense = self._events(kind), self._rng.choice(("past", "present"))
        told = [self._tell(event, tense, kind, event is events[0]) for event in events]
        question = self._ask(events[0], tense, kind)
        return Example(((question,), tuple(self._rng.sample(told, len(told)))), diagnostic=kind)

    def _events(self, kind: str) -> list[Event]:
        """What the question is about, then what it is not about: each could be taken for it by its words.

        Two where agent and patient have changed places, one that is denied, and others of the same people.
        """
        rng = self._rng
        people, places, verbs = self._words.scene()
        one, other, *rest = people
        first, second = (one, other) if rng.random() < 0.5 else (other, one)
        event = Event(first, verbs[0], second, places[0])
        denied = replace(event, place=rng.choice(places[1:]), negative=True)
        if kind == PLACE:
            near = [denied, *(Event(second, verbs[0], first, rng.choice(places)) for _ in range(2))]
        elif kind == SUBJECT:
            near = [replace(denied, agent=rest[0])]
            near += [Event(second, verbs[0], person, rng.choice(places)) for person in rest[1:]]
        else:
            near = [replace(denied, patient=rest[0])]
            near += [Event(person, verbs[0], first, rng.choice(places)) for person in rest[1:]]
        far = Event(rng.choice(rest), verbs[1], rng.choice((first, second)), rng.choice(places))
        extra = replace(event, verb=verbs[1], place=rng.choice(places[1:]))
        return [event, *near, *rng.sample([far, extra], rng.randrange(3))]

    def _tell(self, event: Event, tense: str, kind: str, asked: bool) -> Sentence:
        """An event as a sentence; if it is what is `asked` about, the answer is its span."""
        passive = self._rng.random() < 0.5
        root = phrase.verb(event.verb, tense, passive=passive)
        agent, patient = _person(event.agent), _person(event.patient)
        agent.relation, patient.relation = ("obl:agent", "nsubj:pass") if passive else ("nsubj", "obj")
        root.add(phrase.adposition(agent, "by") if passive else agent, patient)
        if event.negative:
            root.dependents.insert(0, Node("never", "ADV", "advmod", place="often"))
        where = phrase.noun(event.place, "obl", determiner="the")
        if kind == PLACE or self._rng.random() < PLACED:
            place = phrase.adposition(where, "in")
            root.add(phrase.fronted(place) if self._rng.random() < FRONTED else place)
        root.add(Node(".", "PUNCT", "punct"))
        order = self._places()
        sentence = replace(known_sentence(root, order), spans=())
        if not asked:
            return sentence
        node = {SUBJECT: agent, OBJECT: patient, PLACE: where}[kind]
        nodes, _ = linearise(root, order)
        words = {id(node), *(id(below) for below in node.dependents if below.tag == "DET")}
        inside = [i for i, one in enumerate(nodes) if id(one) in words]
        return replace(sentence, spans=(Span(inside[0], inside[-1] + 1, ANSWER),))

    def _ask(self, event: Event, tense: str, kind: str) -> Sentence:
        """Who or where, in the active or in the passive."""
        passive = self._rng.random() < 0.5
        agent, patient = _person(event.agent), _person(event.patient)
        if kind == SUBJECT:
            agent = phrase.pronoun("who", "")
        elif kind == OBJECT:
            patient = phrase.pronoun("who", "")
        agent.relation, patient.relation = ("obl:agent", "nsubj:pass") if passive else ("nsubj", "obj")
        # Who it is asked for stands first; where that is not the subject, an auxiliary comes before the subject.
        inverted = kind == PLACE or (kind == SUBJECT) == passive
        root = phrase.verb(event.verb, tense, question=inverted, passive=passive)
        if inverted and kind != PLACE:
            (agent if kind == SUBJECT else patient).place = "wh"
        root.add(phrase.adposition(agent, "by") if passive else agent, patient)
        if kind == PLACE:
            root.add(Node("where", "ADV", "advmod", place="wh"))
        return replace(known_sentence(root.add(Node("?", "PUNCT", "punct")), self._places()), spans=())


def _person(sense: Sense) -> Node:
    return phrase.person(sense, "", 1) if sense.lexeme is None else phrase.noun(sense, "", determiner="the")
