"""Words drawn independently of the label, balanced cases, and two tasks that depend on who does what to whom.

The sentences of a paraphrase pair have the same words, as in PAWS (Zhang et al. 2019), and differ in voice,
in the positions of adjuncts, or in the roles of two people. Questions ask for the agent, the patient or the
place of an action; several sentences of the context differ only in roles and negation."""

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations, pairwise, product
from typing import Any, TypeVar

from calque.derive.errors import BadInput
from calque.derive.pocket import tree
from calque.derive.pocket.lexicon import SIZE, Sense
from calque.derive.pocket.tree import ENGLISH, Places, say
from calque.derive.sentence import Example, Sentence

T = TypeVar("T")

TRIES = 1_000  # number of draws after which the lexicon is assumed to lack suitable words
NUMBERS = ("two", "three", "four")
LABELS = ("0", "1")  # different, same
PLACED = 0.4  # fraction of sentences that mention a place, unless the question asks for a place
FRONTED = 0.3  # fraction of places moved to the front
ANSWER = "answer"  # the label of the answer's span
SUBJECT, OBJECT, PLACE = KINDS = ("subject", "object", "place")  # the answer's role (`diagnostic`)


@dataclass(frozen=True)
class Case:
    """A pair that tests the phenomenon `kind`; surface features `views` must not reveal the label."""

    parts: tuple[Any, ...]
    label: str
    views: tuple[Hashable, ...]
    kind: str = ""
    weight: float = 1.0


def balanced(cases: Iterable[Case], rounds: int = 200) -> list[Case]:
    """Reweight cases by iterative proportional fitting (Deming and Stephan 1940), so that no view predicts
    the label and each label's weights sum to one. Cases that cannot be balanced are left out."""
    cases, size = list(cases), -1
    labels, views = sorted({case.label for case in cases}), range(len(cases[0].views))
    while len(cases) != size:  # until all views occur with every label
        size = len(cases)
        for i in views:
            seen = {(case.views[i], case.label) for case in cases}
            cases = [case for case in cases if seen.issuperset((case.views[i], label) for label in labels)]
    weights = [case.weight for case in cases]
    for _ in range(rounds):
        for i in views:
            totals: defaultdict[tuple[Hashable, str], float] = defaultdict(float)
            for case, weight in zip(cases, weights, strict=True):
                totals[case.views[i], case.label] += weight
            for number, case in enumerate(cases):
                mean = sum(totals[case.views[i], label] for label in labels) / len(labels)
                weights[number] *= mean
                weights[number] /= totals[case.views[i], case.label]
    label_weight = sum(weights) / len(labels)
    return [replace(case, weight=weight / label_weight) for case, weight in zip(cases, weights, strict=True)]


def draw_cases(
    labels: Sequence[str], cases: Sequence[Case], draw: Callable[[Case], Example], rng: random.Random
) -> Iterator[Example]:
    """Yield an infinite stream of distinct examples in rounds of one per label. Cases are drawn in proportion
    to their weights, if a label has several, and `draw` returns an example of a case."""
    by_label = {label: [case for case in cases if case.label == label] for label in labels}
    weights = {label: [case.weight for case in of_label] for label, of_label in by_label.items()}
    seen: set[tuple[tuple[tuple[str, ...], ...], ...]] = set()
    while True:
        for label in rng.sample(labels, len(labels)):
            case, *more = by_label[label]
            if more:
                case = rng.choices(by_label[label], weights[label])[0]
            example = _such(partial(draw, case), lambda example: example.words not in seen)
            seen.add(example.words)
            yield example


def _such(draw: Callable[[], T], fits: Callable[[T], object]) -> T:
    """Return the first draw that fits; raise BadInput after TRIES."""
    for _ in range(TRIES):
        if fits(drawn := draw()):
            return drawn
    raise BadInput("the lexicon has too few words for more examples; reduce their number")


@dataclass(frozen=True)
class Material:
    """The words of a pair; `nouns` and `poles` are in the order defined in derive.pocket.inference. `poles`
    are verbs if `deed`, otherwise adjectives. If `acts`, `nouns` are agents and `other` the patient."""

    nouns: tuple[Sense, ...]
    poles: tuple[Sense, ...]
    tense: str
    deed: bool = True
    acts: bool = True
    other: Sense | None = None
    manners: tuple[Sense, ...] = ()
    places: tuple[tuple[Sense, Sense], ...] = ()
    numbers: tuple[str, ...] = ()
    setting: tuple[Sense, Sense] | None = None
    early: bool = False


class WordDraws:
    """Draws words by the topics' preferences, independently of the label; `places` draws word orders."""

    def __init__(self, topics: list[Sense], rng: random.Random, places: Callable[[], Places]) -> None:
        self._topics, self.rng, self.places = topics, rng, places
        self._kinds: defaultdict[str, set[str]] = defaultdict(set)  # each noun's lemma and hypernyms
        for topic in topics:
            for role in ("hyponym", "animate", "thing", "place"):
                for noun in set(topic.tables[role]):
                    self._kinds[noun.lemma] |= {noun.lemma, noun.hypernym} - {""}
        self._verbs = {role: _of_two_axes(topics, role) for role in ("tr", "intr")}

    def quality(self) -> Material:
        """Draw words for a quality or an intransitive action."""
        topic = self._topic()
        if self._verbs["intr"] and self.rng.random() < 0.25:
            nouns, poles = self._nouns(topic, "animate"), self._verb_poles("intr")
            return Material(nouns, poles, self._tense(), setting=self._setting(topic, nouns))
        nouns, tense = self._nouns(topic, "hyponym"), self._tense()
        # Adjectives are drawn independently of the chosen noun.
        poles = self._poles(lambda: self._draw(self.rng.choice(nouns), "adj"))
        early = self.rng.random() < 0.5
        return Material(nouns, poles, tense, deed=False, setting=self._setting(topic, nouns), early=early)

    quantity = quality

    def deed(self) -> Material:
        topic = self._topic()
        nouns, poles = self._nouns(topic, "animate"), self._verb_poles("tr")
        return Material(nouns, poles, self._tense(), other=self._draw(topic, "thing"))

    def meeting(self) -> Material:
        topic = self._topic()
        nouns, verb = self._nouns(topic, "animate"), self._draw(topic, "soc")
        other = self._draw(topic, self._someone(), _unlike(nouns))
        acts = self.rng.random() < 0.5
        manners = self._two(verb, "manner")
        return Material(nouns, (verb,), self._tense(), acts=acts, other=other, manners=manners)

    def number(self) -> Material:
        topic = self._topic()
        nouns, verb = self._nouns(topic, "animate"), self._draw(topic, "tr")
        other = self._draw(verb, "object", _unlike(nouns))
        numbers = tuple(self.rng.sample(NUMBERS, 2))
        return Material(nouns, (verb,), self._tense(), other=other, numbers=numbers)

    def adjunct(self) -> Material:
        topic = self._topic()
        nouns, verb = self._nouns(topic, "animate"), self._draw(topic, "intr")
        preposition = self._draw(verb, "locative")
        places = tuple((preposition, place) for place in self._two(topic, "place"))
        manners = self._two(verb, "manner")
        return Material(nouns, (verb,), self._tense(), manners=manners, places=places)

    def encounter(self, named: tuple[bool, bool], alike: bool) -> Material:
        """Draw two people and a verb with the same past tense and participle if `alike`."""
        topic = self._topic()
        verb = self._draw(topic, "soc", lambda verb: not alike or len(set(verb.forms[2:])) == 1)
        roles = ["name" if is_named else "animate" for is_named in named]
        people = _such(
            lambda: tuple([self._draw(topic, role) for role in roles]),
            lambda people: people[0].lemma != people[1].lemma,
        )
        place = self._draw(topic, "place", _unlike(people))
        manner, preposition = self._draw(verb, "manner"), self._draw(verb, "locative")
        tense = "past" if alike else "present"
        return Material(people, (verb,), tense, manners=(manner,), places=((preposition, place),))

    def scene(self) -> tuple[list[Sense], list[Sense], list[Sense]]:
        """Draw five people or animals, three places and two verbs with different lemmas from a topic."""
        topic, drawn = self._topic(), list[Sense]()
        for _ in range(5):
            drawn.append(_such(lambda: self._draw(topic, self._someone()), _unlike(drawn)))
        for role in ("place", "place", "place", "soc", "soc"):
            drawn.append(self._draw(topic, role, _unlike(drawn)))
        return drawn[:5], drawn[5:8], drawn[8:]

    def _topic(self) -> Sense:
        return self.rng.choices(self._topics, [topic.weight for topic in self._topics])[0]

    def _tense(self) -> str:
        return self.rng.choice(("past", "present"))

    def _someone(self) -> str:
        return "name" if self.rng.random() < 0.5 else "animate"

    def _setting(self, topic: Sense, nouns: Sequence[Sense]) -> tuple[Sense, Sense]:
        place = self._draw(topic, "place", _unlike(nouns))
        return self._draw(place, "locative", lambda word: word.lemma != "from"), place

    def _nouns(self, topic: Sense, role: str) -> tuple[Sense, Sense, Sense, Sense]:
        def specific() -> Sense:
            return self._draw(topic, role, lambda noun: noun.hypernym)

        first = specific()
        kinds = self._kinds[first.lemma]  # the second noun shares no lemma or hypernym
        second = _such(specific, lambda noun: kinds.isdisjoint(self._kinds[noun.lemma]))
        return first, first.tables["hypernym"][0], second, second.tables["hypernym"][0]

    def _two(self, sense: Sense, role: str) -> tuple[Sense, Sense]:
        def exclusive(two: tuple[Sense, Sense]) -> bool:
            first, second = two[0].lemma, two[1].lemma
            return first not in {second, *self._kinds[second]} and second not in self._kinds[first]

        return _such(lambda: (self._draw(sense, role), self._draw(sense, role)), exclusive)

    def _verb_poles(self, role: str) -> tuple[Sense, ...]:
        return self._poles(lambda: self.rng.choice(self._verbs[role]))

    def _poles(self, draw: Callable[[], Sense]) -> tuple[Sense, ...]:
        first = _such(draw, lambda word: word.antonym)
        axis = first.lemma, first.antonym
        second = _such(draw, lambda word: word.antonym and word.lemma not in axis)
        axes = [(word, self._draw(word, "antonym")) for word in (first, second)]
        poles, other_poles = self.rng.sample(axes, 2)
        return (*self.rng.sample(poles, 2), self.rng.choice(other_poles))

    def _draw(self, sense: Sense, role: str, fits: Callable[[Sense], object] = bool) -> Sense:
        return _such(lambda: sense.tables[role][int(self.rng.random() * SIZE)], fits)


def _unlike(senses: Iterable[Sense]) -> Callable[[Sense], bool]:
    lemmas = {sense.lemma for sense in senses}
    return lambda word: word.lemma not in lemmas


def _of_two_axes(topics: list[Sense], role: str) -> list[Sense]:
    """Return the topics' verbs with antonyms, unless all are on one axis."""
    verbs = [verb for topic in topics for verb in topic.tables[role] if verb.antonym]
    return verbs if len({frozenset((verb.lemma, verb.antonym)) for verb in verbs}) > 1 else []


SentenceForm = tuple[bool, str]  # whether it is passive, and its adjuncts; a comma marks a fronted one
FORMS = list(product((False, True), ("manner place", "place manner", ",manner place", "manner ,place")))


def paraphrases(words: WordDraws) -> Iterator[Example]:
    """Yield an infinite stream of paraphrase examples."""

    def draw(case: Case) -> Example:
        first, second, exchanged, named, alike = case.parts
        deed = words.encounter(named, alike)
        sentences = _deed(deed, first, False, words.places()), _deed(deed, second, exchanged, words.places())
        return Example(tuple((sentence,) for sentence in sentences), case.label)

    return draw_cases(LABELS, paraphrase_cases(), draw, words.rng)


def _deed(deed: Material, form: SentenceForm, exchanged: bool, places: Places) -> Sentence:
    passive, order = form
    agent, patient = map(tree.person_or_noun, deed.nouns[::-1] if exchanged else deed.nouns)
    root = tree.act(tree.verb(deed.poles[0], deed.tense, passive=passive), agent, patient, passive)
    adjuncts = {"manner": tree.adverb(deed.manners[0]), "place": tree.location(*deed.places[0])}
    adjuncts["place"].place = "advmod"  # an adverb's position, so that adjuncts can occur in either order
    for name in order.split():
        adjunct = adjuncts[name.removeprefix(",")]
        root.add(tree.fronted(adjunct) if name.startswith(",") else adjunct)
    return say(root.add(tree.mark(".")), places)


@cache
def paraphrase_cases() -> list[Case]:
    """Return all kinds of pairs; neither single sentences nor word overlap reveal the label."""
    cases, booleans = [], (False, True)
    for parts in product(FORMS, FORMS, booleans, product(booleans, booleans), booleans):
        first, second, exchanged, *_ = parts
        if first != second or exchanged:
            cases.append(Case(parts, LABELS[not exchanged], (first, second, _outside(*parts))))
    return balanced(cases, rounds=30)


def _outside(
    form: SentenceForm, second_form: SentenceForm, exchanged: bool, named: tuple[bool, bool], alike: bool
) -> tuple[object, ...]:
    """Return a pair's surface features, given whether the second sentence exchanges the people, which of them
    are named, and whether the verb has the same form in the active and the passive."""
    people = [Sense((name, name), "" if named[i] else "person") for i, name in enumerate("AB")]
    verb = Sense(("v", "vs", "ved", "ved" if alike else "ven"))
    place = Sense(("p",)), Sense(("n", "n"), "place")
    deed = Material(tuple(people), (verb,), "past", manners=(Sense(("m",)),), places=(place,))
    first = _deed(deed, form, False, ENGLISH.places).words
    second = _deed(deed, second_form, exchanged, ENGLISH.places).words
    shared = set(first) & set(second)
    order = [second.index(word) for word in dict.fromkeys(first) if word in shared]
    return (
        named, alike, len(first), len(second), len(set(first)), len(set(second)), len(shared),
        len(set(pairwise(first)) & set(pairwise(second))), len(set(pairwise(second))),
        sum(a < b for a, b in combinations(order, 2)), first[0] == second[0], first[-2:] == second[-2:],
    )  # fmt: skip


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

    def draw(case: Case) -> Example:
        kind, events, tense = case.label, _events(words, case.label), rng.choice(("past", "present"))
        context = [_tell(event, tense, kind, event is events[0], words) for event in events]
        question = _ask(events[0], tense, kind, rng.random() < 0.5, words.places())
        return Example(((question,), tuple(rng.sample(context, len(context)))), diagnostic=kind)

    return draw_cases(KINDS, [Case((), kind, ()) for kind in KINDS], draw, rng)


def _events(words: WordDraws, kind: str) -> list[Event]:
    """Return the event asked about, its negation, two with other roles, and up to two with another verb."""
    rng, (people, places, verbs) = words.rng, words.scene()
    first, second, *other_people = people
    if rng.random() >= 0.5:
        first, second = second, first
    event = Event(first, verbs[0], second, places[0])
    negation = replace(event, place=rng.choice(places[1:]), negative=True)
    if kind == PLACE:
        others = [(second, first)] * 2
    elif kind == SUBJECT:
        negation = replace(negation, agent=other_people[0])
        others = [(second, person) for person in other_people[1:]]
    else:
        negation = replace(negation, patient=other_people[0])
        others = [(person, first) for person in other_people[1:]]
    distractors = [negation, *(Event(a, verbs[0], b, rng.choice(places)) for a, b in others)]
    unrelated = Event(rng.choice(other_people), verbs[1], rng.choice((first, second)), rng.choice(places))
    extra = replace(event, verb=verbs[1], place=rng.choice(places[1:]))
    return [event, *distractors, *rng.sample([unrelated, extra], rng.randrange(3))]


def _tell(event: Event, tense: str, kind: str, answers: bool, words: WordDraws) -> Sentence:
    rng = words.rng
    passive = rng.random() < 0.5
    agent, patient = map(tree.person_or_noun, (event.agent, event.patient))
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
        for part in (node, *(child for child in node.dependents if child.tag == "DET")):
            part.entity = ANSWER
    return say(root, words.places())


def _ask(event: Event, tense: str, kind: str, passive: bool, places: Places) -> Sentence:
    # The question word comes first; if it is not the subject, an auxiliary precedes the subject.
    inverted = kind == PLACE or (kind == SUBJECT) == passive
    who = tree.pronoun("who", "", "wh" if inverted else "")
    agent = who if kind == SUBJECT else tree.person_or_noun(event.agent)
    patient = who if kind == OBJECT else tree.person_or_noun(event.patient)
    root = tree.verb(event.verb, tense, question=inverted, passive=passive)
    tree.act(root, agent, patient, passive)
    if kind == PLACE:
        root.add(tree.adverb("where", "wh"))
    agent.entity = patient.entity = ""
    return say(root.add(tree.mark("?")), places)
