"""Shares of word orders in trees, such as that of adjectives after nouns."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from calque.derive.sentence import Sentence

NAMES = ("NOUN", "PROPN")
PREFERENCES = {
    "adjectives after nouns": ("amod", NAMES, True, ("ADJ",)),
    "genitives after nouns": ("nmod", NAMES, True, NAMES),
    "relative clauses after nouns": ("acl", NAMES, True, ()),
    "determiners before nouns": ("det", NAMES, False, ("DET",)),
    "numerals before nouns": ("nummod", NAMES, False, ("NUM",)),
    "adpositions before nouns": ("case", (*NAMES, "PRON"), False, ("ADP",)),
    "subjects before verbs": ("nsubj", ("VERB",), False, ()),
    "objects after verbs": ("obj", ("VERB",), True, ()),
    "pronoun objects after verbs": ("obj", ("VERB",), True, ("PRON",)),
    "obliques after verbs": ("obl", ("VERB",), True, ()),
    "auxiliaries before verbs": ("aux", ("VERB",), False, ("AUX",)),
    "subordinators before verbs": ("mark", ("VERB",), False, ("SCONJ",)),
}
"""By name: the relation, the tags of its head, whether the dependent comes after it, and its own tags, if any."""
ORDERS = ("SVO", "SOV", "VSO", "VOS", "OSV", "OVS")  # of verbs with a subject and an object that are nouns or names
_ROLES = {"nsubj": "S", "obj": "O"}


def shares(sentences: Iterable[Sentence]) -> dict[str, float]:
    """The share of each of `PREFERENCES` and `ORDERS` that occurs."""
    seen: Counter[str] = Counter()
    matches: Counter[str] = Counter()
    for sentence in sentences:
        roles: defaultdict[int, dict[str, int]] = defaultdict(dict)
        for place, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            relation = relation if relation == "nsubj:pass" else relation.partition(":")[0]
            tag, above = sentence.tags[place], sentence.tags[head] if head >= 0 else ""
            for name, (of, heads, after, tags) in PREFERENCES.items():
                if relation == of and above in heads and (not tags or tag in tags):
                    seen[name] += 1
                    matches[name] += (place > head) == after
            if relation in _ROLES and above == "VERB" and tag in NAMES:
                roles[head][_ROLES[relation]] = place
        for verb, places in roles.items():
            if len(places) == len(_ROLES):
                matches["".join(sorted("SVO", key=(places | {"V": verb}).__getitem__))] += 1
                seen.update(ORDERS)
    return {name: matches[name] / seen[name] for name in (*PREFERENCES, *ORDERS) if seen[name]}
