"""Tasks that depend on who does what to whom.

Paraphrase pairs consist of sentences with the same words, as in PAWS (Zhang et al. 2019), which differ in
voice, in the positions of adjuncts, or in the roles of two people. Questions ask for the agent, the patient
or the place of an action; several sentences of the context differ only in roles and negation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, pairwise, product
from typing import NamedTuple

from calque.derive.pocket import tree
from calque.derive.pocket.lexicon import Sense
from calque.derive.pocket.pairs import Case, Material, WordDraws, balanced, draw_cases, fresh
from calque.derive.pocket.tree import ENGLISH, Places, say
from calque.derive.sentence import Sentence
from calque.derive.source import Example

DIFFERENT, SAME = LABELS = ("0", "1")


class SentenceForm(NamedTuple):
    """A sentence's voice, its fronted adjunct (if any) and the order of its adjuncts."""

    passive: bool
    first: str
    place_before: bool


FORMS = tuple(
    SentenceForm(passive, first, before)
    for passive, first, before in product((False, True), ("", "manner", "place"), (False, True))
    if not (first and before)  # if one adjunct is fronted, only one is left to order
)


def paraphrases(words: WordDraws) -> Iterator[Example]:
    """Yield an infinite stream of paraphrase examples."""

    def draw(case: Case) -> Example:
        first, second, exchanged, named, alike = case.parts
        deed = words.encounter(named, alike)
        sentences = _deed(deed, first, False, words.places()), _deed(deed, second, exchanged, words.places())
        return Example(tuple((sentence,) for sentence in sentences), case.label)

    return draw_cases(LABELS, paraphrase_cases(), draw, words.rng)


def _deed(deed: Material, form: SentenceForm, exchanged: bool, places: Places) -> Sentence:
    agent, patient = map(tree.person_or_noun, deed.nouns[::-1] if exchanged else deed.nouns)
    root = tree.verb(deed.poles[0], deed.tense, passive=form.passive)
    tree.act(root, agent, patient, form.passive)
    adjuncts = {"manner": tree.adverb(deed.manners[0]), "place": tree.location(*deed.places[0])}
    adjuncts["place"].place = "advmod"  # an adverb's position, so that adjuncts can occur in either order
    for name in ("place", "manner") if form.place_before else ("manner", "place"):
        root.add(tree.fronted(adjuncts[name]) if form.first == name else adjuncts[name])
    return say(root.add(tree.mark(".")), places)


@cache
def paraphrase_cases() -> list[Case]:
    """Return all kinds of pairs, balanced so that neither single sentences nor word overlap reveal the label.
    Their parts are the arguments of `_outside`."""
    cases, booleans = [], (False, True)
    for parts in product(FORMS, FORMS, booleans, product(booleans, booleans), booleans):
        first, second, exchanged, *_ = parts
        if first != second or exchanged:
            label = DIFFERENT if exchanged else SAME
            cases.append(Case(parts, label, (first, second, _outside(*parts))))
    return balanced(cases, rounds=30)


def _outside(
    first_form: SentenceForm,
    second_form: SentenceForm,
    exchanged: bool,
    named: tuple[bool, bool],
    alike: bool,
) -> tuple[object, ...]:
    """Return a pair's surface features that do not depend on the words drawn, given the sentences' forms,
    whether the second exchanges the two people, which of them have names, and whether the verb has the same
    form in the active and the passive."""

    kinds = ["" if has_name else "person" for has_name in named]
    people = [Sense((name, name), kind) for name, kind in zip("AB", kinds, strict=True)]
    verb = Sense(("v", "vs", "ved", "ved" if alike else "ven"))
    place = Sense(("p",)), Sense(("n", "n"), "place")
    deed = Material(tuple(people), (verb,), "past", manners=(Sense(("m",)),), places=(place,))
    first = _deed(deed, first_form, False, ENGLISH.places).words
    second = _deed(deed, second_form, exchanged, ENGLISH.places).words
    return (named, alike, *_overlap(first, second))


def _overlap(first: Sequence[str], second: Sequence[str]) -> tuple[object, ...]:
    shared = set(first) & set(second)
    order = [second.index(word) for word in dict.fromkeys(first) if word in shared]
    return (
        len(first), len(second), len(set(first)), len(set(second)), len(shared),
        len(set(pairwise(first)) & set(pairwise(second))), len(set(pairwise(second))),
        sum(a < b for a, b in combinations(order, 2)), first[0] == second[0], first[-2:] == second[-2:],
    )  # fmt: skip


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


def questions(words: WordDraws) -> Iterator[Example]:
    """Yield an infinite stream of questions with contexts."""
    rng = words.rng

    def draw(kind: str) -> Example:
        events, tense = _events(words, kind), rng.choice(("past", "present"))
        context = [_tell(event, tense, kind, event is events[0], words) for event in events]
        question = _ask(events[0], tense, kind, rng.random() < 0.5, words.places())
        return Example(((question,), tuple(rng.sample(context, len(context)))), diagnostic=kind)

    return fresh(KINDS, rng, str, draw)


def _events(words: WordDraws, kind: str) -> list[Event]:
    """Return the event asked about, its negation, two with other roles, and up to two with another verb."""
    rng, (people, places, verbs) = words.rng, words.scene()
    first, second, *other_people = people
    if rng.random() >= 0.5:
        first, second = second, first
    event = Event(first, verbs[0], second, places[0])
    negation = replace(event, place=rng.choice(places[1:]), negative=True)
    if kind == PLACE:
        distractors = [negation, *(Event(second, verbs[0], first, rng.choice(places)) for _ in range(2))]
    elif kind == SUBJECT:
        distractors = [replace(negation, agent=other_people[0])]
        distractors += [Event(second, verbs[0], person, rng.choice(places)) for person in other_people[1:]]
    else:
        distractors = [replace(negation, patient=other_people[0])]
        distractors += [Event(person, verbs[0], first, rng.choice(places)) for person in other_people[1:]]
    unrelated = Event(rng.choice(other_people), verbs[1], rng.choice((first, second)), rng.choice(places))
    extra = replace(event, verb=verbs[1], place=rng.choice(places[1:]))
    return [event, *distractors, *rng.sample([unrelated, extra], rng.randrange(3))]


def _tell(event: Event, tense: str, kind: str, answers: bool, words: WordDraws) -> Sentence:
    rng = words.rng
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
    agent.entity = patient.entity = ""
    if answers:
        node = {SUBJECT: agent, OBJECT: patient, PLACE: where}[kind]
        for part in (node, *node.dependents):
            if part is node or part.tag == "DET":
                part.entity = ANSWER
    return say(root, words.places())


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
    agent.entity = patient.entity = ""
    return say(root.add(tree.mark("?")), places)
