"""Entities read from tags, and their F1."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.tasks.score import Answer, Score

Entity = tuple[str, int, int]
"""Type, first word, last word; words count through all sentences, with one place between two of them."""


def entities(sentences: Sequence[Answer]) -> list[set[Entity]]:
    """What seqeval 1.2.2 reads from the tags of each sentence in its default mode (conlleval's rules).

    A tag is a mark, its first letter, and a type, what follows the first dash or, without a dash, the other letters.
    On well-formed IOB2 these are its entities. An ill-formed I-, one that continues nothing or another type, begins
    an entity. Of bare tags such as UPOS the marks are letters too: equal neighbours are one entity, SCONJ and CCONJ
    are of one type (CONJ), INTJ is I + NTJ, and each S- stands alone. A bare X that begins a sentence begins no entity:
    the next one has the first word of the last before it, so sentences are not read one by one.
    """
    read: list[set[Entity]] = []
    last_mark, last_kind, start, place = "O", "", 0, 0
    for tags in sentences:
        read.append(set())
        for tag in (*tags, "O"):
            mark, kind = tag[0], tag[1:].split("-", maxsplit=1)[-1] or "_"
            other = kind != last_kind
            if last_mark in "ES" or (last_mark in "BI" and mark in "BSO") or (last_mark not in "O." and other):
                read[-1].add((last_kind, start, place - 1))
            if mark in "BS" or (last_mark in "OES" and mark in "EI") or (mark not in "O." and other):
                start = place
            last_mark, last_kind, place = mark, kind, place + 1
    return read


def entity_f1(gold: Sequence[Answer], predicted: Sequence[Answer]) -> Score:
    """F1 over entities of exact span and type, all sentences and types together; `count` is the number of gold ones.

    Raises:
        ValueError: gold holds no entity, so that no prediction could be right.
    """
    pairs = list(zip(entities(gold), entities(predicted), strict=True))
    count = sum(len(right) for right, _ in pairs)
    if not count:
        raise ValueError("no entity in the gold labels, so F1 is not defined")
    hits = (2 * len(right & said) for right, said in pairs)
    return Score.over(hits, (len(right) + len(said) for right, said in pairs), count)
