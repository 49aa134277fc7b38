"""Named-entity recognition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from analysis.baselines.baseline import Baseline
from analysis.baselines.gazetteer import Gazetteer
from analysis.tasks.entities import entity_f1
from analysis.tasks.score import ACCURACY, Answer, Metric, Score, accuracy
from analysis.tasks.tagging import Tagging
from derive.sentence import Sentence, iob2


@dataclass(frozen=True)
class NER(Tagging):
    """IOB2 tags made of the spans, after any reordering. It is judged by the F1 of exact spans and types.

    A model may predict an I- that continues nothing: it begins an entity then (`analysis.tasks.entities.entities`).
    """

    name: ClassVar[str] = "ner"
    title: ClassVar[str] = "NER"
    metrics: ClassVar[tuple[Metric, ...]] = (Metric("f1", "F1"), ACCURACY)
    printed: ClassVar[str] = "f1"
    baselines: ClassVar[tuple[Baseline, ...]] = (*Tagging.baselines, Gazetteer())

    def tags(self, sentence: Sentence) -> Answer:
        return iob2(sentence)

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        """O, and B- and I- of every type: a type whose training entities are all of one word may still have longer."""
        types = sorted({tag[2:] for tags in gold for tag in tags if tag != "O"})
        return ("O", *(f"{mark}-{kind}" for kind in types for mark in "BI"))

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        return {"f1": entity_f1(gold, predicted), "accuracy": accuracy(gold, predicted)}
