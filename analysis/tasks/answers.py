"""How an answer in words is scored: exact match and F1 of SQuAD v1.1 (Rajpurkar et al. 2016), and MLQA's words."""

from __future__ import annotations

import math
import re
import string
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from unicodedata import category

from analysis.baselines.baseline import Answer
from analysis.records.items import Items
from analysis.tasks.score import Score

PARTS = 10**6
"""Items are whole numbers: the F1 of an answer is rounded to this many parts."""
ARTICLES: dict[str, str] = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "hi": "",
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "ar": r"\sال^|ال",
    "zh": "",
}
"""The articles of each of MLQA's languages, which count for nothing, as in the official evaluation."""
_ENGLISH_ARTICLES = re.compile(ARTICLES["en"])
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_HAN = re.compile("([\u4e00-\u9fa5])")


def squad_words(text: str) -> list[str]:
    """The words that count: lower case, without ASCII punctuation, and then without a, an and the."""
    return _ENGLISH_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def mlqa_words(text: str, language: str) -> list[str]:
    """The same by MLQA's rules for a language: without punctuation of any script; a Chinese character is a word."""
    bare = text.lower().translate(_no_punctuation())
    if articles := ARTICLES[language]:
        bare = re.sub(articles, " ", bare)
    return (_HAN.sub(r" \1 ", bare) if language == "zh" else bare).split()


@cache
def _no_punctuation() -> dict[int, None]:
    """Unicode's punctuation, and ASCII's, which has symbols too."""
    marks = {i for i in range(sys.maxunicode) if category(chr(i)).startswith("P")}
    return dict.fromkeys(marks | set(map(ord, string.punctuation)))


def answer_scores(
    gold: Sequence[Answer], predicted: Sequence[Answer], words: Callable[[str], list[str]] = squad_words
) -> dict[str, Score]:
    """Exact match and F1, means over questions of the best over the correct answers (the official evaluation).

    A prediction is one answer, and a question may have several correct ones. `words` are the words that count.

    Raises:
        ValueError: there is no question, or the two differ in length.
    """
    if not gold:
        raise ValueError("no question to answer")
    exact, ratios = [], []
    for correct, (prediction,) in zip(gold, predicted, strict=True):
        theirs, ours = [words(text) for text in correct], words(prediction)
        exact.append(ours in theirs)
        ratios.append(max(_f1(answer, ours) for answer in theirs))
    parts = Items.over([round(PARTS * ratio) for ratio in ratios], [PARTS] * len(ratios))
    f1 = Score(math.fsum(ratios) / len(ratios), len(ratios), parts)
    return {"f1": f1, "exact": Score.over(exact, [1] * len(exact), len(exact))}


def _f1(correct: Sequence[str], predicted: Sequence[str]) -> float:
    """The F1 of two answers' words; 0 where they share none, also if neither has any (the official evaluation)."""
    shared = 2 * sum((Counter(correct) & Counter(predicted)).values())
    return shared / (len(correct) + len(predicted)) if shared else 0.0
