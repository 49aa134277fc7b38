"""Sentence pairs with the same words, which may or may not be paraphrases, after PAWS (Zhang et al. 2019).

The sentences differ in voice, in the positions of adjuncts, or because two people are swapped.
"""

import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, pairwise, product

from calque.derive.example import Example
from calque.derive.pocket import tree
from calque.derive.pocket.lexicon import Lexeme
from calque.derive.pocket.pairs import Material, WordDraws, balanced, draw_cases
from calque.derive.pocket.preferences import Sense
from calque.derive.pocket.tree import ENGLISH, Places, say
from calque.derive.sentence import Sentence

DIFFERENT, SAME = LABELS = ("0", "1")


@dataclass(frozen=True)
class SentenceForm:
    """The form of a sentence: its voice, the fronted adjunct (if any) and the order of the adjuncts."""

    passive: bool
    first: str
    place_before: bool


FORMS = tuple(
    SentenceForm(passive, first, before)
    for passive, first, before in product((False, True), ("", "manner", "place"), (False, True))
    if not (first and before)  # if one adjunct is fronted, only one is left to order
)


@dataclass(frozen=True)
class ParaphraseCase:
    """Two sentences about the same action. `named` says which of the two people are referred to by name, and
    `alike` whether the verb has the same form in both voices."""

    first: SentenceForm
    second: SentenceForm
    exchanged: bool
    named: tuple[bool, bool]
    alike: bool
    weight: float = 1.0

    @property
    def label(self) -> str:
        return DIFFERENT if self.exchanged else SAME

    @cached_property
    def views(self) -> tuple[Hashable, ...]:
        return self.first, self.second, _outside(self)


def paraphrases(topics: list[Sense], rng: random.Random, places: Callable[[], Places]) -> Iterator[Example]:
    """Yield an infinite stream of pairs; `places` draws word orders."""
    words = WordDraws(topics, rng)

    def draw(case: ParaphraseCase) -> Example:
        deed = words.encounter(case.named, case.alike)
        first = _tell(deed, case.first, False, places())
        return Example(((first,), (_tell(deed, case.second, case.exchanged, places()),)), case.label)

    return draw_cases(LABELS, paraphrase_cases(), draw, rng)


def _tell(deed: Material, form: SentenceForm, exchanged: bool, places: Places) -> Sentence:
    agent, patient = map(tree.person_or_noun, deed.nouns[::-1] if exchanged else deed.nouns)
    root = tree.verb(deed.poles[0], deed.tense, passive=form.passive)
    tree.act(root, agent, patient, form.passive)
    adjuncts = {"manner": tree.adverb(deed.manners[0].form(0)), "place": tree.location(*deed.places[0])}
    adjuncts["place"].place = "advmod"  # an adverb's position, so that adjuncts can occur in either order
    for name in ("place", "manner") if form.place_before else ("manner", "place"):
        root.add(tree.fronted(adjuncts[name]) if form.first == name else adjuncts[name])
    return say(root.add(tree.mark(".")), places)


@cache
def paraphrase_cases() -> list[ParaphraseCase]:
    """Return all kinds of pairs, balanced so that neither single sentences nor word overlap reveal the
    label."""
    either, cases = (False, True), []
    for first, second, exchanged, named, alike in product(
        FORMS, FORMS, either, product(either, either), either
    ):
        if first != second or exchanged:
            cases.append(ParaphraseCase(first, second, exchanged, named, alike))
    return balanced(cases, rounds=30)


def _outside(case: ParaphraseCase) -> tuple[object, ...]:
    """Return the surface features of a pair that do not depend on which words are drawn."""

    def noun(word: str) -> Sense:
        return Sense((word, word), lexeme=Lexeme(word, "person", (word, word)))

    people = [Sense((name,)) if named else noun(name) for name, named in zip("AB", case.named, strict=True)]
    verb = Sense(("v", "vs", "ved", "ved" if case.alike else "ven"))
    places = ((Sense(("p",)), noun("n")),)
    deed = Material(tuple(people), (verb,), "past", manners=(Sense(("m",)),), places=places)
    first = _tell(deed, case.first, False, ENGLISH.places).words
    second = _tell(deed, case.second, case.exchanged, ENGLISH.places).words
    return (case.named, case.alike, *_overlap(first, second))


def _overlap(first: Sequence[str], second: Sequence[str]) -> tuple[object, ...]:
    """Return features of word overlap: lengths, shared words and bigrams, word order, and equal starts and
    ends."""
    shared = set(first) & set(second)
    places = {word: place for place, word in reversed(list(enumerate(second)))}
    order = [places[word] for word in dict.fromkeys(first) if word in shared]
    return (
        len(first), len(second), len(set(first)), len(set(second)), len(shared),
        len(set(pairwise(first)) & set(pairwise(second))), len(set(pairwise(second))),
        sum(a < b for a, b in combinations(order, 2)), first[0] == second[0], first[-2:] == second[-2:],
    )  # fmt: skip
