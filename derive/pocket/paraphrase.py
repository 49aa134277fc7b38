"""Pairs of sentences with the same words that say the same or do not, after PAWS (Zhang et al. 2019).

The second sentence has another voice, its adjuncts at other places, or its two people have changed places. What
overlaps, and how much of the order, is as frequent with pairs that say the same as with those that do not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, combinations, pairwise, product

from derive.example import Example
from derive.pocket import phrase
from derive.pocket.lexicon import Lexeme
from derive.pocket.orders import ENGLISH
from derive.pocket.pairs.balance import balanced
from derive.pocket.pairs.fresh import fresh
from derive.pocket.pairs.material import Material, Words
from derive.pocket.preferences import Sense
from derive.pocket.shape import known_sentence
from derive.pocket.tree import Node, Places
from derive.sentence import Sentence

DIFFERENT, SAME = LABELS = ("0", "1")
ROUNDS = 30


@dataclass(frozen=True)
class Telling:
    """How a deed is told: in which voice, what stands first, and which of two adjuncts comes before the other."""

    passive: bool
    first: str
    place_before: bool


TELLINGS = tuple(
    Telling(passive, first, before)
    for passive, first, before in product((False, True), ("", "manner", "place"), (False, True))
    if not (first and before)  # the other one is the only one that is left
)


@dataclass(frozen=True)
class Twice:
    """A deed told twice. `named`: who of the two people are called by name; `alike`: the verb has one form."""

    one: Telling
    other: Telling
    exchanged: bool
    named: tuple[bool, bool]
    alike: bool
    outside: tuple[object, ...] = ()
    weight: float = 1.0

    @property
    def label(self) -> str:
        """Whether both say the same."""
        return DIFFERENT if self.exchanged else SAME


class Paraphrase:
    """Draws labelled pairs about the senses of `topics`; `places` draws the word order of a sentence."""

    def __init__(self, topics: list[Sense], rng: random.Random, places: Callable[[], Places]) -> None:
        self._words = Words(topics, rng)
        self._rng = rng
        self._places = places
        self._ends = {
            label: (
                cases := [case for case in twice() if case.label == label],
                list(accumulate(c.weight for c in cases)),
            )
            for label in LABELS
        }

    def pairs(self) -> Iterator[Example]:
        """Pairs without end; every two in a row bear both labels, in a random order.

        Raises:
            BadInput: all pairs that the lexicon can make of some case have come.
        """
        return fresh(LABELS, self._rng, self._case)

    def _case(self, label: str) -> Callable[[], Example]:
        cases, ends = self._ends[label]
        case = self._rng.choices(cases, cum_weights=ends)[0]
        return lambda: self._drawn(case)

    def _drawn(self, case: Twice) -> Example:
        deed = self._words.encounter(case.named, case.alike)
        one = tell(deed, case.one, False, self._places())
        other = tell(deed, case.other, case.exchanged, self._places())
        return Example(((one,), (other,)), case.label)


def tell(deed: Material, telling: Telling, exchanged: bool, places: Places) -> Sentence:
    """The deed as a sentence."""
    agent, patient = deed.nouns[::-1] if exchanged else deed.nouns
    root = phrase.verb(deed.poles[0], deed.tense, passive=telling.passive)
    if telling.passive:
        root.add(_person(patient, "nsubj:pass"), phrase.adposition(_person(agent, "obl:agent"), "by"))
    else:
        root.add(_person(agent, "nsubj"), _person(patient, "obj"))
    preposition, noun = deed.places[0]
    manner = phrase.adverb(deed.manners[0])
    # All stand where adverbs do, so that either can come before the other.
    place = phrase.adposition(phrase.noun(noun, "obl", determiner="the"), preposition.form(0))
    place.place = "advmod"
    adjuncts = {"manner": manner, "place": place}
    for name in ("place", "manner") if telling.place_before else ("manner", "place"):
        root.add(phrase.fronted(adjuncts[name]) if telling.first == name else adjuncts[name])
    return known_sentence(root.add(Node(".", "PUNCT", "punct")), places)


def _person(sense: Sense, relation: str) -> Node:
    return phrase.person(sense, relation, 1) if sense.lexeme is None else phrase.noun(sense, relation, determiner="the")


@lru_cache(maxsize=1)
def twice() -> list[Twice]:
    """The cases, balanced: no telling of one side, and no overlap of both, is more frequent with one label."""
    either = (False, True)
    cases = [
        replace(case, outside=_outside(case))
        for case in (
            Twice(one, other, exchanged, named, alike)
            for one, other, exchanged, named, alike in product(
                TELLINGS, TELLINGS, either, product(either, either), either
            )
            if one != other or exchanged
        )
    ]
    return balanced(cases, (lambda case: case.one, lambda case: case.other, lambda case: case.outside), ROUNDS)


def _noun(word: str) -> Sense:
    return Sense((word, word), lexeme=Lexeme(word, "person", (word, word)))


def _outside(case: Twice) -> tuple[object, ...]:
    """How much two tellings have in common, in English order, whatever their words."""
    people = [Sense((name,)) if named else _noun(name) for name, named in zip("AB", case.named, strict=True)]
    verb = Sense(("v", "vs", "ved", "ved" if case.alike else "ven"))
    deed = Material(
        tuple(people), (verb,), True, "past", manners=(Sense(("m",)),), places=((Sense(("p",)), _noun("n")),)
    )
    first = tell(deed, case.one, False, ENGLISH.places).words
    second = tell(deed, case.other, case.exchanged, ENGLISH.places).words
    return (case.named, case.alike, *overlap(first, second))


def overlap(first: Sequence[str], second: Sequence[str]) -> tuple[object, ...]:
    """Lengths, shared words, shared neighbours, shared words in the same order, and whether they begin or end alike."""
    shared = set(first) & set(second)
    places = {word: place for place, word in reversed(list(enumerate(second)))}
    order = [places[word] for word in dict.fromkeys(first) if word in shared]
    return (
        len(first), len(second), len(set(first)), len(set(second)), len(shared),
        len(set(pairwise(first)) & set(pairwise(second))), len(set(pairwise(second))),
        sum(a < b for a, b in combinations(order, 2)), first[0] == second[0], first[-2:] == second[-2:],
    )  # fmt: skip
