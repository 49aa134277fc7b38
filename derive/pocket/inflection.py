"""English inflection, and pronounceable stems for words that English does not have."""

from __future__ import annotations

import random
import re

from derive.pocket.words import PLURALS, STRONG

SINGULAR, PLURAL = range(2)
BASE, THIRD, PAST, PARTICIPLE = range(4)

NOUNS = frozenset(("person", "animal", "thing", "place"))
VERBS = ("intr", "tr", "soc", "ditr", "go", "firm", "say", "want")

ONSETS = "b br d dr f fl g gl gr h j k l m n p pl pr r s sk sl st t tr v w y z th sh ch".split()
VOWELS = "a e i o u a e i o ai ee oo".split()
CODAS = "b d ff g k l ll m n nd nk nt p r rd rk rm rn sk st t v z".split()


def inflect(lemma: str, kind: str) -> tuple[str, ...]:
    """A word's forms: (singular, plural), (base, third person, past, participle), or the word alone."""
    if kind in NOUNS:
        return lemma, PLURALS.get(lemma) or _with_s(lemma)
    if kind in VERBS:
        past, participle = STRONG.get(lemma) or (_with_ed(lemma),) * 2
        return lemma, _with_s(lemma), past, participle
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


def stem(rng: random.Random, syllables: int) -> str:
    """A word of that many syllables that reads like English and, as a rule, is not."""
    parts = [rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(syllables)]
    return "".join(parts) + rng.choice(CODAS)
