"""Scores: the value of a metric on a test set, and the contribution of each example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.baselines.baseline import Answer
from analysis.records.items import Items

OF = " of "
"""Between a metric and the diagnostic that it is restricted to, as in `accuracy of passive`."""
Entity = tuple[str, int, int]
"""Type, first word, last word; words count through all sentences, with one place between two of them."""


@dataclass(frozen=True)
class Metric:
    """A way to score: its `name` in records, and its `title` for people."""

    name: str
    title: str


ACCURACY, F1, EXACT = Metric("accuracy", "accuracy"), Metric("f1", "F1"), Metric("exact", "exact match")


@dataclass(frozen=True)
class Score:
    """A fraction from 0 to 1, and the number of answers that it is over.

    `items` has the contribution of each example, so that two models can be compared on the same examples; None where
    the number is not a sum over examples.
    """

    value: float
    count: int
    items: Items | None = None

    @classmethod
    def over(cls, hits: Iterable[int], of: Iterable[int], count: int) -> Score:
        """The sum of `hits` over the sum of `of`, each with one entry per example."""
        hits, of = list(hits), list(of)
        return cls(sum(hits) / sum(of), count, Items.over(hits, of))


def accuracy(gold: Sequence[Answer], predicted: Sequence[Answer]) -> Score:
    """The fraction of labels that are predicted exactly.

    Raises:
        ValueError: there is no label at all, or the two differ in length.
    """
    hits = [[a == b for a, b in zip(*pair, strict=True)] for pair in zip(gold, predicted, strict=True)]
    count = sum(map(len, hits))
    if not count:
        raise ValueError("no label to be right or wrong about")
    return Score.over(map(sum, hits), map(len, hits), count)


def entities(sentences: Sequence[Answer]) -> list[set[Entity]]:
    """The entities that seqeval 1.2.2 reads from the tags of each sentence in its default mode (conlleval's rules).

    A tag is a mark, its first letter, and a type, what follows the first dash or, without a dash, the other letters.
    On well-formed IOB2 these are its entities. An ill-formed I-, one that continues nothing or another type, starts
    an entity. Of bare tags such as UPOS the marks are letters too: equal neighbours are one entity, SCONJ and CCONJ
    have one type (CONJ), INTJ is I + NTJ, and each S- is an entity of its own. A bare X at the start of a sentence
    starts no entity: the next one has the first word of the last before it, so sentences are not read one by one.
    """
    found: list[set[Entity]] = []
    last_mark, last_kind, start, place = "O", "", 0, 0
    for tags in sentences:
        found.append(set())
        for tag in (*tags, "O"):
            mark, kind = tag[0], tag[1:].split("-", maxsplit=1)[-1] or "_"
            changed = kind != last_kind
            if last_mark in "ES" or (last_mark in "BI" and mark in "BSO") or (last_mark not in "O." and changed):
                found[-1].add((last_kind, start, place - 1))
            if mark in "BS" or (last_mark in "OES" and mark in "EI") or (mark not in "O." and changed):
                start = place
            last_mark, last_kind, place = mark, kind, place + 1
    return found


def entity_f1(gold: Sequence[Answer], predicted: Sequence[Answer]) -> Score:
    """F1 over entities of exact span and type, all sentences and types together; `count` is the number of gold ones.

    Raises:
        ValueError: gold has no entity, so F1 is not defined.
    """
    pairs = list(zip(entities(gold), entities(predicted), strict=True))
    count = sum(len(correct) for correct, _ in pairs)
    if not count:
        raise ValueError("no entity in the gold labels, so F1 is not defined")
    hits = (2 * len(correct & found) for correct, found in pairs)
    return Score.over(hits, (len(correct) + len(found) for correct, found in pairs), count)
