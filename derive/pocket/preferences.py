"""Selectional preferences: in each role, a word prefers a few others, so that contexts distinguish words."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import accumulate

from calque.derive.pocket.lexicon import GENERAL, NOUNS, VERBS, WORDS, Entity, Lexeme, Lexicon, entities

SIZE = 128  # entries in each table of favourites, for drawing words by index
RARITY = 1 / 1_500  # the probability that a given rare word replaces a drawn word of its kind and topic
BOOSTS = (150, 60, 25)  # added to the base weight of 1 for a word's three favourites

# The role of a drawn word for the word that it is drawn for (ranges follow the order below).
# - INTR to HIRE: verbs of each frame, for the subject (or a preceding verb)
# - PASSIVE: verbs for the object
# - SUBJECT to MODAL: words drawn for verbs
# - ADJ (adjectives in any position), ATTRIBUTE (only before the noun), NUMBER to HYPERNYM: words for nouns
# - LOCATIVE and OBLIQUE: prepositions for verbs and nouns
# - NOUN: nouns for these prepositions
# - ANTONYM: antonyms of adjectives and verbs
# - PERSON to COLLEGE: words drawn for topics
Role = IntEnum(
    "Role",
    "INTR TR SOC DITR GO SAY WANT HIRE PASSIVE "
    "SUBJECT OBJECT RECIPIENT MANNER FREQ MODAL "
    "ADJ ATTRIBUTE NUMBER POINTER PLURAL_POINTER COMPANION HYPERNYM "
    "LOCATIVE OBLIQUE NOUN ANTONYM "
    "PERSON ANIMATE THING PLACE HYPONYM NAME TOWN SITE BRAND FIRM COLLEGE",
    start=0,
)
FRAMES = {kind: Role[kind.upper()] for kind in ("intr", "tr", "soc", "ditr", "go", "say", "want")}
"""The role of each kind of verb. Organisations and places are subjects of HIRE verbs only, so that context
reveals the class of a name."""
TAIL_KINDS = ("person", "animal", "thing", "place", "adj", "intr", "tr", "soc")


@dataclass(slots=True, eq=False, repr=False)
class Sense:
    """A word in a topic: its forms, a table of favourites for each role, and `rare` words that may replace it
    with probability `rarity`."""

    forms: tuple[str, ...]
    weight: float = 1.0
    lexeme: Lexeme | None = None
    tables: list[list[Sense]] = field(default_factory=lambda: [[] for _ in Role])
    rare: list[Sense] = field(default_factory=list)
    rarity: float = 0.0

    @property
    def lemma(self) -> str:
        """The dictionary form or, for a name, the first form."""
        return self.lexeme.lemma if self.lexeme else self.forms[0]

    def form(self, index: int) -> str:
        return self.forms[index]

    def draw(self, role: int, chance: float) -> Sense:
        """Draw a favourite in the given role; `chance` is a uniform random number in [0, 1)."""
        place = chance * SIZE
        index = int(place)
        sense = self.tables[role][index]
        rest = place - index
        if rest < sense.rarity:
            rare = sense.rare[int(rest / sense.rarity * SIZE)]
            if role != Role.HYPONYM or rare.tables[Role.HYPERNYM]:  # a hyponym must have a hypernym
                return rare
        return sense


class Preferences:
    """Builds the senses of `topics`, which lead to all others; `tail` is the fraction of rare words."""

    def __init__(self, lexicon: Lexicon, seed: int, zipf: float, tail: float) -> None:
        self._rng = random.Random(f"{seed}:preferences")
        self._zipf, self._tail = zipf, tail
        self._prepositions: dict[tuple[str, str, Role], list[str]] = {}
        self.topics = _senses([("",)] * len(lexicon.topics), zipf / 2)
        names = {}
        for kind, columns in entities(lexicon, self._rng).items():
            names[kind] = [_senses(column, zipf / 2) for column in columns]
        everything: list[Sense] = []
        for t, topic in enumerate(self.topics):
            kinds = {kind: self._lexemes(lexemes, kind) for kind, lexemes in lexicon.topics[t].items()}
            self._bind_words(topic, kinds)
            everything += [sense for senses in kinds.values() for sense in senses]
            for kind, role in FRAMES.items():
                self._bind(names["name"][t], kinds[kind], role)
            for kind in ("brand", "firm", "college"):
                self._bind(names[kind][t], kinds["firm"], Role.HIRE)
            for kind in ("name", "brand", "firm", "college"):
                self._offer(topic, names[kind][t], Role[kind.upper()])
        self._bind(self.topics, names["town"][0], Role.TOWN)
        self._bind(self.topics, names["site"][0], Role.SITE)
        self._bind_function_words(everything)

    def _bind_words(self, topic: Sense, kinds: dict[str, list[Sense]]) -> None:
        people, things, places, adjectives = kinds["person"], kinds["thing"], kinds["place"], kinds["adj"]
        animate = sorted(people + kinds.get("animal", []), key=lambda sense: -sense.weight)
        nouns = animate + things + places
        self._offer(topic, people, Role.PERSON)
        self._offer(topic, animate, Role.ANIMATE)
        self._offer(topic, things, Role.THING)
        self._offer(topic, places, Role.PLACE)
        hyponyms = [noun for noun in animate + things if noun.lexeme and noun.lexeme.hypernym]
        self._offer(topic, hyponyms, Role.HYPONYM)
        for kind, role in FRAMES.items():
            self._bind(animate if kind in ("intr", "tr", "soc") else people, kinds[kind], role, Role.SUBJECT)
            self._offer(topic, kinds[kind], role)
        verbs = [verb for kind in VERBS for verb in kinds[kind]]
        for rows, columns, forward, backward in (
            (places, kinds["firm"], Role.HIRE, None),
            (kinds["firm"], people, Role.OBJECT, None),
            (kinds["go"], places, Role.OBJECT, None),
            (things, kinds["tr"], Role.PASSIVE, Role.OBJECT),
            (animate, kinds["soc"], Role.PASSIVE, Role.OBJECT),
            (kinds["ditr"], things, Role.OBJECT, None),
            (kinds["ditr"], animate, Role.RECIPIENT, None),
            (verbs, kinds["intr"], Role.INTR, None),
            (nouns, adjectives, Role.ADJ, None),
            (nouns, adjectives + kinds["past"], Role.ATTRIBUTE, None),
            (adjectives, adjectives, Role.COMPANION, None),
        ):
            self._bind(rows, columns, forward, backward)
        for group in (people, kinds.get("animal", []), things, places):
            self._bind(group, group, Role.COMPANION)
            _tie(group, Role.HYPERNYM)
        for group in (adjectives, *kinds.values()):
            _tie(group, Role.ANTONYM)
        for heads in (verbs, nouns):
            self._bind_phrases(heads, places, Role.LOCATIVE)
            self._bind_phrases(heads, things, Role.OBLIQUE)

    def _bind_function_words(self, senses: list[Sense]) -> None:
        alike: defaultdict[tuple[str, str], list[Sense]] = defaultdict(list)
        for sense in senses:
            alike[_identity(sense)].append(sense)
        groups = list(alike.values())
        verbs = [group for group in groups if len(group[0].forms) == 4]
        nouns = [group for group in groups if len(group[0].forms) == 2]
        words = {}
        for kind, text in WORDS["function"].items():
            words[kind] = _senses([(word,) for word in text.split()], 0.0)
        for kind in ("manner", "freq"):
            words[kind] = [group[0] for (own, _), group in alike.items() if own == kind]
        for heads, kind, role in (
            (verbs, "manner", Role.MANNER),
            (verbs, "freq", Role.FREQ),
            (verbs, "modals", Role.MODAL),
            (nouns, "numbers", Role.NUMBER),
            (nouns, "pointers", Role.POINTER),
            (nouns, "plural_pointers", Role.PLURAL_POINTER),
        ):
            self._bind([group[0] for group in heads], words[kind], role)
            for group in heads:
                for sense in group[1:]:
                    sense.tables[role] = group[0].tables[role]

    def _bind_phrases(self, heads: Sequence[Sense], nouns: list[Sense], role: Role) -> None:
        prepositions = WORDS["prepositions"][role.name.lower()].split()
        phrases = []
        for head in heads:
            drawn = self._rng.sample(prepositions, 2)
            chosen = self._prepositions.setdefault((*_identity(head), role), drawn)
            first, second = (Sense((word,)) for word in chosen)
            head.tables[role] = [first] * (3 * SIZE // 4) + [second] * (SIZE // 4)
            phrases += [first, second]
        self._bind(phrases, nouns, Role.NOUN)

    def _offer(self, topic: Sense, entries: list[Sense], role: Role) -> None:
        topic.tables[role] = _spread(entries, [entry.weight for entry in entries], self._rng)

    def _bind(
        self, rows: list[Sense], columns: list[Sense], forward: Role, backward: Role | None = None
    ) -> None:
        """Fill the tables of `rows` with words from `columns`, and vice versa if `backward` is given, in
        proportion to frequency * favour. No word is paired with itself: a rake is not raked."""
        rng = self._rng
        favour = [[1.0] * len(columns) for _ in rows]
        for i in range(len(rows)):
            for boost, j in zip(BOOSTS, rng.sample(range(len(columns)), min(3, len(columns))), strict=False):
                favour[i][j] += boost
        for j in range(len(columns)):
            for boost, i in zip(BOOSTS, rng.sample(range(len(rows)), min(3, len(rows))), strict=False):
                favour[i][j] += boost
        for i, row in enumerate(rows):
            weights = [
                favour[i][j] * column.weight * _differ(row, column) for j, column in enumerate(columns)
            ]
            row.tables[forward] = _spread(columns, weights, rng)
        if backward is not None:
            for j, column in enumerate(columns):
                weights = [favour[i][j] * row.weight * _differ(row, column) for i, row in enumerate(rows)]
                column.tables[backward] = _spread(rows, weights, rng)

    def _lexemes(self, lexemes: list[Lexeme], kind: str) -> list[Sense]:
        hypernyms = {lexeme.hypernym for lexeme in lexemes}
        nouns = GENERAL.get(kind, "").split() if kind in NOUNS else []
        general = {entry.partition(":")[0] for entry in nouns}
        shared = {**dict.fromkeys(general, len(self.topics) / 2), **dict.fromkeys(hypernyms, 4.0)}
        senses = [
            Sense(lexeme.forms, _weight(rank, self._zipf) / shared.get(lexeme.lemma, 1.0), lexeme)
            for rank, lexeme in enumerate(lexemes)
        ]
        common = [sense for sense in senses if sense.lemma not in hypernyms]
        count = round(self._tail * len(common)) if kind in TAIL_KINDS else 0
        if tail := common[len(common) - count :]:
            rare = _spread(tail, [(rank + 1) ** -1.5 for rank in range(count)], self._rng)
            for sense in tail:
                sense.weight = 0.0
            for sense in senses:
                sense.rare, sense.rarity = rare, count * RARITY
        return senses


def _senses(words: Sequence[Entity], zipf: float) -> list[Sense]:
    return [Sense(forms, _weight(rank, zipf)) for rank, forms in enumerate(words)]


def _weight(rank: int, zipf: float) -> float:
    return float((rank + 2) ** -zipf)


def _identity(sense: Sense) -> tuple[str, str]:
    assert sense.lexeme is not None
    return sense.lexeme.kind, sense.lexeme.lemma


def _differ(one: Sense, other: Sense) -> bool:
    return one is not other and not (one.lexeme and other.lexeme and one.lemma == other.lemma)


def _tie(group: list[Sense], role: Role) -> None:
    senses = {sense.lemma: sense for sense in group if sense.lexeme}
    for sense in group:
        if sense.lexeme:
            lemma = sense.lexeme.hypernym if role is Role.HYPERNYM else sense.lexeme.antonym
            sense.tables[role] = [senses[lemma]] * SIZE if lemma else []


def _spread(entries: list[Sense], weights: list[float], rng: random.Random) -> list[Sense]:
    """Sample SIZE entries systematically, in proportion to their weights; rare entries occur in only some
    tables."""
    ends = list(accumulate(weights))
    start = rng.random()
    places = (bisect_left(ends, (start + i) * ends[-1] / SIZE) for i in range(SIZE))
    return [entries[min(place, len(entries) - 1)] for place in places]
