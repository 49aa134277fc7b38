"""Compute metrics, with each example's contribution. Free-text answers are scored as in SQuAD v1.1 (Rajpurkar
et al. 2016) and MLQA."""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from unicodedata import category

from calque.analysis.records.record import Items
from calque.analysis.tasks.baselines import Answer

Entity = tuple[str, int, int]  # type, first word and last word, numbered across all sentences


@dataclass(frozen=True)
class Score:
    """A fraction, and the number of answers behind it. `items` contains each example's contribution, if the
    score is a ratio of sums."""

    value: float
    count: int
    items: Items | None = None

    @classmethod
    def over(cls, hits: Iterable[int], sizes: Iterable[int], count: int) -> Score:
        hits, sizes = list(hits), list(sizes)
        return cls(sum(hits) / sum(sizes), count, Items.over(hits, sizes))


def accuracy(gold: Sequence[Answer], predicted: Sequence[Answer]) -> Score:
    """The fraction of labels predicted correctly."""
    pairs = (zip(*answers, strict=True) for answers in zip(gold, predicted, strict=True))
    hits = [sum(label == answer for label, answer in example) for example in pairs]
    sizes = list(map(len, gold))
    if not any(sizes):
        raise ValueError("no labels to score")
    return Score.over(hits, sizes, sum(sizes))


def entities(sentences: Sequence[Answer]) -> list[set[Entity]]:
    """The entities that seqeval 1.2.2 finds by default. Without prefixes, adjacent words with the same tag
    form one entity. The tag X at the start of a sentence does not start a new entity, because seqeval reads
    all sentences as one sequence."""
    entity_sets: list[set[Entity]] = []
    last_mark, last_kind, start, place = "O", "", 0, 0
    for tags in sentences:
        entity_sets.append(set())
        for tag in (*tags, "O"):
            mark, kind = tag[0], tag[1:].split("-", maxsplit=1)[-1] or "_"
            changed = kind != last_kind
            ends = last_mark in "ES" or (last_mark in "BI" and mark in "BSO")
            if ends or (last_mark not in "O." and changed):
                entity_sets[-1].add((last_kind, start, place - 1))
            if mark in "BS" or (last_mark in "OES" and mark in "EI") or (mark not in "O." and changed):
                start = place
            last_mark, last_kind, place = mark, kind, place + 1
    return entity_sets


def entity_f1(gold: Sequence[Answer], predicted: Sequence[Answer]) -> Score:
    """The micro-averaged F1 over entities, which must match in span and type."""
    pairs = list(zip(entities(gold), entities(predicted), strict=True))
    count = sum(len(correct) for correct, _ in pairs)
    if not count:
        raise ValueError("the gold labels contain no entity, so F1 is undefined")
    hits = [2 * len(correct & output) for correct, output in pairs]
    return Score.over(hits, [len(correct) + len(output) for correct, output in pairs], count)


@dataclass(frozen=True)
class Metric:
    """A metric: its `name` in records, its `title`, and its function, unless tasks compute it in `scores`."""

    name: str
    title: str
    score: Callable[[Sequence[Answer], Sequence[Answer]], Score] | None = None


ACCURACY, F1 = Metric("accuracy", "accuracy", accuracy), Metric("f1", "F1", entity_f1)
EXACT = Metric("exact", "exact match")
PARTS = 10**6  # items are whole numbers, so an answer's F1 is stored in millionths
ARTICLES: dict[str, str] = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "hi": "",
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "ar": r"\sال^|ال",
    "zh": "",
}
"""Regular expressions for the articles that MLQA's evaluation removes."""


def squad_words(text: str) -> list[str]:
    """Split a text into words by SQuAD's rules, without ASCII punctuation and articles."""
    bare = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(ARTICLES["en"], " ", bare).split()


def mlqa_words(text: str, language: str) -> list[str]:
    """Split a text into words by MLQA's rules, without articles and any script's punctuation; each Chinese
    character is a word."""
    bare = "".join(c for c in text.lower() if c not in string.punctuation and category(c)[0] != "P")
    if articles := ARTICLES[language]:
        bare = re.sub(articles, " ", bare)
    return (re.sub("([\u4e00-\u9fa5])", r" \1 ", bare) if language == "zh" else bare).split()


def answer_scores(
    gold: Sequence[Answer], predicted: Sequence[Answer], words: Callable[[str], list[str]] = squad_words
) -> dict[str, Score]:
    """Compute exact match and F1 as in SQuAD: the best over a question's gold answers, averaged over
    questions."""
    if not gold:
        raise ValueError("there are no questions to score")
    exact, ratios = [], []
    for texts, prediction in zip(gold, predicted, strict=True):
        correct, answer = list(map(words, texts)), words(prediction[0])
        exact.append(answer in correct)
        ratios.append(max(_f1(reference, answer) for reference in correct))
    parts = Items.over([round(PARTS * ratio) for ratio in ratios], [PARTS] * len(ratios))
    f1 = Score(math.fsum(ratios) / len(ratios), len(ratios), parts)
    return {"f1": f1, "exact": Score.over(exact, [1] * len(exact), len(exact))}


def _f1(correct: Sequence[str], predicted: Sequence[str]) -> float:
    shared = 2 * sum((Counter(correct) & Counter(predicted)).values())
    return shared / (len(correct) + len(predicted)) if shared else 0.0
