"""Questions about short paragraphs, which ask for the agent, the patient or the place of an action.

Several sentences in each paragraph contain the question's words and differ only in roles and negation.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from calque.derive.example import Example
from calque.derive.pocket import tree
from calque.derive.pocket.pairs import WordDraws, fresh
from calque.derive.pocket.preferences import Sense
from calque.derive.pocket.tree import Places, linearise, say
from calque.derive.sentence import Sentence, Span

PLACED = 0.4  # fraction of sentences that mention a place; all of them do if the question asks for a place
FRONTED = 0.3  # fraction of places moved to the front
ANSWER = "answer"  # the label of the answer's span
SUBJECT, OBJECT, PLACE = KINDS = ("subject", "object", "place")  # the answer's role (`diagnostic`)


@dataclass(frozen=True)
class Event:
    """An action; if `negative`, the sentence that describes it is negated."""

    agent: Sense
    verb: Sense
    patient: Sense
    place: Sense
    negative: bool = False


def questions(topics: list[Sense], rng: random.Random, places: Callable[[], Places]) -> Iterator[Example]:
    """Yield an infinite stream of questions with contexts; `places` draws word orders."""
    words = WordDraws(topics, rng)

    def draw(kind: str) -> Example:
        events, tense = _events(words, kind, rng), rng.choice(("past", "present"))
        context = [_tell(event, tense, kind, event is events[0], rng, places) for event in events]
        question = _ask(events[0], tense, kind, rng.random() < 0.5, places())
        return Example(((question,), tuple(rng.sample(context, len(context)))), diagnostic=kind)

    return fresh(KINDS, rng, lambda kind: lambda: draw(kind))


def _events(words: WordDraws, kind: str, rng: random.Random) -> list[Event]:
    """Return the event asked about and its distractors: a negated event, two events with different roles, and
    up to two with a different verb."""
    people, places, verbs = words.scene()
    first, second, *rest = people
    if rng.random() >= 0.5:
        first, second = second, first
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


def _tell(
    event: Event, tense: str, kind: str, answers: bool, rng: random.Random, places: Callable[[], Places]
) -> Sentence:
    """Express an event as a sentence, with a span for the answer if it `answers` the question."""
    passive = rng.random() < 0.5
    agent, patient = tree.person_or_noun(event.agent), tree.person_or_noun(event.patient)
    root = tree.act(tree.verb(event.verb, tense, passive=passive), agent, patient, passive)
    if event.negative:
        root.dependents.insert(0, tree.adverb("never", "often"))
    where = tree.noun(event.place, "obl", determiner="the")
    if kind == PLACE or rng.random() < PLACED:
        place = tree.adposition(where, "in")
        root.add(tree.fronted(place) if rng.random() < FRONTED else place)
    root.add(tree.mark("."))
    order = places()
    spans: tuple[Span, ...] = ()
    if answers:
        node = {SUBJECT: agent, OBJECT: patient, PLACE: where}[kind]
        answer = [node, *(below for below in node.dependents if below.tag == "DET")]
        nodes, _ = linearise(root, order)
        inside = [i for i, node in enumerate(nodes) if any(node is each for each in answer)]
        spans = (Span(inside[0], inside[-1] + 1, ANSWER),)
    return replace(say(root, order), spans=spans)


def _ask(event: Event, tense: str, kind: str, passive: bool, places: Places) -> Sentence:
    agent = tree.pronoun("who", "") if kind == SUBJECT else tree.person_or_noun(event.agent)
    patient = tree.pronoun("who", "") if kind == OBJECT else tree.person_or_noun(event.patient)
    # The question word comes first; if it is not the subject, an auxiliary precedes the subject.
    inverted = kind == PLACE or (kind == SUBJECT) == passive
    root = tree.verb(event.verb, tense, question=inverted, passive=passive)
    if inverted and kind != PLACE:
        (agent if kind == SUBJECT else patient).place = "wh"
    tree.act(root, agent, patient, passive)
    if kind == PLACE:
        root.add(tree.adverb("where", "wh"))
    return replace(say(root.add(tree.mark("?")), places), spans=())
