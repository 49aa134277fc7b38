"""Define a task's interface, and the heads trained on top of an encoder. Shapes: B rows, L ids, K targets per
row, C choices per target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from calque.analysis.tasks.baselines import Answer, Baseline
from calque.analysis.tasks.rows import Reader, TaskRow
from calque.analysis.tasks.score import Metric, Score
from calque.derive.example import Example
from calque.derive.readers.conllu import WORDS, XTREME, Units

if TYPE_CHECKING:  # torch is slow to import, and not needed for a task's title
    from torch import Tensor

BARRED = -1e4  # the logit at padding, so that no answer starts or ends there
TAGS = "udpos"  # XTREME's name for POS, used only for XTREME's units: its files cannot hold other tags


class Head(ABC):
    """A head from transformers (the Auto class named `auto`), trained with cross-entropy: each target in a
    row is one of C choices."""

    format: ClassVar[int] = 1
    auto: ClassVar[str]

    @property
    def kind(self) -> Any:
        import transformers

        return getattr(transformers, self.auto)

    def output(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Any:
        """Run the model with its head on ids and token types (B, L); `real` is False at padding."""
        return model(input_ids=ids, attention_mask=real.long(), token_type_ids=types)

    @abstractmethod
    def logits(self, output: Any, real: Tensor) -> Tensor:
        """Return logits (B, K, C) from the model's output; `real` (B, L) is False at padding."""

    def answers(self, logits: Tensor) -> Tensor:
        """Return the most likely choice for each target, (B, K)."""
        return logits.argmax(-1)


class WordHead(Head):
    """Predicts a label for each id: K is L."""

    auto = "AutoModelForTokenClassification"

    def logits(self, output: Any, real: Tensor) -> Tensor:
        return output.logits


class TextHead(Head):
    """Predicts a label for the whole row: K is 1."""

    format = 2
    auto = "AutoModelForSequenceClassification"

    def output(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Tensor:
        """Return logits (B, C), computing the last layer only at the first position, which is all that the
        head reads."""
        from calque.pretrain.architecture import architecture_of
        from calque.pretrain.batch import Rows
        from calque.pretrain.model import encode_first

        rows = Rows(ids, ids, types, padded=not real.all(), segments=types if types.any() else None)
        return architecture_of(model.config).text_logits(model, encode_first(model, rows))

    def logits(self, output: Tensor, real: Tensor) -> Tensor:
        return output[:, None]


class SpanHead(Head):
    """Chooses an answer's start and end among a row's ids: K is 2, C is L (Devlin et al. 2019, section
    4.2)."""

    format = 3  # format 2 did not allow answers that start or end with a space marker
    auto = "AutoModelForQuestionAnswering"

    def logits(self, output: Any, real: Tensor) -> Tensor:
        import torch

        logits = torch.stack([output.start_logits, output.end_logits], dim=1)
        return logits.masked_fill(~real[:, None], BARRED)

    def answers(self, logits: Tensor) -> Tensor:
        """Return the logits themselves, (B, 2, L); the task chooses a start and an end from them."""
        return logits.float()


@dataclass(frozen=True)
class Task(ABC):
    """A task, with its data, metrics, head, decoding and baselines."""

    name: ClassVar[str]  # name of the task in records and settings, and of its data folder
    title: ClassVar[str]  # display name
    summary: ClassVar[str] = ""  # a sentence about the task, for glossaries and the documentation
    data: ClassVar[str]  # the kind of data, by the name that sources and readers use
    metrics: ClassVar[tuple[Metric, ...]]  # the first one is used to compare models
    printed: ClassVar[str] = ""  # the metric used in published tables, if it is not the first
    head: ClassVar[Head]  # the head trained on top of an encoder
    baselines: ClassVar[tuple[Baseline, ...]] = ()  # model-free baselines to compare scores with
    xtreme: ClassVar[str] = ""  # the task's name in XTREME, if it is different

    @property
    def primary(self) -> str:
        return self.metrics[0].name

    def in_language(self, name: str) -> Self:
        """Return the task with the scoring rules for a natural language. Raises BadInput if there are
        none."""
        return self

    @abstractmethod
    def gold(self, example: Example) -> Answer:
        """Return an example's correct answer or, for questions, all of its correct answers. Raises ValueError
        if there is none, or if the texts are not those expected."""

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        """Return the labels that a model can predict, given the gold answers in its training data; empty if
        answers are spans."""
        return tuple(sorted({label for labels in gold for label in labels}))

    def perfect(self, gold: Answer) -> Answer:
        """Return a perfect model's prediction, given the gold answer."""
        return gold

    @abstractmethod
    def rows(
        self, example: Example, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[TaskRow], bool]:
        """Encode an example as rows of at most `length` ids, and return whether everything fits into one row.
        Raises ValueError if a word has no ids."""

    @abstractmethod
    def decode(
        self, example: Example, rows: Sequence[TaskRow], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        """Return the prediction for an example, given the head's answers for its rows."""

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        """Return the score for each of `metrics`, by name. Raises ValueError if a metric is undefined for
        these gold answers."""
        return {metric.name: metric.score(gold, predicted) for metric in self.metrics if metric.score}

    def submission(
        self, language: str, examples: Iterable[Example], predictions: Sequence[Answer], units: Units = WORDS
    ) -> tuple[str, str]:
        """Return the name and content of a language's file in a submission to XTREME."""
        folder = TAGS if units == XTREME else self.xtreme or self.name
        ending, text = self.submitted(examples, predictions)
        return f"{folder}/test-{language}.{ending}", text

    def submitted(self, examples: Iterable[Example], predictions: Sequence[Answer]) -> tuple[str, str]:
        """Return the extension and content of a file for XTREME, with one label per line."""
        return "tsv", "".join(f"{label}\n" for answer in predictions for label in answer)
