"""Part-of-speech tagging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from analysis.tasks.entities import entity_f1
from analysis.tasks.task import Labels, Score, Task, accuracy, words_of
from derive.example import Example


@dataclass(frozen=True)
class POS(Task):
    """A UPOS tag for every word. The primary metric is the share of words with the right one.

    `f1_bare_tags` is what published tables print: seqeval's F1 on the bare tags, which takes a run of equal tags for
    one entity and SCONJ and CCONJ for one tag. It is here to stand beside those tables and for nothing else.
    """

    name: ClassVar[str] = "pos"
    primary: ClassVar[str] = "accuracy"
    per_word: ClassVar[bool] = True

    def gold(self, example: Example) -> tuple[str, ...]:
        words = words_of(example)
        tags = tuple(tag for sentence in example.texts[0] for tag in sentence.tags)
        if len(tags) != len(words) or not all(tags):
            raise ValueError("expected a tag for every word")
        return tags

    def scores(self, gold: Sequence[Labels], predicted: Sequence[Labels]) -> dict[str, Score]:
        return {"accuracy": accuracy(gold, predicted), "f1_bare_tags": entity_f1(gold, predicted)}
