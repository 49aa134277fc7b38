"""Pairs of sentences with the same words that say the same or do not, after PAWS (Zhang et al. 2019): another voice,
adjuncts at other places, or two people who change places. What overlaps, and how much of the order, is as frequent with
either label."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise, product

from calque.derive.example import Example
from calque.derive.pocket import phrase
from calque.derive.pocket.lexicon import Lexeme
from calque.derive.pocket.pairs import Material, WordDraws, balanced, draw_cases
from calque.derive.pocket.preferences import Sense
from calque.derive.pocket.tree import ENGLISH, Node, Places, say
from calque.derive.sentence import Sentence

DIFFERENT, SAME = LABELS = ("0", "1")


@dataclass(frozen=True)
class Telling:
    """How a deed is told: in which voice, what stands first, and which of two adjuncts comes before the other."""

    passive: bool
    first: str
    place_before: bool


TELLINGS = tuple(
    Telling(passive, first, before)
    for passive, first, before in product((False, True), ("", "manner", "place"), (False, True))
    if not (first and before)  # of two adjuncts, one is left
)


@dataclass(frozen=True)
class Twice:
    """A deed told twice. `named`: which of the two people are called by name; `alike`: the verb has one form."""

    one: Telling
    other: Telling
    exchanged: bool
    named: tuple[bool, bool]
    alike: bool
    outside: tuple[object, ...] = ()
    weight: float = 1.0

    @property
    def label(self) -> str:
        return DIFFERENT if self.exchanged else SAME


def paraphrases(topics: list[Sense], rng: random.Random, places: Callable[[], Places]) -> Iterator[Example]:
    """Labelled pairs about the senses of `topics` without end, every two with both labels in a random order; `places`
    draws the word order of a sentence."""
    words = WordDraws(topics, rng)

    def draw(case: Twice) -> Example:
        deed = words.encounter(case.named, case.alike)
        one = _tell(deed, case.one, False, places())
        return Example(((one,), (_tell(deed, case.other, case.exchanged, places()),)), case.label)

    return draw_cases(LABELS, twice(), draw, rng)


def _tell(deed: Material, telling: Telling, exchanged: bool, places: Places) -> Sentence:
    agent, patient = map(phrase.person_or_noun, deed.nouns[::-1] if exchanged else deed.nouns)
    root = phrase.verb(deed.poles[0], deed.tense, passive=telling.passive)
    phrase.act(root, agent, patient, telling.passive)
    preposition, noun = deed.places[0]
    manner = phrase.adverb(deed.manners[0])
    # All stand where adverbs do, so that either can come before the other.
    place = phrase.adposition(phrase.noun(noun, "obl", determiner="the"), preposition.form(0))
    place.place = "advmod"
    adjuncts = {"manner": manner, "place": place}
    for name in ("place", "manner") if telling.place_before else ("manner", "place"):
        root.add(phrase.fronted(adjuncts[name]) if telling.first == name else adjuncts[name])
    return say(root.add(Node(".", "PUNCT", "punct")), places)


@lru_cache(maxsize=1)
def twice() -> list[Twice]:
    """The cases, balanced: no telling of one side, and no overlap of both, is more frequent with one label."""
    either = (False, True)
    cases = [
        Twice(one, other, exchanged, named, alike)
        for one, other, exchanged, named, alike in product(TELLINGS, TELLINGS, either, product(either, either), either)
        if one != other or exchanged
    ]
    views = (lambda case: case.one, lambda case: case.other, lambda case: case.outside)
    return balanced([replace(case, outside=_outside(case)) for case in cases], views, rounds=30)


def _outside(case: Twice) -> tuple[object, ...]:
    """How much two tellings have in common, in English order, whatever their words."""

    def noun(word: str) -> Sense:
        return Sense((word, word), lexeme=Lexeme(word, "person", (word, word)))

    people = [Sense((name,)) if named else noun(name) for name, named in zip("AB", case.named, strict=True)]
    verb = Sense(("v", "vs", "ved", "ved" if case.alike else "ven"))
    places = ((Sense(("p",)), noun("n")),)
    deed = Material(tuple(people), (verb,), True, "past", manners=(Sense(("m",)),), places=places)
    first = _tell(deed, case.one, False, ENGLISH.places).words
    second = _tell(deed, case.other, case.exchanged, ENGLISH.places).words
    return (case.named, case.alike, *_overlap(first, second))


def _overlap(first: Sequence[str], second: Sequence[str]) -> tuple[object, ...]:
    """Lengths, shared words, shared neighbours, shared words in the same order, and whether they begin or end alike."""
    shared = set(first) & set(second)
    places = {word: place for place, word in reversed(list(enumerate(second)))}
    order = [places[word] for word in dict.fromkeys(first) if word in shared]
    return (
        len(first), len(second), len(set(first)), len(set(second)), len(shared),
        len(set(pairwise(first)) & set(pairwise(second))), len(set(pairwise(second))),
        sum(a < b for a, b in combinations(order, 2)), first[0] == second[0], first[-2:] == second[-2:],
    )  # fmt: skip
