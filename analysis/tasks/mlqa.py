"""MLQA (Lewis et al. 2020), whose answers are compared by rules of each language."""

from __future__ import annotations

import re
import string
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar
from unicodedata import category

from analysis.tasks.questions import Questions
from analysis.tasks.score import Answer, Score
from analysis.tasks.squad import answer_scores
from derive.errors import BadInput

ARTICLES: dict[str, str] = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "hi": "",
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "ar": r"\sال^|ال",
    "zh": "",
}
"""What counts for nothing in each of its languages, as the official evaluation has it."""
BY_CHARACTER = "zh"
"""The language whose characters are words."""
_HAN = re.compile("([\u4e00-\u9fa5])")


def mlqa_words(text: str, language: str) -> list[str]:
    """The words of an answer that count: lower case, without punctuation of any script, without articles.

    Every Chinese character is a word.
    """
    bare = text.lower().translate(_no_punctuation())
    if articles := ARTICLES[language]:
        bare = re.sub(articles, " ", bare)
    return (_HAN.sub(r" \1 ", bare) if language == BY_CHARACTER else bare).split()


@cache
def _no_punctuation() -> dict[int, None]:
    """Unicode's punctuation, and ASCII's, which has symbols too."""
    marks = {i for i in range(sys.maxunicode) if category(chr(i)).startswith("P")}
    return dict.fromkeys(marks | set(map(ord, string.punctuation)))


@dataclass(frozen=True)
class MLQA(Questions):
    """Scored by MLQA's own rules for a language."""

    language: str = "en"

    name: ClassVar[str] = "mlqa"
    title: ClassVar[str] = "MLQA"

    def in_language(self, name: str) -> MLQA:
        """The task in one of its seven languages.

        Raises:
            BadInput: it is another one.
        """
        if name not in ARTICLES:
            raise BadInput(f"MLQA has no rules for {name}; there are {', '.join(ARTICLES)}")
        return MLQA(name)

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        return answer_scores(gold, predicted, partial(mlqa_words, language=self.language))
