"""Building blocks of multi-sentence tasks: words drawn independently of the label, balanced cases, and
streams of examples."""

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from calque.derive.errors import BadInput
from calque.derive.pocket.lexicon import SIZE, Sense
from calque.derive.pocket.tree import Places
from calque.derive.source import Example

T = TypeVar("T")
C = TypeVar("C")

TRIES = 1_000  # number of draws after which the lexicon is assumed to lack suitable words
TOO_FEW = "the lexicon has too few mutually exclusive words; increase the number of word types"
NUMBERS = ("two", "three", "four")


@dataclass(frozen=True)
class Case:
    """A kind of pair: `parts` describe the sentences, `views` are the surface features that must not reveal
    the label, and `kind` is the phenomenon tested (`Example.diagnostic`)."""

    parts: tuple[Any, ...]
    label: str
    views: tuple[Hashable, ...]
    kind: str = ""
    weight: float = 1.0


def balanced(cases: Sequence[Case], rounds: int = 200) -> list[Case]:
    """Reweight cases by iterative proportional fitting (Deming and Stephan 1940), so that no view predicts
    the label and each label's weights sum to one. Cases that cannot be balanced are left out."""
    valid_cases = _supported(cases)
    labels = [case.label for case in valid_cases]
    distinct = sorted(set(labels))
    weights = [case.weight for case in valid_cases]
    for _ in range(rounds):
        for column in zip(*[case.views for case in valid_cases], strict=True):
            totals: defaultdict[tuple[Hashable, str], float] = defaultdict(float)
            for view, label, weight in zip(column, labels, weights, strict=True):
                totals[view, label] += weight
            means = {}
            for view in {*column}:
                means[view] = sum(totals[view, label] for label in distinct) / len(distinct)
            for i, (view, label) in enumerate(zip(column, labels, strict=True)):
                weights[i] = weights[i] * means[view] / totals[view, label]
    label_weight = sum(weights) / len(distinct)
    return [
        replace(case, weight=weight / label_weight) for case, weight in zip(valid_cases, weights, strict=True)
    ]


def _supported(cases: Sequence[Case]) -> list[Case]:
    """Return the cases whose views all occur with every label."""
    supported, size = list(cases), -1
    labels = {case.label for case in cases}
    while len(supported) != size:
        size = len(supported)
        for view in range(len(supported[0].views)):
            seen = {(case.views[view], case.label) for case in supported}
            supported = [
                case for case in supported if all((case.views[view], label) in seen for label in labels)
            ]
    return supported


def draw_cases(
    labels: Sequence[str], cases: Sequence[Case], draw: Callable[[Case], Example], rng: random.Random
) -> Iterator[Example]:
    """Yield distinct examples of cases drawn in proportion to their weights (see `fresh`)."""
    by_label = {label: [case for case in cases if case.label == label] for label in labels}
    weights = {label: [case.weight for case in by_label[label]] for label in labels}
    return fresh(labels, rng, lambda label: rng.choices(by_label[label], weights[label])[0], draw)


def fresh(
    labels: Sequence[str], rng: random.Random, choose: Callable[[str], C], draw: Callable[[C], Example]
) -> Iterator[Example]:
    """Yield an infinite stream of distinct examples in rounds of one per label. `choose` returns a case with
    a label, and `draw` an example of a case."""
    seen: set[tuple[tuple[tuple[str, ...], ...], ...]] = set()
    while True:
        for label in rng.sample(labels, len(labels)):
            fault = f"the lexicon yields only {len(seen):,} distinct examples; none is left for {label!r}"
            example = _such(partial(draw, choose(label)), lambda example: example.words not in seen, fault)
            seen.add(example.words)
            yield example


def _such(draw: Callable[[], T], fits: Callable[[T], object], fault: str = TOO_FEW) -> T:
    """Return the first draw that fits; raise BadInput after TRIES."""
    for _ in range(TRIES):
        drawn = draw()
        if fits(drawn):
            return drawn
    raise BadInput(fault)


@dataclass(frozen=True)
class Material:
    """The words of a pair; `nouns` and `poles` are in the order defined in derive.pocket.inference. `poles`
    are verbs if `deed`, otherwise adjectives. If `acts`, the noun that may change is the agent and `other`
    the patient."""

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

    def deed(self) -> Material:
        """Draw words for an action with a thing as its object."""
        topic = self._topic()
        nouns, poles = self._nouns(topic, "animate"), self._verb_poles("tr")
        return Material(nouns, poles, self._tense(), other=self._draw(topic, "thing"))

    def meeting(self) -> Material:
        """Draw words for an action between two people or animals."""
        topic = self._topic()
        nouns, verb = self._nouns(topic, "animate"), self._draw(topic, "soc")
        other = self._draw(topic, self._someone(), _unlike(nouns))
        acts = self.rng.random() < 0.5
        manners = self._two(verb, "manner")
        return Material(nouns, (verb,), self._tense(), acts=acts, other=other, manners=manners)

    def number(self) -> Material:
        """Draw words for a number of things."""
        topic = self._topic()
        nouns, verb = self._nouns(topic, "animate"), self._draw(topic, "tr")
        other = self._draw(verb, "object", _unlike(nouns))
        numbers = tuple(self.rng.sample(NUMBERS, 2))
        return Material(nouns, (verb,), self._tense(), other=other, numbers=numbers)

    def adjunct(self) -> Material:
        """Draw words for the manner and place of an action."""
        topic = self._topic()
        nouns, verb = self._nouns(topic, "animate"), self._draw(topic, "intr")
        preposition = self._draw(verb, "locative")
        places = tuple((preposition, place) for place in self._two(topic, "place"))
        manners = self._two(verb, "manner")
        return Material(nouns, (verb,), self._tense(), manners=manners, places=places)

    def encounter(self, named: tuple[bool, bool], alike: bool) -> Material:
        """Draw two people and a verb with the same form in the active and passive if `alike`."""
        topic = self._topic()
        verb = self._draw(topic, "soc", lambda verb: not alike or len(set(verb.forms[2:])) == 1)
        first, second = ("name" if is_named else "animate" for is_named in named)
        people = _such(
            lambda: (self._draw(topic, first), self._draw(topic, second)),
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
    """Return whether a word's lemma differs from those of `senses`."""
    lemmas = {sense.lemma for sense in senses}
    return lambda word: word.lemma not in lemmas


def _of_two_axes(topics: list[Sense], role: str) -> list[Sense]:
    """Return the topics' verbs with antonyms, or [] if they are all on one axis."""
    verbs = [verb for topic in topics for verb in topic.tables[role] if verb.antonym]
    return verbs if len({frozenset((verb.lemma, verb.antonym)) for verb in verbs}) > 1 else []
