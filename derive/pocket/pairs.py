"""Building blocks of multi-sentence tasks: words drawn independently of the label, balanced cases, and
streams of examples."""

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeVar

from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.pocket.preferences import SIZE, Role, Sense

T = TypeVar("T")
C = TypeVar("C", bound=Any)  # the type of cases: a dataclass with a `label` and a `weight`
View = Callable[[Any], Hashable]  # a surface feature of a case

REPETITIONS = 1_000  # maximum number of consecutive draws that repeat earlier examples
TRIES = 1_000  # number of draws after which the lexicon is assumed to lack suitable words
NUMBERS = ("two", "three", "four")


def balanced(cases: Sequence[C], views: Sequence[View], rounds: int = 200) -> list[C]:
    """Reweight cases by iterative proportional fitting (Deming and Stephan 1940) so that no view predicts the
    label and each label's weights sum to one. Cases that cannot be balanced are left out."""
    kept = _supported(cases, views)
    labels = [case.label for case in kept]
    every = sorted(set(labels))
    weights = [case.weight for case in kept]
    keys = [[view(case) for case in kept] for view in views]
    for _ in range(rounds):
        for column in keys:
            totals: defaultdict[tuple[Hashable, str], float] = defaultdict(float)
            for key, label, weight in zip(column, labels, weights, strict=True):
                totals[key, label] += weight
            means = {key: sum(totals[key, label] for label in every) / len(every) for key in set(column)}
            each = zip(column, labels, weights, strict=True)
            weights = [weight * means[key] / totals[key, label] for key, label, weight in each]
    whole = sum(weights) / len(every)
    return [replace(case, weight=weight / whole) for case, weight in zip(kept, weights, strict=True)]


def _supported(cases: Sequence[C], views: Sequence[View]) -> list[C]:
    kept, before = list(cases), -1
    every = {case.label for case in cases}
    while len(kept) != before:
        before = len(kept)
        for view in views:
            seen: defaultdict[Hashable, set[str]] = defaultdict(set)
            for case in kept:
                seen[view(case)].add(case.label)
            kept = [case for case in kept if seen[view(case)] == every]
    return kept


def draw_cases(
    labels: Sequence[str], cases: Sequence[C], draw: Callable[[C], Example], rng: random.Random
) -> Iterator[Example]:
    """Yield distinct examples of cases drawn in proportion to their weights (see `fresh`)."""
    by_label = {label: [case for case in cases if case.label == label] for label in labels}
    ends = {label: list(accumulate(case.weight for case in some)) for label, some in by_label.items()}

    def draw_case(label: str) -> Callable[[], Example]:
        case = rng.choices(by_label[label], cum_weights=ends[label])[0]
        return lambda: draw(case)

    return fresh(labels, rng, draw_case)


def fresh(
    labels: Sequence[str], rng: random.Random, case: Callable[[str], Callable[[], Example]]
) -> Iterator[Example]:
    """Yield an infinite stream of distinct examples in rounds of one example per label. `case` draws a case
    with a given label and returns a function that draws its examples."""
    seen: set[tuple[tuple[tuple[str, ...], ...], ...]] = set()
    while True:
        for label in rng.sample(labels, len(labels)):
            draw = case(label)
            for _ in range(REPETITIONS):
                example = draw()
                if example.words not in seen:
                    seen.add(example.words)
                    yield example
                    break
            else:
                fault = f"the lexicon yields only {len(seen):,} distinct examples"
                raise BadInput(f"{fault}; none is left for {example.diagnostic or f'label {label}'}")


@dataclass(frozen=True)
class Material:
    """The words of a pair; `nouns` and `poles` are in the order of derive.pocket.inference. `poles` are verbs
    if `deed`, otherwise adjectives. If `acts`, the noun that may change is the agent and `other` the patient;
    otherwise, it is the reverse."""

    nouns: tuple[Sense, ...]
    poles: tuple[Sense, ...]
    deed: bool
    tense: str
    acts: bool = True
    other: Sense | None = None
    manners: tuple[Sense, ...] = ()
    places: tuple[tuple[Sense, Sense], ...] = ()
    numbers: tuple[str, ...] = ()
    setting: tuple[Sense, Sense] | None = None
    early: bool = False


class WordDraws:
    """Draws words for pairs and questions according to topics' preferences, independently of the label."""

    def __init__(self, topics: list[Sense], rng: random.Random) -> None:
        self._topics = topics
        self._rng = rng
        self._kinds: defaultdict[str, set[str]] = defaultdict(set)  # over all topics
        roles = (Role.HYPONYM, Role.ANIMATE, Role.THING, Role.PLACE)
        for noun in (noun for topic in topics for role in roles for noun in set(topic.tables[role])):
            self._kinds[noun.lemma] |= {noun.lemma, *(kind.lemma for kind in noun.tables[Role.HYPERNYM][:1])}
        self._verbs = {role: _of_two_axes(topics, role) for role in (Role.TR, Role.INTR)}
        if not self._verbs[Role.TR]:
            fault = "the lexicon has fewer than two pairs of antonyms among its frequent verbs"
            raise BadInput(f"{fault}; increase the number of word types")

    def quality(self) -> Material:
        """Draw words for statements about a quality or an intransitive action."""
        topic = self._topic()
        if self._verbs[Role.INTR] and self._rng.random() < 0.25:
            nouns = self._nouns(topic, Role.ANIMATE)
            poles = self._poles(lambda: self._rng.choice(self._verbs[Role.INTR]))
            return Material(nouns, poles, True, self._tense(), setting=self._setting(topic, nouns))
        nouns, tense = self._nouns(topic, Role.HYPONYM), self._tense()
        # Adjectives are drawn independently of the chosen noun.
        poles = self._poles(lambda: self._draw(self._rng.choice(nouns), Role.ADJ))
        early = self._rng.random() < 0.5
        return Material(nouns, poles, False, tense, setting=self._setting(topic, nouns), early=early)

    def deed(self) -> Material:
        """Draw words for statements about an action with a thing as its object."""
        topic = self._topic()
        nouns = self._nouns(topic, Role.ANIMATE)
        poles = self._poles(lambda: self._rng.choice(self._verbs[Role.TR]))
        return Material(nouns, poles, True, self._tense(), other=self._draw(topic, Role.THING))

    def meeting(self) -> Material:
        """Draw words for statements about an action between two people or animals."""
        topic = self._topic()
        nouns, verb = self._nouns(topic, Role.ANIMATE), self._draw(topic, Role.SOC)
        role = Role.NAME if self._rng.random() < 0.5 else Role.ANIMATE
        other = self._another(topic, role, nouns)
        acts = self._rng.random() < 0.5
        manners = self._two(verb, Role.MANNER)
        return Material(nouns, (verb,), True, self._tense(), acts, other, manners)

    def number(self) -> Material:
        """Draw words for statements about a number of things."""
        topic = self._topic()
        nouns, verb = self._nouns(topic, Role.ANIMATE), self._draw(topic, Role.TR)
        other = self._another(verb, Role.OBJECT, nouns)
        numbers = tuple(self._rng.sample(NUMBERS, 2))
        return Material(nouns, (verb,), True, self._tense(), other=other, numbers=numbers)

    def adjunct(self) -> Material:
        """Draw words for statements about the manner and place of an action."""
        topic = self._topic()
        nouns, verb = self._nouns(topic, Role.ANIMATE), self._draw(topic, Role.INTR)
        preposition = self._draw(verb, Role.LOCATIVE)
        first, second = self._two(topic, Role.PLACE)
        manners = self._two(verb, Role.MANNER)
        places = (preposition, first), (preposition, second)
        return Material(nouns, (verb,), True, self._tense(), manners=manners, places=places)

    def encounter(self, named: tuple[bool, bool], alike: bool) -> Material:
        """Draw two people and a verb which, if `alike`, has the same form in both voices."""
        topic = self._topic()
        tense = "past" if alike else "present"
        verb = self._fitting(topic, Role.SOC, lambda verb: not alike or len(set(verb.forms[2:])) == 1)
        roles = [Role.NAME if name else Role.ANIMATE for name in named]
        people = self._such(
            lambda: tuple(self._draw(topic, role) for role in roles),
            lambda two: two[0].lemma != two[1].lemma,
        )
        place = self._another(topic, Role.PLACE, people)
        manner, preposition = self._draw(verb, Role.MANNER), self._draw(verb, Role.LOCATIVE)
        return Material(people, (verb,), True, tense, manners=(manner,), places=((preposition, place),))

    def scene(self) -> tuple[list[Sense], list[Sense], list[Sense]]:
        """Draw five people or animals, three places and two verbs from one topic, all with different
        lemmas."""
        topic, drawn = self._topic(), list[Sense]()

        def someone() -> Sense:
            return self._draw(topic, Role.NAME if self._rng.random() < 0.5 else Role.ANIMATE)

        while len(drawn) < 5:
            drawn.append(self._such(someone, lambda word: _is_new(word, drawn)))
        for role in (*[Role.PLACE] * 3, *[Role.SOC] * 2):
            drawn.append(self._another(topic, role, drawn))
        return drawn[:5], drawn[5:8], drawn[8:]

    def _topic(self) -> Sense:
        return self._rng.choices(self._topics, [topic.weight for topic in self._topics])[0]

    def _tense(self) -> str:
        return self._rng.choice(("past", "present"))

    def _draw(self, sense: Sense, role: Role) -> Sense:
        return sense.tables[role][int(self._rng.random() * SIZE)]

    def _setting(self, topic: Sense, nouns: Sequence[Sense]) -> tuple[Sense, Sense]:
        place = self._another(topic, Role.PLACE, nouns)
        preposition = self._fitting(place, Role.LOCATIVE, lambda word: word.form(0) != "from")
        return preposition, place

    def _nouns(self, topic: Sense, role: Role) -> tuple[Sense, Sense, Sense, Sense]:
        def specific() -> Sense:
            return self._fitting(topic, role, lambda noun: bool(noun.tables[Role.HYPERNYM]))

        first = specific()
        kinds = self._kinds[first.lemma]  # the second noun shares no lemma or hypernym
        second = self._such(specific, lambda noun: kinds.isdisjoint(self._kinds[noun.lemma]))
        return first, first.tables[Role.HYPERNYM][0], second, second.tables[Role.HYPERNYM][0]

    def _another(self, sense: Sense, role: Role, others: Sequence[Sense]) -> Sense:
        return self._fitting(sense, role, lambda word: _is_new(word, others))

    def _two(self, sense: Sense, role: Role) -> tuple[Sense, Sense]:
        def exclude(two: tuple[Sense, Sense]) -> bool:
            one, other = two[0].lemma, two[1].lemma
            return one not in {other, *self._kinds[other]} and other not in self._kinds[one]

        return self._such(lambda: (self._draw(sense, role), self._draw(sense, role)), exclude)

    def _poles(self, draw: Callable[[], Sense]) -> tuple[Sense, ...]:
        first = self._such(draw, _has_antonym)
        second = self._such(draw, lambda word: _has_antonym(word) and word.lemma not in _axis(first))
        axes = [(word, self._draw(word, Role.ANTONYM)) for word in (first, second)]
        axis, other = self._rng.sample(axes, 2)
        return (*self._rng.sample(axis, 2), self._rng.choice(other))

    def _fitting(self, sense: Sense, role: Role, fits: Callable[[Sense], bool]) -> Sense:
        return self._such(lambda: self._draw(sense, role), fits)

    def _such(self, draw: Callable[[], T], fits: Callable[[T], bool]) -> T:
        for _ in range(TRIES):
            drawn = draw()
            if fits(drawn):
                return drawn
        raise BadInput("the lexicon has too few mutually exclusive words; increase the number of word types")


def _is_new(word: Sense, others: Iterable[Sense]) -> bool:
    return all(word.lemma != other.lemma for other in others)


def _has_antonym(word: Sense) -> bool:
    return bool(word.tables[Role.ANTONYM])


def _axis(word: Sense) -> frozenset[str]:
    return frozenset((word.lemma, word.tables[Role.ANTONYM][0].lemma))


def _of_two_axes(topics: list[Sense], role: Role) -> list[Sense]:
    verbs = [verb for topic in topics for verb in topic.tables[role] if verb.tables[Role.ANTONYM]]
    return verbs if len(set(map(_axis, verbs))) > 1 else []
