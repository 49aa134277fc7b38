"""Natural language inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from analysis.tasks.task import Labels, Score, Task, accuracy
from derive.example import Example


@dataclass(frozen=True)
class NLI(Task):
    """Whether a premise entails a hypothesis, contradicts it or neither; scored by accuracy."""

    name: ClassVar[str] = "nli"
    primary: ClassVar[str] = "accuracy"
    per_word: ClassVar[bool] = False

    def gold(self, example: Example) -> tuple[str, ...]:
        if len(example.texts) != 2:
            raise ValueError(f"expected a premise and a hypothesis, found {len(example.texts)} texts")
        if not example.label:
            raise ValueError("the pair has no label")
        return (example.label,)

    def scores(self, gold: Sequence[Labels], predicted: Sequence[Labels]) -> dict[str, Score]:
        return {"accuracy": accuracy(gold, predicted)}
