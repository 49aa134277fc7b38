"""Paraphrase: whether two sentences mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from analysis.baselines.baseline import Baseline
from analysis.baselines.pairs import pair_baselines
from analysis.tasks.classification import Classification
from analysis.tasks.score import ACCURACY, Answer, Metric, Score, accuracy
from derive.example import Example

SAME_OR_NOT = ("0", "1")


@dataclass(frozen=True)
class Paraphrase(Classification):
    """Whether two sentences say the same (1) or not (0), as in PAWS-X; scored by accuracy."""

    name: ClassVar[str] = "paraphrase"
    title: ClassVar[str] = "Paraphrase"
    metrics: ClassVar[tuple[Metric, ...]] = (ACCURACY,)
    printed: ClassVar[str] = "accuracy"
    texts: ClassVar[tuple[str, ...]] = ("first sentence", "second sentence")
    of_pairs: ClassVar[bool] = True
    baselines: ClassVar[tuple[Baseline, ...]] = pair_baselines("first", "second")

    def gold(self, example: Example) -> Answer:
        (label,) = super().gold(example)
        if label not in SAME_OR_NOT:
            raise ValueError(f"the label {label!r}; expected 1 of sentences that say the same, or 0")
        return (label,)

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        return {"accuracy": accuracy(gold, predicted)}
