"""Named-entity recognition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from analysis.tasks.entities import entity_f1
from analysis.tasks.task import Labels, Score, Task, accuracy, words_of
from derive.example import Example
from derive.sentence import iob2


@dataclass(frozen=True)
class NER(Task):
    """IOB2 tags made of the spans, after any reordering. The primary metric is the F1 of exact spans and types.

    A model may predict an I- that continues nothing: it begins an entity then (`analysis.tasks.entities.entities`).
    """

    name: ClassVar[str] = "ner"
    primary: ClassVar[str] = "f1"
    per_word: ClassVar[bool] = True

    def gold(self, example: Example) -> tuple[str, ...]:
        words_of(example)  # one text, or it is no tagged sentence
        return tuple(tag for sentence in example.texts[0] for tag in iob2(sentence))

    def scores(self, gold: Sequence[Labels], predicted: Sequence[Labels]) -> dict[str, Score]:
        return {"f1": entity_f1(gold, predicted), "accuracy": accuracy(gold, predicted)}

    def labels(self, gold: Iterable[Labels]) -> tuple[str, ...]:
        """O, and B- and I- of every type: a type whose training entities are all of one word may still have longer."""
        types = sorted({tag[2:] for tags in gold for tag in tags if tag != "O"})
        return ("O", *(f"{mark}-{kind}" for kind in types for mark in "BI"))
