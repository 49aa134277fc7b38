"""Lemmas of word forms, and types that are forms of the same lemma."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from calque.derive.dictionary import only_ids
from calque.derive.vocabulary import Vocabulary

Lemmas = Mapping[str, frozenset[str]]  # the lemmas of each word form


def gather_lemmas(pairs: Iterable[tuple[str, str]]) -> Lemmas:
    """Map each word form to its lemmas, given (form, lemma) pairs."""
    gathered: defaultdict[str, set[str]] = defaultdict(set)
    for word, lemma in pairs:
        gathered[word].add(lemma)
    return {word: frozenset(lemmas) for word, lemmas in gathered.items()}


def other_forms(lemmas: Lemmas, vocabulary: Vocabulary) -> dict[int, frozenset[int]]:
    """Map each type that is a whole word to the types that are other forms of its lemmas, differing in more
    than case."""
    words, occurring = sorted(lemmas), set(vocabulary.types.tolist())
    ids = only_ids(words, vocabulary)
    types = {word: only for word, only in zip(words, ids, strict=True) if only in occurring}
    forms: defaultdict[str, list[str]] = defaultdict(list)
    for word in types:
        for lemma in lemmas[word]:
            forms[lemma.lower()].append(word)
    mates: dict[int, frozenset[int]] = {}
    for word, own in types.items():
        others = {other for lemma in lemmas[word] for other in forms[lemma.lower()]}
        others_of_type = {types[form] for form in others if form.lower() != word.lower()}
        mates[own] = mates.get(own, frozenset()) | others_of_type
    return mates
