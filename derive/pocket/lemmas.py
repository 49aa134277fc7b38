"""The lemmas of Pocket English's words."""

from __future__ import annotations

from collections.abc import Iterator

from derive.pocket.language import Pocket
from derive.pocket.lexicon import Lexicon


def pocket_lemmas(language: Pocket) -> Iterator[tuple[str, str]]:
    """Each form of each inflected word with its lemma; a form of several words comes with each."""
    for topic in Lexicon(language.types, language.seed).topics:
        for lexemes in topic.values():
            for lexeme in lexemes:
                for form in lexeme.forms:
                    yield form, lexeme.lemma
