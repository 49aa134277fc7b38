"""Word orders in a linguist's terms, in trees and by a grammar: how often adjectives follow nouns; distances."""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from derive.grammar.features import head_item, item, orders
from derive.grammar.model import Grammar
from derive.sentence import Sentence

Reachable = Callable[[Sentence, int], bool]
"""Whether the dependents of the word at that place count: such as those of heads that a reordering can order."""
Dependent = tuple[str, str]  # a tag and a relation

NAMES = frozenset(("NOUN", "PROPN"))
NOMINALS = NAMES | {"PRON"}
VERB = frozenset(("VERB",))


@dataclass(frozen=True)
class Preference:
    """Which side of its head a dependent stands on; no `tags` means dependents of any tag. Relations are compared
    without their subtypes, but for nsubj:pass, which is left out: it is what others have as an object, and where it
    stands says little of either."""

    name: str
    relation: str
    heads: frozenset[str]
    after: bool
    tags: frozenset[str] = frozenset()


PREFERENCES = (
    Preference("adjectives after nouns", "amod", NAMES, True, frozenset(("ADJ",))),
    Preference("genitives after nouns", "nmod", NAMES, True, NAMES),
    Preference("relative clauses after nouns", "acl", NAMES, True),
    Preference("determiners before nouns", "det", NAMES, False, frozenset(("DET",))),
    Preference("numerals before nouns", "nummod", NAMES, False, frozenset(("NUM",))),
    Preference("adpositions before nouns", "case", NOMINALS, False, frozenset(("ADP",))),
    Preference("subjects before verbs", "nsubj", VERB, False),
    Preference("objects after verbs", "obj", VERB, True),
    Preference("pronoun objects after verbs", "obj", VERB, True, frozenset(("PRON",))),
    Preference("obliques after verbs", "obl", VERB, True),
    Preference("auxiliaries before verbs", "aux", VERB, False, frozenset(("AUX",))),
    Preference("subordinators before verbs", "mark", VERB, False, frozenset(("SCONJ",))),
)
"""Owners that are pronouns are no genitives here, nor is the infinitive's `to` a subordinator."""

ORDERS = ("SVO", "SOV", "VSO", "VOS", "OSV", "OVS")
"""Subject, object and verb, where both are nouns or names: pronouns often have a place of their own."""
SUBJECT, OBJECT, THE = ("NOUN", "nsubj"), ("NOUN", "obj"), ("DET", "det")
TYPICAL = (
    ("determiners before nouns", "NOUN", THE, (), False),
    ("numerals before nouns", "NOUN", ("NUM", "nummod"), (), False),
    ("adjectives after nouns", "NOUN", ("ADJ", "amod"), (THE,), True),
    ("genitives after nouns", "NOUN", ("NOUN", "nmod"), (THE,), True),
    ("relative clauses after nouns", "NOUN", ("VERB", "acl"), (THE,), True),
    ("adpositions before nouns", "NOUN", ("ADP", "case"), (THE,), False),
    ("subjects before verbs", "VERB", SUBJECT, (OBJECT,), False),
    ("objects after verbs", "VERB", OBJECT, (SUBJECT,), True),
    ("obliques after verbs", "VERB", ("NOUN", "obl"), (SUBJECT,), True),
    ("auxiliaries before verbs", "VERB", ("AUX", "aux"), (SUBJECT,), False),
    ("subordinators before verbs", "VERB", ("SCONJ", "mark"), (SUBJECT,), False),
    ("adverbs after verbs", "VERB", ("ADV", "advmod"), (SUBJECT,), True),
)
"""The same for small nodes: head, dependent, other dependents, and whether the dependent comes after the head."""


@dataclass(frozen=True)
class Share:
    count: int
    share: float


def shares(sentences: Iterable[Sentence], reachable: Reachable | None = None) -> dict[str, Share]:
    """The share of each of `PREFERENCES` and `ORDERS`, by name; what has no occasion is absent.

    The six orders share their occasions: verbs with both a subject and an object that are nouns or names.

    Raises:
        ValueError: a sentence without tags or tree.
    """
    seen: Counter[str] = Counter()
    went: Counter[str] = Counter()
    for sentence in sentences:
        if not (sentence.tags and sentence.heads and sentence.relations):
            raise ValueError(f"no tree to measure: {' '.join(sentence.words)}")
        roles: defaultdict[int, dict[str, int]] = defaultdict(dict)
        for i, head in enumerate(sentence.heads):
            if head < 0 or (reachable and not reachable(sentence, head)):
                continue
            relation = _plain(sentence.relations[i])
            tag, above = sentence.tags[i], sentence.tags[head]
            for preference in _BY_RELATION.get(relation, ()):
                if above in preference.heads and (not preference.tags or tag in preference.tags):
                    seen[preference.name] += 1
                    went[preference.name] += (i > head) == preference.after
            if relation in _ROLES and above in VERB and tag in NAMES:
                roles[head][_ROLES[relation]] = i
        for verb, places in roles.items():
            if len(places) == len(_ROLES):
                went["".join(sorted("SVO", key=(places | {"V": verb}).__getitem__))] += 1
                seen.update(ORDERS)
    names = [preference.name for preference in PREFERENCES] + list(ORDERS)
    return {name: Share(seen[name], went[name] / seen[name]) for name in names if seen[name]}


def out_of_reach(sentences: Iterable[Sentence], reachable: Reachable) -> dict[str, Share]:
    """By relation of `PREFERENCES`, the share of its words whose head is not `reachable`, of all that have a head."""
    seen: Counter[str] = Counter()
    beyond: Counter[str] = Counter()
    for sentence in sentences:
        for relation, head in zip(map(_plain, sentence.relations), sentence.heads, strict=True):
            if head >= 0 and relation in _BY_RELATION:
                seen[relation] += 1
                beyond[relation] += not reachable(sentence, head)
    return {relation: Share(seen[relation], beyond[relation] / seen[relation]) for relation in sorted(seen)}


_ROLES = {"nsubj": "S", "obj": "O"}
_BY_RELATION: defaultdict[str, list[Preference]] = defaultdict(list)
for _preference in PREFERENCES:
    _BY_RELATION[_preference.relation].append(_preference)


def _plain(relation: str) -> str:
    return relation if relation == "nsubj:pass" else relation.partition(":")[0]


def preferences(grammar: Grammar) -> dict[str, float]:
    """The probability of each of `TYPICAL` in a node of just these words, and of the orders of a clause."""
    probabilities = {}
    for name, head, dependent, others, is_after in TYPICAL:
        after = sum(
            probability
            for order, probability in _orders(grammar, head, (dependent, *others))
            if order.index(dependent) > order.index(head)
        )
        probabilities[name] = after if is_after else 1 - after
    letters = {SUBJECT: "S", OBJECT: "O", "VERB": "V"}
    clauses = {
        "".join(letters[word] for word in order): probability
        for order, probability in _orders(grammar, "VERB", (SUBJECT, OBJECT))
    }
    return probabilities | dict(sorted(clauses.items(), key=lambda clause: -clause[1]))


def _orders(
    grammar: Grammar, head: str, dependents: tuple[Dependent, ...]
) -> Iterator[tuple[list[Dependent | str], float]]:
    ranked: list[Dependent | str] = [*sorted(dependents, key=lambda dependent: item(*dependent)), head]
    items = (*sorted(item(*dependent) for dependent in dependents), head_item(head))
    for order, probability in zip(orders(len(items)), grammar.probabilities(items), strict=True):
        yield [ranked[slot] for slot in order], float(probability)


def kendall_distance(origin: Sequence[int]) -> float:
    """The share of word pairs that stand the other way round: 0 for the same order, 1 for its mirror."""
    n = len(origin)
    seen: list[int] = []
    crossed = 0
    for place in origin:
        here = bisect(seen, place)
        crossed += len(seen) - here
        seen.insert(here, place)
    return crossed / (n * (n - 1) / 2) if n > 1 else 0.0


def order_distance(origins: Iterable[Sequence[int]]) -> float:
    """Mean normalised Kendall tau of sentences' origins, over those of two words and more; 0 if there is none."""
    distances = [kendall_distance(origin) for origin in origins if len(origin) > 1]
    return sum(distances) / len(distances) if distances else 0.0
