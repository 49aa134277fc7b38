"""Tasks with one label per text or pair of texts."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from calque.analysis.tasks.baselines import Answer, BagOfWords, Majority, pair_baselines
from calque.analysis.tasks.score import ACCURACY, Metric
from calque.analysis.tasks.task import Reader, Task, TaskRow, TextHead, joined
from calque.derive.sentence import Example

SAME_OR_NOT = ("0", "1")


class Classification(Task):
    """A task that labels one or more texts, encoded in a single row."""

    metrics: ClassVar[tuple[Metric, ...]] = (ACCURACY,)
    head = TextHead()
    texts: ClassVar[tuple[str, ...]]  # names for an example's texts, used in errors

    def gold(self, example: Example) -> Answer:
        if len(example.texts) != len(self.texts):
            raise ValueError(f"expected a {' and a '.join(self.texts)}, not {len(example.texts)} texts")
        if not example.label:
            raise ValueError("the example has no label")
        return (example.label,)

    def rows(
        self, example: Example, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[TaskRow], bool]:
        row, fits = joined(reader, example.texts, labels.index(self.gold(example)[0]), length)
        return [row], fits

    def decode(
        self, example: Example, rows: Sequence[TaskRow], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        return (labels[int(answers[0][0])],)


class NLI(Classification):
    name = data = "nli"
    title = "NLI"
    summary = "NLI decides whether a premise entails a hypothesis, contradicts it, or does neither."
    texts = ("premise", "hypothesis")
    baselines = pair_baselines(*texts)

    def gold(self, example: Example) -> Answer:
        (label,) = super().gold(example)
        if label.isdecimal():
            raise ValueError(f"the label {label!r} is a number, as in paraphrase data; NLI labels are words")
        return (label,)


class Paraphrase(Classification):
    """Paraphrase detection, as in PAWS-X: whether two sentences have the same meaning (1) or not (0)."""

    name = data = "paraphrase"
    title = "Paraphrase"
    summary = "Paraphrase detection decides whether two sentences mean the same thing."
    texts = ("first sentence", "second sentence")
    baselines = pair_baselines("first", "second")

    def gold(self, example: Example) -> Answer:
        (label,) = super().gold(example)
        if label not in SAME_OR_NOT:
            raise ValueError(f"the label is {label!r}; expected 1 (same meaning) or 0 (different meaning)")
        return (label,)


class TextLabels(Classification):
    name = data = "text_labels"
    title = "Text labels"
    summary = "Text labels assign one of your own labels to each text, such as its topic."
    texts = ("text",)
    baselines = (Majority(), BagOfWords(0, "words", "bag of words"))


class PairLabels(Classification):
    name = data = "pair_labels"
    title = "Pair labels"
    summary = "Pair labels assign one of your own labels to each pair of texts."
    texts = ("first text", "second text")
    baselines = pair_baselines("first", "second")
