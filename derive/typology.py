"""Typological measures of word order, such as the share of adjectives after nouns, and distances between orders."""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from calque.derive.sentence import Sentence

Reachable = Callable[[Sentence, int], bool]
"""Whether the dependents of a word count, for example if a reordering can order them."""

NAMES, VERB = "NOUN PROPN", "VERB"


class Preference(NamedTuple):
    """The side of its head that a dependent is on; empty `tags` means any tag. Relations are compared without subtypes,
    except nsubj:pass, which is excluded: it is neither a typical subject nor a typical object."""

    name: str
    relation: str
    heads: str
    after: bool
    tags: str = ""


PREFERENCES = (
    Preference("adjectives after nouns", "amod", NAMES, True, "ADJ"),
    Preference("genitives after nouns", "nmod", NAMES, True, NAMES),
    Preference("relative clauses after nouns", "acl", NAMES, True),
    Preference("determiners before nouns", "det", NAMES, False, "DET"),
    Preference("numerals before nouns", "nummod", NAMES, False, "NUM"),
    Preference("adpositions before nouns", "case", f"{NAMES} PRON", False, "ADP"),
    Preference("subjects before verbs", "nsubj", VERB, False),
    Preference("objects after verbs", "obj", VERB, True),
    Preference("pronoun objects after verbs", "obj", VERB, True, "PRON"),
    Preference("obliques after verbs", "obl", VERB, True),
    Preference("auxiliaries before verbs", "aux", VERB, False, "AUX"),
    Preference("subordinators before verbs", "mark", VERB, False, "SCONJ"),
)
"""Possessive pronouns do not count as genitives here, and the infinitive's `to` not as a subordinator."""

ORDERS = ("SVO", "SOV", "VSO", "VOS", "OSV", "OVS")
"""Orders of subject, object and verb, for nouns and names only: pronouns often have other positions."""


@dataclass(frozen=True)
class Share:
    count: int
    share: float


def shares(sentences: Iterable[Sentence], reachable: Reachable | None = None) -> dict[str, Share]:
    """The share of each of `PREFERENCES` and `ORDERS` by name, if observed; orders are counted for verbs with a subject
    and an object that are nouns or names. ValueError for a sentence without tags or tree."""
    seen: Counter[str] = Counter()
    matches: Counter[str] = Counter()
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
                if above in preference.heads.split() and (not preference.tags or tag in preference.tags.split()):
                    seen[preference.name] += 1
                    matches[preference.name] += (i > head) == preference.after
            if relation in _ROLES and above == VERB and tag in NAMES.split():
                roles[head][_ROLES[relation]] = i
        for verb, places in roles.items():
            if len(places) == len(_ROLES):
                matches["".join(sorted("SVO", key=(places | {"V": verb}).__getitem__))] += 1
                seen.update(ORDERS)
    names = [preference.name for preference in PREFERENCES] + list(ORDERS)
    return {name: Share(seen[name], matches[name] / seen[name]) for name in names if seen[name]}


def out_of_reach(sentences: Iterable[Sentence], reachable: Reachable) -> dict[str, Share]:
    """By relation of `PREFERENCES`, the share of its words with a head whose head is not `reachable`."""
    seen: Counter[str] = Counter()
    beyond: Counter[str] = Counter()
    for sentence in sentences:
        for relation, head in zip(map(_plain, sentence.relations), sentence.heads, strict=True):
            if head >= 0 and relation in _BY_RELATION:
                seen[relation] += 1
                beyond[relation] += not reachable(sentence, head)
    return {relation: Share(seen[relation], beyond[relation] / seen[relation]) for relation in sorted(seen)}


_ROLES = {"nsubj": "S", "obj": "O"}
_BY_RELATION = {one.relation: [other for other in PREFERENCES if other.relation == one.relation] for one in PREFERENCES}


def _plain(relation: str) -> str:
    return relation if relation == "nsubj:pass" else relation.partition(":")[0]


def kendall_distance(origin: Sequence[int]) -> float:
    """The share of word pairs in the opposite order: 0 for the same order, 1 for its mirror image."""
    n = len(origin)
    seen: list[int] = []
    crossed = 0
    for place in origin:
        here = bisect(seen, place)
        crossed += len(seen) - here
        seen.insert(here, place)
    return crossed / (n * (n - 1) / 2) if n > 1 else 0.0


def order_distance(origins: Iterable[Sequence[int]]) -> float:
    """Mean normalised Kendall tau distance of sentences' origins, over sentences of at least two words; 0 if none."""
    distances = [kendall_distance(origin) for origin in origins if len(origin) > 1]
    return sum(distances) / len(distances) if distances else 0.0
