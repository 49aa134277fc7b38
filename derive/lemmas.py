"""Which types of a vocabulary are forms of one word.

Shapes: V types of the vocabulary, n types that are words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from derive.vocabulary import Vocabulary

Lemmas = Mapping[str, frozenset[str]]
"""The lemmas of each word: several where words look alike."""


def gathered(pairs: Iterable[tuple[str, str]]) -> Lemmas:
    """The lemmas of each word of (word, lemma) pairs."""
    made: defaultdict[str, set[str]] = defaultdict(set)
    for word, lemma in pairs:
        made[word].add(lemma)
    return {word: frozenset(lemmas) for word, lemmas in made.items()}


def mates(lemmas: Lemmas, vocabulary: Vocabulary) -> dict[int, frozenset[int]]:
    """For each type that is a whole word with a lemma, the types that are other forms of it: often none.

    Both occur in the corpus. Words that differ in nothing but capitals are one form.
    """
    words = sorted(lemmas)
    ids, pieces = vocabulary.encode_all(words)
    first = ids[np.cumsum(pieces) - pieces]
    whole = (pieces == 1) & np.isin(first, vocabulary.types)
    types = {words[i]: int(first[i]) for i in np.flatnonzero(whole)}
    forms: defaultdict[str, list[str]] = defaultdict(list)
    for word in types:
        for lemma in lemmas[word]:
            forms[lemma.lower()].append(word)
    made: defaultdict[int, set[int]] = defaultdict(set)
    for word, own in types.items():
        others = (other for lemma in lemmas[word] for other in forms[lemma.lower()])
        made[own] |= {types[other] for other in others if other.lower() != word.lower()}
    return {own: frozenset(others) for own, others in made.items()}
