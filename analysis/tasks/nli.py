"""Natural language inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from analysis.baselines.baseline import Baseline
from analysis.baselines.pairs import pair_baselines
from analysis.tasks.classification import Classification
from analysis.tasks.score import ACCURACY, Answer, Metric, Score, accuracy
from derive.example import Example


@dataclass(frozen=True)
class NLI(Classification):
    """Whether a premise entails a hypothesis, contradicts it or neither; scored by accuracy."""

    name: ClassVar[str] = "nli"
    title: ClassVar[str] = "NLI"
    metrics: ClassVar[tuple[Metric, ...]] = (ACCURACY,)
    printed: ClassVar[str] = "accuracy"
    texts: ClassVar[tuple[str, ...]] = ("premise", "hypothesis")
    of_pairs: ClassVar[bool] = True
    baselines: ClassVar[tuple[Baseline, ...]] = pair_baselines(*texts)

    def gold(self, example: Example) -> Answer:
        (label,) = super().gold(example)
        if label.isdecimal():
            raise ValueError(f"the label {label!r}, as of paraphrases; expected one of inference in words")
        return (label,)

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        return {"accuracy": accuracy(gold, predicted)}
