"""The words that Pocket English starts from (words.toml), English inflection, and stems that English does not have."""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path
from typing import Any


def read_table(name: str) -> dict[str, Any]:
    """One of this folder's tables."""
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


WORDS = read_table("words.toml")
FUNCTION = frozenset(" ".join(WORDS["function"].values()).split())
GENERAL: dict[str, str] = WORDS["general"]
"""The entries of each kind that are in every topic, in the notation of words.toml."""
TOPICS: list[dict[str, str]] = WORDS["topics"]
ALL_CORE = frozenset(
    re.split(r"[\s/:]+", " ".join(entries for kinds in (GENERAL, *TOPICS) for entries in kinds.values()))
)

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
        return lemma, WORDS["plurals"].get(lemma) or _with_s(lemma)
    if kind in VERBS:
        strong = WORDS["strong"].get(lemma)
        return lemma, _with_s(lemma), *(strong.split() if strong else [_with_ed(lemma)] * 2)
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
