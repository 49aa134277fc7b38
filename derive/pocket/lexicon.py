"""The lexicon: the core's words by topic, grown with invented ones to an exact number of word types."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field

from derive.errors import BadInput
from derive.pocket import words
from derive.pocket.inflection import NOUNS, PARTICIPLE, VERBS, inflect, stem

FEWEST, MOST = 300, 5_000

# One round of growth in one topic; invented words keep the core's proportions. Several times, since a
# noun that is not the only one of its kind needs company.
ROUND = (
    "thing tr adj person tr thing intr place thing soc tr animal adj thing past tr person place go thing ditr firm adj"
).split()
START = "person thing tr thing place intr adj thing soc tr".split()

# How often an invented word is one that its topic has already, in another class: only context tells them apart.
SHARED = 0.5
LETTERS = ("W", "M", "S", "L", "O", "WL", "MO", "SL", "SO", "LO", "WLO", "MLO", "SLO", "WSO", "MSL")


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
    """What names are made of: the words of each use, the most frequent first. Most words have several uses.

    `withheld` are words that no name in the training data of a task has.
    """

    women: list[str] = field(default_factory=list)
    men: list[str] = field(default_factory=list)
    surnames: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    brands: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=lambda: words.SITES.split())
    firms: list[str] = field(default_factory=lambda: words.FIRMS.split())
    withheld: set[str] = field(default_factory=set)
    count: int = 0

    def add(self, name: str, letters: str) -> None:
        """Enter a word under each of its uses; every third is withheld."""
        uses = {"W": self.women, "M": self.men, "S": self.surnames, "L": self.places, "O": self.brands}
        for letter in letters:
            uses[letter].append(name)
        self.count += 1
        if self.count % 3 == 0:
            self.withheld.add(name)

    def parts(self) -> tuple[Names, Names]:
        """The names without those that are withheld, and those alone; what has none of them keeps its own."""
        known, withheld = Names(), Names()
        for pool in ("women", "men", "surnames", "places", "brands"):
            both: list[str] = getattr(self, pool)
            getattr(known, pool).extend(name for name in both if name not in self.withheld)
            getattr(withheld, pool).extend([name for name in both if name in self.withheld] or getattr(known, pool))
        return known, withheld


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
        """A new entry in the core's notation: half of the verbs, and some adjectives, are also nouns of their topic."""
        topic, rng = self.topics[t], self._rng
        if kind == "past":
            return self._of_topic(topic, ("tr",), kind, PARTICIPLE) or self._invent(t, "adj")
        shared = kind in VERBS[:-2] and rng.random() < SHARED
        lemma = self._of_topic(topic, ("thing", "thing", "person", "place"), kind, 0) if shared else ""
        if lemma:
            return lemma
        ending = {"manner": "ly", "person": rng.choice(("er", "", "")), "adj": rng.choice(("y", "ish", ""))}
        while True:
            lemma = stem(rng, rng.choice((1, 2))) + ending.get(kind, "")
            if self.forms.isdisjoint(inflect(lemma, kind)) and lemma not in ALL_CORE:
                break
        if kind == "adj":
            noun = self._of_topic(topic, ("thing",), kind, 0) if rng.random() < SHARED / 2 else ""
            return f"{noun}/un{noun}" if noun else f"{lemma}/un{lemma}"
        if kind in NOUNS and (known := sorted({noun.hypernym for noun in topic[kind]} - {""})):
            return f"{lemma}:{rng.choice(known)}"
        return lemma

    def _of_topic(self, topic: dict[str, list[Lexeme]], kinds: tuple[str, ...], kind: str, form: int) -> str:
        """A form of one of the topic's words of these kinds that is not yet of the kind that it is wanted for."""
        taken = {lexeme.lemma for lexeme in topic[kind]}
        source = topic[self._rng.choice(kinds)]
        fit = [word.forms[form] for word in source if word.forms[form] not in taken and word.lemma not in PLAIN]
        return self._rng.choice(fit) if fit else ""

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
        core = [entry.split(":") for entry in words.NAMES.split()][::-1]
        nouns = sorted({noun.lemma for topic in self.topics for kind in NOUNS for noun in topic[kind]})
        used = set()
        while len(self.forms) < self.types:
            if core:
                name, letters = core.pop()
            else:
                name, letters = rng.choice(nouns) if rng.random() < SHARED else stem(rng, 2), rng.choice(LETTERS)
            if name not in used and (core or name in nouns or name not in self.forms):
                used.add(name)
                names.add(name, letters)
                self.forms.add(name)


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
