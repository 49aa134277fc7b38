"""The lexicon: each topic's words and the names, which add up to an exact number of word types."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, zip_longest
from pathlib import Path

from calque.derive.files import read_toml

WORDS = read_toml(Path(__file__).with_name("words.toml"))
FUNCTION = frozenset(" ".join(WORDS["function"].values()).split())
GENERAL: dict[str, str] = WORDS["general"]
"""The entries that all topics share, grouped by kind, in the notation of words.toml."""
ORDER = {name: text.split() for name, text in WORDS["order"].items()}
SITES, FIRMS = WORDS["names"]["sites"].split(), WORDS["names"]["firms"].split()

SINGULAR, PLURAL = range(2)
BASE, THIRD, PAST, PARTICIPLE = range(4)
NOUNS = frozenset(("person", "animal", "thing", "place"))
VERBS = ("intr", "tr", "soc", "ditr", "go", "firm", "say", "want")
USES = {"W": "women", "M": "men", "S": "surnames", "L": "places", "O": "brands"}

SIZE = 128  # number of entries in each table of favourites; words are drawn by their index
Names = dict[str, list[str]]  # the words for each use, most frequent first
Entity = tuple[str, ...]
FIRST, MIDDLE, LAST, NOMINATIVE, ACCUSATIVE, POSSESSIVE = range(6)  # indices of a person's names and pronouns


def inflect(lemma: str, kind: str) -> tuple[str, ...]:
    """Return the forms of a noun (singular, plural) or of a verb (base, third person, past, participle).
    Other words have one form, the lemma."""
    if kind in NOUNS:
        return lemma, WORDS["plurals"].get(lemma) or _with_s(lemma)
    if kind in VERBS:
        past, *participle = WORDS["strong"].get(lemma, _with_ed(lemma)).split()
        return lemma, _with_s(lemma), past, *(participle or [past])
    return (lemma,)


def _with_s(word: str) -> str:
    if re.search(r"(s|x|z|ch|sh)$", word):
        return word + "es"
    return word[:-1] + "ies" if re.search(r"[^aeiou]y$", word) else word + "s"


def _with_ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ied"
    short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", word)
    return word + (word[-1] if short else "") + "ed"


@dataclass(slots=True, eq=False, repr=False)
class Sense:
    """A word in a topic: its forms (the lemma first), a table of favourites for each role, and `rare` words
    that may replace it with probability `rarity`. Names and function words have no `kind`. The roles of the
    drawn words are:

    - FRAMES and hire: verbs for the subject (or a preceding verb); passive: verbs for the object.
      Organisations and places are subjects of hire only, so that context reveals the class of a name.
    - subject, object, recipient, manner, freq, modal: words for verbs.
    - adj (in any position), attribute (before the noun), number, pointer, plural_pointer, companion,
      hypernym: words for nouns.
    - locative, oblique: prepositions for verbs and nouns; noun: nouns for these prepositions.
    - antonym: antonyms of adjectives and verbs.
    - person, animate, thing, place, hyponym, name, town, site, brand, firm, college: words for topics.
    """

    forms: tuple[str, ...]
    kind: str = ""
    hypernym: str = ""
    antonym: str = ""
    weight: float = 1.0
    tables: defaultdict[str, list[Sense]] = field(default_factory=lambda: defaultdict(list))
    rare: list[Sense] = field(default_factory=list)
    rarity: float = 0.0

    @property
    def lemma(self) -> str:
        return self.forms[0]

    def draw(self, role: str, chance: float) -> Sense:
        """Draw a favourite in the given role; `chance` is a uniform random number in [0, 1)."""
        index, fraction = divmod(chance * SIZE, 1)
        sense = self.tables[role][int(index)]
        if fraction < sense.rarity:
            rare = sense.rare[int(fraction / sense.rarity * SIZE)]
            if role != "hyponym" or rare.hypernym:
                return rare
        return sense


Topic = dict[str, list[Sense]]  # the words of each kind, most frequent first


class Lexicon:
    """A lexicon with exactly `types` word `forms`, grouped by topic; `withheld` contains every third name,
    reserved for test data."""

    def __init__(self, types: int) -> None:
        self.forms: set[str] = set(FUNCTION)
        self.topics: list[Topic] = [defaultdict(list) for _ in range(types // 100)]
        self._fill(types - 24 - types // 25)
        self.forms.update(SITES, FIRMS)
        self.names: Names = {use: [] for use in USES.values()}
        self.withheld: set[str] = set()
        for number, entry in enumerate(WORDS["names"]["words"].split(), start=1):
            if len(self.forms) == types:
                break
            name, letters = entry.split(":")
            self.forms.add(name)
            for letter in letters:
                self.names[USES[letter]].append(name)
            if number % 3 == 0:
                self.withheld.add(name)

    def _fill(self, types: int) -> None:
        entries = [{kind: iter(text.split()) for kind, text in topic.items()} for topic in WORDS["topics"]]
        topics = list(zip(self.topics, entries, strict=False))  # the smaller lexicon lacks the last topics
        for topic, words in topics:
            for kind in ORDER["start"]:
                self._enter(topic, kind, next(words[kind]))
        for kind, text in GENERAL.items():
            for entry in text.split():
                for topic in self.topics:
                    self._enter(topic, kind, entry)
        for kind in ORDER["then"]:
            for topic, words in topics:
                if len(self.forms) >= types:
                    return
                self._enter(topic, kind, next(words[kind]))

    def _enter(self, topic: Topic, kind: str, entry: str) -> None:
        lemma, _, hypernym = entry.partition(":")
        first, _, second = lemma.partition("/")
        words = [(first, hypernym, second)]
        if hypernym not in ("", first, *(noun.lemma for noun in topic[kind])):
            words.append((hypernym, "", ""))
        if second:
            words.append((second, hypernym, first))
        for lemma, above, opposite in words:
            topic[kind].append(Sense(inflect(lemma, kind), kind, above, opposite))
            self.forms.update(topic[kind][-1].forms)


def entities(lexicon: Lexicon, rng: random.Random) -> dict[str, list[list[Entity]]]:
    """Return the forms of all names by kind and topic, most frequent first; towns and sites have one list for
    all topics. Words are reused across kinds, so that only context reveals a name's kind. Every third entity
    consists of withheld words."""
    common, rare = (_entities(lexicon, withheld, rng) for withheld in (False, True))
    return {kind: list(map(_mix, common[kind], rare[kind])) for kind in common}


def _entities(lexicon: Lexicon, withheld: bool, rng: random.Random) -> dict[str, list[list[Entity]]]:
    def turns(pool: Sequence[str]) -> Iterator[str]:
        return cycle(rng.sample(pool, len(pool)))

    names, topics = lexicon.names.values(), len(lexicon.topics)
    women, men, surnames, places, brands = (
        [name for name in pool if (name in lexicon.withheld) is withheld] for pool in names
    )
    pools = SITES, places, women, men, surnames, places + surnames, FIRMS, brands, places
    site, place, woman, man, surname, owner, firm, brand, town = map(turns, pools)
    entity_lists: dict[str, list[list[Entity]]] = defaultdict(list)
    entity_lists["town"] = [[(name,) for name in places]]
    entity_lists["site"] = [[(next(site), next(place)) for _ in range(len(places) + len(SITES))]]
    for _ in range(topics):
        people: list[Entity] = []
        for _ in range(2 + max(len(women), len(men), len(surnames) // 2) // topics):
            people.append((next(woman), next(woman), next(surname), "she", "her", "her"))
            people.append((next(man), next(man), next(surname), "he", "him", "his"))
        entity_lists["name"].append(people)
        entity_lists["brand"].append([(next(brand),) for _ in range(2 + len(brands) // topics)])
        owners = 2 + (len(places) + len(surnames)) // topics
        entity_lists["firm"].append([(next(owner), next(firm)) for _ in range(owners)])
        entity_lists["college"].append([(next(firm), next(town)) for _ in range(2 + len(places) // topics)])
    return entity_lists


def _mix(ordinary: list[Entity], withheld: list[Entity]) -> list[Entity]:
    """Insert one withheld entity after every two of the other entities."""
    rows = zip_longest(ordinary[::2], ordinary[1::2], withheld)
    return [entity for row in rows for entity in row if entity is not None]
