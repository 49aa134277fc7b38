"""Part-of-speech tagging."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from analysis.tasks.entities import entity_f1
from analysis.tasks.score import ACCURACY, Answer, Metric, Score, accuracy
from analysis.tasks.tagging import Tagging
from derive.sentence import Sentence


@dataclass(frozen=True)
class POS(Tagging):
    """A UPOS tag for every word. It is judged by the fraction of words with the right one.

    `f1_bare_tags` is what published tables print: seqeval's F1 on the bare tags, which takes a run of equal tags for
    one entity and SCONJ and CCONJ for one tag. It is here to stand beside those tables and for nothing else.
    """

    name: ClassVar[str] = "pos"
    title: ClassVar[str] = "POS"
    metrics: ClassVar[tuple[Metric, ...]] = (ACCURACY, Metric("f1_bare_tags", "F1 on bare tags"))
    printed: ClassVar[str] = "f1_bare_tags"

    def tags(self, sentence: Sentence) -> Answer:
        return sentence.tags

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        return tuple(sorted({tag for tags in gold for tag in tags}))

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        return {"accuracy": accuracy(gold, predicted), "f1_bare_tags": entity_f1(gold, predicted)}
