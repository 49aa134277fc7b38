"""Word orders measured on trees: how often adjectives follow nouns, objects follow verbs, and so on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from derive.sentence import Sentence

Reachable = Callable[[Sentence, int], bool]
"""Whether the dependents of the word at that place count: such as those of heads that a reordering can order."""

NAMES = frozenset(("NOUN", "PROPN"))
NOMINALS = NAMES | {"PRON"}
VERB = frozenset(("VERB",))


@dataclass(frozen=True)
class Preference:
    """Which side of its head a dependent stands on; no `tags` means dependents of any tag.

    Relations are compared without their subtypes, but for nsubj:pass, which is left out: it is what others have as an
    object, and where it stands says little of either.
    """

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


@dataclass(frozen=True)
class Share:
    """Of `count` occasions, the share that went one way."""

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
_BY_RELATION: dict[str, list[Preference]] = {}
for _one in PREFERENCES:
    _BY_RELATION.setdefault(_one.relation, []).append(_one)


def _plain(relation: str) -> str:
    return relation if relation == "nsubj:pass" else relation.partition(":")[0]
