"""The lexicon: each topic's words and the names, which add up to an exact number of word types; and
preferences: in each role, a word prefers a few others, so that contexts distinguish words."""

from __future__ import annotations

import random
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, cycle, product, zip_longest
from pathlib import Path

from calque.derive.files import read_toml

WORDS = read_toml(Path(__file__).with_name("words.toml"))
FUNCTION = frozenset(" ".join(WORDS["function"].values()).split())
GENERAL: dict[str, str] = WORDS["general"]  # the entries that all topics share, by kind
SITES, FIRMS = WORDS["names"]["sites"].split(), WORDS["names"]["firms"].split()

BASE, THIRD, PAST, PARTICIPLE = range(4)  # indices of a verb's forms
NOUNS = frozenset(("person", "animal", "thing", "place"))
VERBS = ("intr", "tr", "soc", "ditr", "go", "firm", "say", "want")
USES = "WMSLO"  # women, men, surnames, places, brands
FRAMES = ("intr", "tr", "soc", "ditr", "go", "say", "want")
TAIL_KINDS = ("person", "animal", "thing", "place", "adj", "intr", "tr", "soc")
TAIL = 0.1  # the fraction of rare words
RARITY = 1 / 1_500  # the probability that a rare word replaces a drawn word of its kind and topic
BOOSTS = (150, 60, 25)  # added to the base weight of 1 for a word's three favourites
SIZE = 128  # number of entries in each table of favourites
Entity = tuple[str, ...]
FIRST, MIDDLE, LAST, NOMINATIVE, ACCUSATIVE, POSSESSIVE = range(6)  # indices of a person's names and pronouns


def inflect(lemma: str, kind: str) -> tuple[str, ...]:
    """Return a noun's two forms, a verb's four (base, third person, past, participle) or the lemma."""
    if kind in NOUNS:
        return lemma, WORDS["plurals"].get(lemma) or _with_s(lemma)
    if kind in VERBS:
        past, *participle = WORDS["strong"].get(lemma, _with_ed(lemma)).split()
        return lemma, _with_s(lemma), past, *(participle or [past])
    return (lemma,)


def _with_s(word: str) -> str:
    word = re.sub(r"([^aeiou])y$", r"\1ie", word)  # carry: carries
    return re.sub(r"(s|x|z|ch|sh)$", r"\1e", word) + "s"  # watch: watches


def _with_ed(word: str) -> str:
    word = re.sub(r"([^aeiou])y$", r"\1i", word)  # carry: carried
    word = re.sub(r"^([^aeiou]*[aeiou]([^aeiouwxy]))$", r"\1\2", word)  # stop: stopped
    return word.removesuffix("e") + "ed"


@dataclass(slots=True, eq=False, repr=False)
class Sense:
    """A word in a topic: its forms (the lemma first), a table of favourites for each role, and `rare` words
    that may replace it with probability `rarity`. Names and function words have no `kind`. The roles are:

    - for subjects and verbs: verbs in one of FRAMES; for organisations and places: `hire`, so that context
      reveals the class of a name; for objects: verbs (`passive`)
    - for verbs: subject, object, recipient, manner, freq, modal
    - for nouns: adj, attribute (only before the noun), number, pointer, plural_pointer, companion, hypernym
    - for verbs and nouns: locative and oblique prepositions, whose role is noun
    - for topics: person, animate, thing, place, hyponym, name, town, site, brand, firm, college
    """

    forms: tuple[str, ...]
    kind: str = ""
    hypernym: str = ""
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
    """A lexicon with exactly `types` word `forms`, by topic; every third name is `withheld` for test data."""

    def __init__(self, types: int) -> None:
        self.forms: set[str] = set(FUNCTION)
        self.topics: list[Topic] = [defaultdict(list) for _ in range(types // 100)]
        self._fill(types - 24 - types // 25)
        self.forms.update(SITES, FIRMS)
        self.names: dict[str, list[str]] = {use: [] for use in USES}  # most frequent first
        self.withheld: set[str] = set()
        for number, entry in enumerate(WORDS["names"]["words"].split(), start=1):
            if len(self.forms) == types:
                break
            name, letters = entry.split(":")
            self.forms.add(name)
            for letter in letters:
                self.names[letter].append(name)
            if number % 3 == 0:
                self.withheld.add(name)

    def _fill(self, types: int) -> None:
        entries = [{kind: iter(text.split()) for kind, text in topic.items()} for topic in WORDS["topics"]]
        topics = list(zip(self.topics, entries, strict=False))  # the smaller lexicon lacks the last topics
        for topic, words in topics:
            for kind in WORDS["order"]["start"].split():
                self._enter(topic, kind, next(words[kind]))
        for kind, text in GENERAL.items():
            for entry, topic in product(text.split(), self.topics):
                self._enter(topic, kind, entry)
        for kind in WORDS["order"]["then"].split():
            for topic, words in topics:
                if len(self.forms) >= types:
                    return
                self._enter(topic, kind, next(words[kind]))

    def _enter(self, topic: Topic, kind: str, entry: str) -> None:
        lemma, _, hypernym = entry.partition(":")
        first, _, second = lemma.partition("/")
        words = [(first, hypernym)]
        if hypernym not in ("", first, *(noun.lemma for noun in topic[kind])):
            words.append((hypernym, ""))
        if second:
            words.append((second, hypernym))
        for lemma, above in words:
            topic[kind].append(Sense(inflect(lemma, kind), kind, above))
            self.forms.update(topic[kind][-1].forms)


def entities(lexicon: Lexicon, rng: random.Random) -> dict[str, list[list[Entity]]]:
    """Return the forms of all names by kind and topic (towns and sites: all topics), most frequent first.
    Words are reused across kinds, so that only context reveals a name's kind; every third entity is
    withheld."""
    common, rare = (_entities(lexicon, withheld, rng) for withheld in (False, True))

    def mix(entities: list[Entity], withheld: list[Entity]) -> list[Entity]:
        rows = zip_longest(entities[::2], entities[1::2], withheld)
        return list(filter(None, chain.from_iterable(rows)))

    return {kind: list(map(mix, common[kind], rare[kind])) for kind in common}


def _entities(lexicon: Lexicon, withheld: bool, rng: random.Random) -> dict[str, list[list[Entity]]]:
    def turns(pool: Sequence[str]) -> Iterator[str]:
        return cycle(rng.sample(pool, len(pool)))

    topics = len(lexicon.topics)
    women, men, surnames, places, brands = (
        [name for name in pool if (name in lexicon.withheld) is withheld] for pool in lexicon.names.values()
    )
    owners = places + surnames
    pools = SITES, places, women, men, surnames, owners, FIRMS, brands, places
    site, place, woman, man, surname, owner, firm, brand, town = map(turns, pools)
    lists: dict[str, list[list[Entity]]] = defaultdict(list)
    lists["town"] = [[(name,) for name in places]]
    lists["site"] = [[(next(site), next(place)) for _ in places + SITES]]
    for _ in range(topics):
        people: list[Entity] = []
        for _ in range(2 + max(len(women), len(men), len(surnames) // 2) // topics):
            people.append((next(woman), next(woman), next(surname), "she", "her", "her"))
            people.append((next(man), next(man), next(surname), "he", "him", "his"))
        lists["name"].append(people)
        lists["brand"].append([(next(brand),) for _ in range(2 + len(brands) // topics)])
        lists["firm"].append([(next(owner), next(firm)) for _ in range(2 + len(owners) // topics)])
        lists["college"].append([(next(firm), next(town)) for _ in range(2 + len(places) // topics)])
    return lists


class Preferences:
    """Builds the senses of `topics`, from whose tables all other senses are drawn."""

    def __init__(self, lexicon: Lexicon, seed: int) -> None:
        self._rng = random.Random(f"{seed}:preferences")
        self._prepositions: dict[tuple[str, str, str], list[str]] = {}
        self.topics = _senses([("",)] * len(lexicon.topics))
        names = {kind: list(map(_senses, lists)) for kind, lists in entities(lexicon, self._rng).items()}
        for number, (topic, kinds) in enumerate(zip(self.topics, lexicon.topics, strict=True)):
            for kind, senses in kinds.items():
                self._weigh(senses, kind)
            self._bind_words(topic, kinds)
            for kind in FRAMES:
                self._bind(names["name"][number], kinds[kind], kind)
            for kind in ("brand", "firm", "college"):
                self._bind(names[kind][number], kinds["firm"], "hire")
            for kind in ("name", "brand", "firm", "college"):
                self._offer(topic, names[kind][number], kind)
        for kind in ("town", "site"):
            self._bind(self.topics, names[kind][0], kind)
        senses_by_topic = (senses for kinds in lexicon.topics for senses in kinds.values())
        self._bind_function_words(chain.from_iterable(senses_by_topic))

    def _bind_words(self, topic: Sense, kinds: dict[str, list[Sense]]) -> None:
        people, animals = kinds["person"], kinds.get("animal", [])
        things, places, adjectives = kinds["thing"], kinds["place"], kinds["adj"]
        animate = sorted(people + animals, key=lambda sense: -sense.weight)
        nouns = animate + things + places
        words_by_role = {"person": people, "animate": animate, "thing": things, "place": places}
        words_by_role["hyponym"] = [noun for noun in animate + things if noun.hypernym]
        for role, senses in words_by_role.items():
            self._offer(topic, senses, role)
        for kind in FRAMES:
            self._bind(animate if kind in ("intr", "tr", "soc") else people, kinds[kind], kind, "subject")
            self._offer(topic, kinds[kind], kind)
        verbs = [verb for kind in VERBS for verb in kinds[kind]]
        self._bind(places, kinds["firm"], "hire")
        self._bind(kinds["firm"], people, "object")
        self._bind(kinds["go"], places, "object")
        self._bind(things, kinds["tr"], "passive", "object")
        self._bind(animate, kinds["soc"], "passive", "object")
        self._bind(kinds["ditr"], things, "object")
        self._bind(kinds["ditr"], animate, "recipient")
        self._bind(verbs, kinds["intr"], "intr")
        self._bind(nouns, adjectives, "adj")
        self._bind(nouns, adjectives + kinds["past"], "attribute")
        self._bind(adjectives, adjectives, "companion")
        for group in (people, animals, things, places):
            self._bind(group, group, "companion")
            _tie(group)
        for heads in (verbs, nouns):
            self._bind_phrases(heads, places, "locative")
            self._bind_phrases(heads, things, "oblique")

    def _bind_function_words(self, senses: Iterable[Sense]) -> None:
        groups: defaultdict[tuple[str, str], list[Sense]] = defaultdict(list)
        for sense in senses:
            groups[sense.kind, sense.lemma].append(sense)
        for role in ("manner", "freq", "modal", "number", "pointer", "plural_pointer"):
            if role in ("manner", "freq"):
                words = [group[0] for (kind, _), group in groups.items() if kind == role]
            else:
                words = [Sense((word,)) for word in WORDS["function"][f"{role}s"].split()]
            forms = 4 if role in ("manner", "freq", "modal") else 2  # a verb's or a noun's
            heads = [group for group in groups.values() if len(group[0].forms) == forms]
            self._bind([group[0] for group in heads], words, role)
            for first, *other_senses in heads:
                for sense in other_senses:
                    sense.tables[role] = first.tables[role]

    def _bind_phrases(self, heads: Sequence[Sense], nouns: list[Sense], role: str) -> None:
        prepositions = WORDS["prepositions"][role].split()
        phrases = []
        for head in heads:
            new_pair = self._rng.sample(prepositions, 2)
            pair = self._prepositions.setdefault((head.kind, head.lemma, role), new_pair)
            first, second = (Sense((word,)) for word in pair)
            head.tables[role] = [first] * (3 * SIZE // 4) + [second] * (SIZE // 4)
            phrases += [first, second]
        self._bind(phrases, nouns, "noun")

    def _offer(self, topic: Sense, entries: list[Sense], role: str) -> None:
        topic.tables[role] = _spread(entries, [entry.weight for entry in entries], self._rng)

    def _bind(self, rows: list[Sense], columns: list[Sense], forward: str, backward: str = "") -> None:
        """Fill the tables of `rows` from `columns`, and vice versa, in proportion to frequency * favour."""
        favour = [[1.0] * len(columns) for _ in rows]
        for i in range(len(rows)):
            for boost, j in self._favourites(len(columns)):
                favour[i][j] += boost
        for j in range(len(columns)):
            for boost, i in self._favourites(len(rows)):
                favour[i][j] += boost
        tables = [(forward, rows, columns, favour)]
        if backward:
            tables.append((backward, columns, rows, [list(column) for column in zip(*favour, strict=True)]))
        for role, words, partners, shares in tables:
            for word, favours in zip(words, shares, strict=False):
                pairs = zip(favours, partners, strict=True)
                weights = [share * _weight_for(word, partner) for share, partner in pairs]
                word.tables[role] = _spread(partners, weights, self._rng)

    def _favourites(self, size: int) -> Iterator[tuple[int, int]]:
        return zip(BOOSTS, self._rng.sample(range(size), min(3, size)), strict=False)

    def _weigh(self, senses: list[Sense], kind: str) -> None:
        hypernyms = {sense.hypernym for sense in senses}
        general = GENERAL.get(kind, "").split() if kind in NOUNS else []
        divisors = {entry.partition(":")[0]: len(self.topics) / 2 for entry in general}
        divisors |= dict.fromkeys(hypernyms, 4.0)
        for rank, sense in enumerate(senses):
            sense.weight = _zipf(rank) / divisors.get(sense.lemma, 1.0)
        common = [sense for sense in senses if sense.lemma not in hypernyms]
        count = round(TAIL * len(common)) if kind in TAIL_KINDS else 0
        if tail := common[len(common) - count :]:
            rare = _spread(tail, [(rank + 1) ** -1.5 for rank in range(count)], self._rng)
            for sense in tail:
                sense.weight = 0.0
            for sense in senses:
                sense.rare, sense.rarity = rare, count * RARITY


def _senses(words: Sequence[Entity]) -> list[Sense]:
    return [Sense(forms, weight=_zipf(rank, 0.5)) for rank, forms in enumerate(words)]


def _zipf(rank: int, exponent: float = 1.0) -> float:
    return float((rank + 2) ** -exponent)


def _weight_for(word: Sense, other: Sense) -> float:
    is_same = word is other or (word.kind and other.kind and word.lemma == other.lemma)
    return 0.0 if is_same else other.weight


def _tie(group: list[Sense]) -> None:
    """Fill the tables of hypernyms; each word has at most one hypernym."""
    senses = {sense.lemma: [sense] * SIZE for sense in group}
    for sense in group:
        sense.tables["hypernym"] = senses.get(sense.hypernym, [])


def _spread(entries: list[Sense], weights: list[float], rng: random.Random) -> list[Sense]:
    """Sample SIZE entries systematically, in proportion to their weights."""
    ends = list(accumulate(weights))
    start = rng.random()
    places = [bisect_left(ends, (start + i) * ends[-1] / SIZE) for i in range(SIZE)]
    return [entries[min(place, len(entries) - 1)] for place in places]
