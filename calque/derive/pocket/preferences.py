"""Selectional preferences: in each role, a word prefers a few others, so that contexts distinguish words."""

import random
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate

from calque.derive.pocket.lexicon import GENERAL, NOUNS, SIZE, VERBS, WORDS, Entity, Lexicon, Sense, entities

RARITY = 1 / 1_500  # the probability that a given rare word replaces a drawn word of its kind and topic
TAIL = 0.1  # the fraction of rare words among the content words
BOOSTS = (150, 60, 25)  # added to the base weight of 1 for a word's three favourites
FRAMES = ("intr", "tr", "soc", "ditr", "go", "say", "want")
TAIL_KINDS = ("person", "animal", "thing", "place", "adj", "intr", "tr", "soc")


class Preferences:
    """Builds the senses of `topics`, from whose tables all other senses are drawn."""

    def __init__(self, lexicon: Lexicon, seed: int) -> None:
        self._rng = random.Random(f"{seed}:preferences")
        self._prepositions: dict[tuple[str, str, str], list[str]] = {}
        self.topics = _senses([("",)] * len(lexicon.topics))
        names = {}
        for kind, columns in entities(lexicon, self._rng).items():
            names[kind] = list(map(_senses, columns))
        everything: list[Sense] = []
        for number, topic in enumerate(self.topics):
            kinds = lexicon.topics[number]
            for kind, senses in kinds.items():
                self._weigh(senses, kind)
                everything += senses
            self._bind_words(topic, kinds)
            for kind in FRAMES:
                self._bind(names["name"][number], kinds[kind], kind)
            for kind in ("brand", "firm", "college"):
                self._bind(names[kind][number], kinds["firm"], "hire")
            for kind in ("name", "brand", "firm", "college"):
                self._offer(topic, names[kind][number], kind)
        for kind in ("town", "site"):
            self._bind(self.topics, names[kind][0], kind)
        self._bind_function_words(everything)

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
            _tie(group, "hypernym")
        for group in (adjectives, *kinds.values()):
            _tie(group, "antonym")
        for heads in (verbs, nouns):
            self._bind_phrases(heads, places, "locative")
            self._bind_phrases(heads, things, "oblique")

    def _bind_function_words(self, senses: list[Sense]) -> None:
        groups: defaultdict[tuple[str, str], list[Sense]] = defaultdict(list)
        for sense in senses:
            groups[sense.kind, sense.lemma].append(sense)
        verbs = [group for group in groups.values() if len(group[0].forms) == 4]
        nouns = [group for group in groups.values() if len(group[0].forms) == 2]
        words = {}
        for role in ("modal", "number", "pointer", "plural_pointer"):
            words[role] = [Sense((word,)) for word in WORDS["function"][f"{role}s"].split()]
        for role in ("manner", "freq"):
            words[role] = [group[0] for (kind, _), group in groups.items() if kind == role]
        roles = {"manner": verbs, "freq": verbs, "modal": verbs}
        roles |= {"number": nouns, "pointer": nouns, "plural_pointer": nouns}
        for role, heads in roles.items():
            self._bind([group[0] for group in heads], words[role], role)
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
        self._fill(forward, rows, columns, favour)
        if backward:
            self._fill(backward, columns, rows, list(zip(*favour, strict=True)))

    def _fill(
        self, role: str, words: list[Sense], partners: list[Sense], favour: Sequence[Sequence[float]]
    ) -> None:
        for word, favours in zip(words, favour, strict=False):
            weights = [
                share * _weight_for(word, partner) for share, partner in zip(favours, partners, strict=True)
            ]
            word.tables[role] = _spread(partners, weights, self._rng)

    def _favourites(self, size: int) -> list[tuple[int, int]]:
        return list(zip(BOOSTS, self._rng.sample(range(size), min(3, size)), strict=False))

    def _weigh(self, senses: list[Sense], kind: str) -> None:
        """Set the weights of a topic's words of one kind, and their rare replacements."""
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


def _tie(group: list[Sense], role: str) -> None:
    """Fill the tables of hypernyms or antonyms; each word has at most one hypernym and one antonym."""
    senses = {sense.lemma: sense for sense in group}
    for sense in group:
        lemma = sense.hypernym if role == "hypernym" else sense.antonym
        sense.tables[role] = [senses[lemma]] * SIZE if lemma else []


def _spread(entries: list[Sense], weights: list[float], rng: random.Random) -> list[Sense]:
    """Sample SIZE entries systematically, in proportion to their weights."""
    ends = list(accumulate(weights))
    start = rng.random()
    places = [bisect_left(ends, (start + i) * ends[-1] / SIZE) for i in range(SIZE)]
    return [entries[min(place, len(entries) - 1)] for place in places]
