"""How an answer in words is scored: exact match and F1 of SQuAD v1.1 (Rajpurkar et al. 2016)."""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

from analysis.records.items import Items
from analysis.tasks.score import Answer, Metric, Score

F1, EXACT = Metric("f1", "F1"), Metric("exact", "exact match")
PARTS = 10**6
"""Items are whole numbers, and an answer's F1 is none: so many parts of it are."""
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normal_words(text: str) -> list[str]:
    """The words that count: lower case, without ASCII punctuation, and then without a, an and the."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def overlap(right: Sequence[str], said: Sequence[str]) -> tuple[int, int]:
    """Twice the words that two answers share, each as often as both have it, and the words that both have: F1's parts.

    Answers without a word share nothing, as in the official evaluation.
    """
    return 2 * sum((Counter(right) & Counter(said)).values()), len(right) + len(said)


def answer_scores(
    gold: Sequence[Answer], predicted: Sequence[Answer], words: Callable[[str], list[str]] = normal_words
) -> dict[str, Score]:
    """Exact match and F1, means over questions of the best over the answers that are right (the official evaluation).

    What is predicted of a question is one answer. `words` are those of an answer that count.

    Raises:
        ValueError: there is no question, or the two differ in length.
    """
    if not gold:
        raise ValueError("no question to answer")
    exact, shares = [], []
    for right, (said,) in zip(gold, predicted, strict=True):
        theirs, ours = [words(text) for text in right], words(said)
        exact.append(ours in theirs)
        shares.append(max((overlap(one, ours) for one in theirs), key=_ratio))
    return {"f1": _mean(shares), "exact": Score.over(exact, [1] * len(exact), len(exact))}


def _mean(shares: Sequence[tuple[int, int]]) -> Score:
    """The mean of a ratio over questions; an item is a question's, in whole parts of `PARTS`."""
    ratios = [_ratio(share) for share in shares]
    return Score(
        math.fsum(ratios) / len(ratios),
        len(ratios),
        Items.over([round(PARTS * ratio) for ratio in ratios], [PARTS] * len(ratios)),
    )


def _ratio(share: tuple[int, int]) -> float:
    shared, of = share
    return shared / of if shared else 0.0
