"""Text that no model reads: the end of each corpus, of the same sentences in all languages that derive from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from derive.corpus import NOWHERE, Corpus
from derive.errors import BadInput
from derive.languages import Languages


def all_but_last(languages: Languages, share: float) -> Languages:
    """The languages without the last `share` of their sentences, from 0 to below 1.

    Raises:
        BadInput: a language has no sentence left.
    """
    if not share:
        return languages
    made = (
        replace(language, corpus=language.corpus.between(0, first))
        for language, first, _ in zip(languages.languages, *_firsts(languages, share), strict=True)
    )
    return replace(languages, languages=tuple(made))


def only_last(languages: Languages, share: float) -> Languages:
    """The languages with the last `share` of their sentences alone, above 0 and below 1.

    Raises:
        BadInput: a language has no sentence among them.
    """
    made = (
        replace(language, corpus=language.corpus.between(first, len(language.corpus), source_first))
        for language, first, source_first in zip(languages.languages, *_firsts(languages, share), strict=True)
    )
    return replace(languages, languages=tuple(made), estimated={})


def _firsts(languages: Languages, share: float) -> tuple[list[int], list[int]]:
    """The first line held out of each language, and the line of the source that it derives from, or its own."""
    source = len(languages.languages[0].corpus)
    firsts, source_firsts = [], []
    for language in languages.languages:
        corpus = language.corpus
        of = source if _derived(corpus) else len(corpus)
        source_first = of - round(share * of)
        first = int(np.searchsorted(corpus.source_line, source_first))
        if not 0 < first < len(corpus):
            kept = "none is left" if first == 0 else "none is held out"
            raise BadInput(
                f"{language.name}: of {len(corpus):,} sentences the last {share:.2%} are held out, and {kept}",
                languages.folder / language.name,
            )
        firsts.append(first)
        source_firsts.append(source_first)
    return firsts, source_firsts


def _derived(corpus: Corpus) -> bool:
    """Whether its lines are numbered by those of the source."""
    return NOWHERE not in corpus.origin[:1]
