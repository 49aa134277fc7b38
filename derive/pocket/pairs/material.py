"""The words of a pair, drawn alike whatever its label: of each word that may change, all that it may change to."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from derive.errors import BadInput
from derive.pocket.preferences import SIZE, Role, Sense

T = TypeVar("T")
TRIES = 1_000
"""Draws after which a lexicon is held to have no such words."""
NOUNS = (Role.HYPONYM, Role.ANIMATE, Role.THING, Role.PLACE)
NUMBERS = ("two", "three", "four")


@dataclass(frozen=True)
class Material:
    """`nouns` and `poles` are in the order of derive.pocket.pairs.statement; so are two of each adjunct.

    What stays empty is not in the pair: `poles` are adjectives where there is no `deed`, and verbs else. `acts`: the
    noun that may change does it, and `other`, a noun or a name, is what it is done to; or the other way round.
    `setting`: a place that both statements name. `early`: `always` stands before `is`, not behind it.
    """

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


class Words:
    """Draws the words of pairs about the senses of `topics`.

    Raises:
        BadInput: the lexicon has too few words that exclude each other, or name one another.
    """

    def __init__(self, topics: list[Sense], rng: random.Random) -> None:
        self._topics = topics
        self._rng = rng
        self._kinds: defaultdict[str, set[str]] = defaultdict(set)  # in whatever topic
        for noun in (noun for topic in topics for role in NOUNS for noun in set(topic.tables[role])):
            self._kinds[lemma(noun)] |= {lemma(noun), *(lemma(kind) for kind in noun.tables[Role.HYPERNYM][:1])}
        self._verbs = {role: _of_two_axes(topics, role) for role in (Role.TR, Role.INTR)}
        if not self._verbs[Role.TR]:
            raise BadInput(
                "the lexicon has no two pairs of antonyms among its verbs that are not rare; more word types, a "
                "smaller tail or a smaller exponent of frequencies have more"
            )

    def quality(self) -> Material:
        """What is how, or does what without an object."""
        topic = self._topic()
        if self._verbs[Role.INTR] and self._rng.random() < 0.25:
            nouns = self._nouns(topic, Role.ANIMATE)
            poles = self._poles(lambda: self._rng.choice(self._verbs[Role.INTR]))
            return Material(nouns, poles, True, self._tense(), setting=self._setting(topic, nouns))
        nouns, tense = self._nouns(topic, Role.HYPONYM), self._tense()
        poles = self._poles(lambda: self._draw(self._rng.choice(nouns), Role.ADJ))  # it tells of no single noun
        early = self._rng.random() < 0.5
        return Material(nouns, poles, False, tense, setting=self._setting(topic, nouns), early=early)

    def deed(self) -> Material:
        """Somebody who does something to a thing, or leaves it."""
        topic = self._topic()
        nouns = self._nouns(topic, Role.ANIMATE)
        poles = self._poles(lambda: self._rng.choice(self._verbs[Role.TR]))
        return Material(nouns, poles, True, self._tense(), True, self._draw(topic, Role.THING))

    def meeting(self) -> Material:
        """Two people or animals, one of whom does something to the other."""
        topic = self._topic()
        nouns = self._nouns(topic, Role.ANIMATE)
        verb, other = self._draw(topic, Role.SOC), self._other(topic, Role.ANIMATE, nouns)
        acts = self._rng.random() < 0.5
        manners = self._two(lambda: self._draw(verb, Role.MANNER))
        return Material(nouns, (verb,), True, self._tense(), acts, other, manners)

    def encounter(self, named: tuple[bool, bool], alike: bool) -> Material:
        """Two people, and one deed; `alike`: its verb has one form in both voices."""
        topic = self._topic()
        tense = "past" if alike else "present"
        verb = self._such(lambda: self._draw(topic, Role.SOC), lambda verb: not alike or len(set(verb.forms[2:])) == 1)
        roles = [Role.NAME if name else Role.ANIMATE for name in named]
        people = self._such(
            lambda: tuple(self._draw(topic, role) for role in roles), lambda two: len(set(map(lemma, two))) == 2
        )
        place = self._another(lambda: self._draw(topic, Role.PLACE), people)
        manner, preposition = self._draw(verb, Role.MANNER), self._draw(verb, Role.LOCATIVE)
        return Material(people, (verb,), True, tense, manners=(manner,), places=((preposition, place),))

    def scene(self) -> tuple[list[Sense], list[Sense], list[Sense]]:
        """Five people or animals, three places and two verbs of one topic; no two have a form in common."""
        topic = self._topic()
        people = self._different(5, lambda: self._draw(topic, Role.NAME if self._rng.random() < 0.5 else Role.ANIMATE))
        places = self._different(3, lambda: self._draw(topic, Role.PLACE), people)
        return people, places, self._different(2, lambda: self._draw(topic, Role.SOC), people + places)

    def number(self) -> Material:
        """Somebody who does something to two or three things."""
        topic = self._topic()
        nouns, verb = self._nouns(topic, Role.ANIMATE), self._draw(topic, Role.TR)
        other = self._another(lambda: self._draw(verb, Role.OBJECT), nouns)
        numbers = tuple(self._rng.sample(NUMBERS, 2))
        return Material(nouns, (verb,), True, self._tense(), True, other, numbers=numbers)

    def adjunct(self) -> Material:
        """Somebody who does something in a manner and at a place."""
        topic = self._topic()
        nouns = self._nouns(topic, Role.ANIMATE)
        verb = self._draw(topic, Role.INTR)
        preposition = self._draw(verb, Role.LOCATIVE)
        places = self._two(lambda: self._draw(topic, Role.PLACE))
        manners = self._two(lambda: self._draw(verb, Role.MANNER))
        first, second = places
        return Material(
            nouns, (verb,), True, self._tense(), manners=manners, places=((preposition, first), (preposition, second))
        )  # fmt: skip

    def _topic(self) -> Sense:
        return self._rng.choices(self._topics, [topic.weight for topic in self._topics])[0]

    def _tense(self) -> str:
        return self._rng.choice(("past", "present"))

    def _draw(self, sense: Sense, role: Role) -> Sense:
        return sense.tables[role][int(self._rng.random() * SIZE)]

    def _setting(self, topic: Sense, nouns: Iterable[Sense]) -> tuple[Sense, Sense]:
        """Where both statements are said to be so: they end alike, whatever differs."""
        place = self._another(lambda: self._draw(topic, Role.PLACE), nouns)
        preposition = self._such(lambda: self._draw(place, Role.LOCATIVE), lambda word: word.form(0) != "from")
        return preposition, place

    def _nouns(self, topic: Sense, role: Role) -> tuple[Sense, Sense, Sense, Sense]:
        """Two nouns of different kinds, each with what it is a kind of."""

        def specific() -> Sense:
            return self._such(lambda: self._draw(topic, role), lambda noun: bool(noun.tables[Role.HYPERNYM]))

        first = specific()
        second = self._such(specific, lambda noun: self._apart(first, noun))
        return first, first.tables[Role.HYPERNYM][0], second, second.tables[Role.HYPERNYM][0]

    def _other(self, topic: Sense, role: Role, nouns: Iterable[Sense]) -> Sense:
        """A name, or a noun that is none of those."""
        name = role == Role.ANIMATE and self._rng.random() < 0.5
        return self._another(lambda: self._draw(topic, Role.NAME if name else role), nouns)

    def _another(self, draw: Callable[[], Sense], nouns: Iterable[Sense]) -> Sense:
        taken = {lemma(noun) for noun in nouns}
        return self._such(draw, lambda noun: lemma(noun) not in taken)

    def _apart(self, first: Sense, second: Sense) -> bool:
        """Whether no word names both, nor anything that both are."""
        return self._kinds[lemma(first)].isdisjoint(self._kinds[lemma(second)])

    def _different(self, count: int, draw: Callable[[], Sense], taken: Iterable[Sense] = ()) -> list[Sense]:
        drawn = list(taken)
        for _ in range(count):
            drawn.append(self._another(draw, drawn))
        return drawn[-count:]

    def _two(self, draw: Callable[[], Sense]) -> tuple[Sense, Sense]:
        """Two words that exclude each other: neither is a kind of the other."""

        def exclude(two: tuple[Sense, Sense]) -> bool:
            one, other = map(lemma, two)
            return one not in {other, *self._kinds[other]} and other not in self._kinds[one]

        return self._such(lambda: (draw(), draw()), exclude)

    def _poles(self, draw: Callable[[], Sense]) -> tuple[Sense, ...]:
        """A word and its antonym, in either order, and a word of the same kind that has to do with neither."""
        first = self._such(draw, lambda word: bool(word.tables[Role.ANTONYM]))
        second = self._such(draw, lambda word: bool(word.tables[Role.ANTONYM]) and not _one_axis(word, first))
        axes = [(word, self._draw(word, Role.ANTONYM)) for word in (first, second)]
        axis, other = self._rng.sample(axes, 2)
        return (*self._rng.sample(axis, 2), self._rng.choice(other))

    def _such(self, draw: Callable[[], T], fits: Callable[[T], bool]) -> T:
        for _ in range(TRIES):
            if fits(drawn := draw()):
                return drawn
        raise BadInput("the lexicon has too few words that exclude each other; more word types have more")


def _of_two_axes(topics: list[Sense], role: Role) -> list[Sense]:
    """The verbs of a kind that have an antonym, or none if they are all one pair."""
    verbs = [verb for topic in topics for verb in topic.tables[role] if verb.tables[Role.ANTONYM]]
    return verbs if len({frozenset((lemma(verb), lemma(verb.tables[Role.ANTONYM][0]))) for verb in verbs}) > 1 else []


def lemma(sense: Sense) -> str:
    """What a word is called in a dictionary."""
    return sense.lexeme.lemma if sense.lexeme else sense.forms[0]


def _one_axis(first: Sense, second: Sense) -> bool:
    return lemma(first) in (lemma(second), lemma(second.tables[Role.ANTONYM][0]))
