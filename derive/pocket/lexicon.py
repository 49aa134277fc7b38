"""The lexicon: the core's words by topic, grown with invented ones to an exact number of word types."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field

from derive.errors import BadInput
from derive.pocket import words
from derive.pocket.inflection import NOUNS, VERBS, inflect, stem

FEWEST, MOST = 300, 5_000

# One round of growth in one topic; invented words keep the core's proportions. Several times, since a
# noun that is not the only one of its kind needs company.
ROUND = "thing adj tr person thing intr place thing soc animal adj thing tr person place ditr thing adj".split()
START = "person thing tr thing place intr adj thing".split()


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A word with its forms, and the words that its meaning is tied to (lemmas of the same kind, or "")."""

    lemma: str
    kind: str
    forms: tuple[str, ...]
    hypernym: str = ""
    antonym: str = ""


@dataclass
class Names:
    """What names are made of. Surnames and places recur inside organisations, and some are both."""

    women: list[str] = field(default_factory=list)
    men: list[str] = field(default_factory=list)
    surnames: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    brands: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=lambda: words.SITES.split())
    firms: list[str] = field(default_factory=lambda: words.FIRMS.split())


class Lexicon:
    """`topics[t][kind]` are the lexemes of a kind in topic t, the most frequent first; `forms` all word types.

    General words stand in every topic. The number of types is exact: content words first, then names,
    each of which is one type, fill what is left.

    Raises:
        BadInput: fewer or more types than the language is made for.
    """

    def __init__(self, types: int, seed: int) -> None:
        check_types(types)
        self.types = types
        self._rng = random.Random(f"{seed}:lexicon")
        self.forms: set[str] = set(words.FUNCTION)
        self.topics: list[dict[str, list[Lexeme]]] = [defaultdict(list) for _ in range(min(8, max(3, types // 100)))]
        self._core = [_queues(topic) for topic in words.TOPICS]
        self._grow(types - 24 - types // 25)
        self.names = Names()
        self._name()

    def _grow(self, types: int) -> None:
        for t, topic in enumerate(self.topics):
            for kind in START:
                self._enter(topic, kind, self._next(t, kind))
        for kind, entries in words.GENERAL.items():
            for entry in entries.split():
                for topic in self.topics:
                    self._enter(topic, kind, entry)
        while True:
            for kind in ROUND:
                for t, topic in enumerate(self.topics):
                    if len(self.forms) >= types:
                        return
                    self._enter(topic, kind, self._next(t, kind))
            for kind in ("manner", "say", "want"):
                entry = self._invent(0, kind)
                for topic in self.topics:
                    self._enter(topic, kind, entry)

    def _next(self, t: int, kind: str) -> str:
        queue = self._core[t].get(kind)
        return queue.pop() if queue else self._invent(t, kind)

    def _invent(self, t: int, kind: str) -> str:
        """A new entry in the core's notation; one verb in six is also a noun of its topic, as in English."""
        topic, rng = self.topics[t], self._rng
        if kind in VERBS and rng.random() < 1 / 6:
            taken = {lexeme.lemma for lexeme in topic[kind]}
            nouns = [noun.lemma for noun in topic["thing"] if noun.lemma not in taken and noun.lemma not in PLAIN]
            if nouns:
                return rng.choice(nouns)
        ending = {"manner": "ly", "person": rng.choice(("er", "", "")), "adj": rng.choice(("y", "ish", ""))}
        while True:
            lemma = stem(rng, rng.choice((1, 2))) + ending.get(kind, "")
            if self.forms.isdisjoint(inflect(lemma, kind)) and lemma not in ALL_CORE:
                break
        if kind == "adj":
            return f"{lemma}/un{lemma}"
        if kind in NOUNS and (known := sorted({noun.hypernym for noun in topic[kind]} - {""})):
            return f"{lemma}:{rng.choice(known)}"
        return lemma

    def _enter(self, topic: dict[str, list[Lexeme]], kind: str, entry: str) -> None:
        lemma, _, hypernym = entry.partition(":")
        first, _, second = lemma.partition("/")
        self._add(topic, Lexeme(first, kind, inflect(first, kind), hypernym, second))
        if hypernym and all(noun.lemma != hypernym for noun in topic[kind]):
            self._add(topic, Lexeme(hypernym, kind, inflect(hypernym, kind)))
        if second:
            self._add(topic, Lexeme(second, kind, inflect(second, kind), hypernym, first))

    def _add(self, topic: dict[str, list[Lexeme]], lexeme: Lexeme) -> None:
        topic[lexeme.kind].append(lexeme)
        self.forms.update(lexeme.forms)

    def _name(self) -> None:
        """Give every type that is left to a name."""
        rng, names = self._rng, self.names
        self.forms.update(names.sites, names.firms)
        pools = [
            (names.women, words.WOMEN), (names.surnames, words.SURNAMES), (names.places, words.PLACES),
            (names.men, words.MEN), (names.women, words.WOMEN), (names.surnames, words.SURNAMES),
            (names.men, words.MEN), (names.places, words.PLACES), (names.brands, words.BRANDS),
        ]  # fmt: skip
        turn = 0
        while len(self.forms) < self.types:
            pool, core = pools[turn % len(pools)]
            turn += 1
            known = core.split()
            name = known[len(pool)] if len(pool) < len(known) else stem(rng, 2).capitalize()
            if name in self.forms and (len(pool) >= len(known) or name in pool):
                continue
            pool.append(name)
            self.forms.add(name)
            if pool is names.surnames and len(pool) % 5 == 0 and name not in names.places:
                names.places.append(name)


def check_types(types: int) -> None:
    """Refuse a number of word types that the language is not made for.

    Raises:
        BadInput: with the fewest and the most.
    """
    if not FEWEST <= types <= MOST:
        raise BadInput(f"a lexicon of {types} word types, expected {FEWEST} to {MOST:,}")


def _queues(topic: dict[str, str]) -> dict[str, list[str]]:
    return {kind: entries.split()[::-1] for kind, entries in topic.items()}


ALL_CORE = frozenset(
    word
    for table in (words.GENERAL, *words.TOPICS)
    for entries in table.values()
    for word in entries.replace("/", " ").replace(":", " ").split()
)
PLAIN = frozenset(words.PLURALS)
