"""The interface of a task (its examples' rows, head, decoding and scores), and the heads trained on top of an
encoder. Shapes: B rows, L ids, K targets per row, C answers to choose from."""

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

if TYPE_CHECKING:  # torch is slow to import, and a task's title does not need it
    from torch import Tensor

BARRED = -1e4  # the logit at padding, where no answer starts or ends
TAGS = (
    "udpos"  # XTREME's name for POS; tags of syntactic words do not fit its label files, so they use our name
)


class Head(ABC):
    """A transformers head (the Auto class `auto`), trained with cross-entropy: each target of a row is a
    choice among C."""

    format: ClassVar[int] = 1
    auto: ClassVar[str]

    @property
    def kind(self) -> Any:
        import transformers

        return getattr(transformers, self.auto)

    def output(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Any:
        """Return the model's output under the head, for ids and token types (B, L); `real` is False at
        padding."""
        return model(input_ids=ids, attention_mask=real.long(), token_type_ids=types)

    @abstractmethod
    def logits(self, output: Any, real: Tensor) -> Tensor:
        """Return logits (B, K, C) from the model's output; `real` (B, L) is False at padding."""

    def answers(self, logits: Tensor) -> Tensor:
        """Return the head's answers to each row: each target's most likely choice, (B, K)."""
        return logits.argmax(-1)


class WordHead(Head):
    """A label for each id: K is L."""

    auto = "AutoModelForTokenClassification"

    def logits(self, output: Any, real: Tensor) -> Tensor:
        return output.logits


class TextHead(Head):
    """A label for the row as a whole: K is 1."""

    format = 2
    auto = "AutoModelForSequenceClassification"

    def output(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Tensor:
        """Return logits (B, C). The head reads only the first position, so nothing else in the last layer is
        computed."""
        from calque.pretrain.architecture import architecture_of
        from calque.pretrain.batch import Rows
        from calque.pretrain.model import encode_first

        rows = Rows(ids, ids, types, padded=not real.all(), segments=types if types.any() else None)
        return architecture_of(model.config).text_logits(model, encode_first(model, rows))

    def logits(self, output: Tensor, real: Tensor) -> Tensor:
        return output[:, None]


class SpanHead(Head):
    """Two choices among a row's ids, the answer's start and end: K is 2, C is L (Devlin et al. 2019, section
    4.2)."""

    format = 3  # format 2 excluded answers that start or end with a space marker
    auto = "AutoModelForQuestionAnswering"

    def logits(self, output: Any, real: Tensor) -> Tensor:
        import torch

        return torch.stack([output.start_logits, output.end_logits], dim=1).masked_fill(
            ~real[:, None], BARRED
        )

    def answers(self, logits: Tensor) -> Tensor:
        """Return the logits themselves, (B, 2, L): the task pairs starts with ends."""
        return logits.float()


@dataclass(frozen=True)
class Task(ABC):
    """A task: its data, metrics, head, decoding and baselines."""

    name: ClassVar[str]  # its data folder, and its name in records and settings
    title: ClassVar[str]  # its display name
    summary: ClassVar[str] = ""  # one sentence about it, for glossaries and the documentation
    data: ClassVar[str]  # the kind of its data, as named by sources and readers
    metrics: ClassVar[tuple[Metric, ...]]  # models are compared by the first one
    printed: ClassVar[str] = ""  # the metric in published tables, if not the first
    head: ClassVar[Head]  # the layer trained on top of an encoder
    baselines: ClassVar[tuple[Baseline, ...]] = ()  # model-free baselines that its scores are compared with
    of_pairs: ClassVar[bool] = False  # whether its examples consist of two texts
    xtreme: ClassVar[str] = ""  # its name in XTREME, if different

    @property
    def primary(self) -> str:
        return self.metrics[0].name

    def in_language(self, name: str) -> Self:
        """Return the task as scored in a natural language. Raises BadInput if it cannot be scored there."""
        return self

    @abstractmethod
    def gold(self, example: Example) -> Answer:
        """Return an example's correct answer, or all of them for questions. Raises ValueError if there is
        none, or the texts are unexpected."""

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        """Return the labels that a model may predict, from the gold answers in its training data; empty if
        answers are spans."""
        return tuple(sorted({label for labels in gold for label in labels}))

    def perfect(self, gold: Answer) -> Answer:
        """Return a perfect model's prediction: one of several correct answers."""
        return gold

    @abstractmethod
    def rows(
        self, example: Example, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[TaskRow], bool]:
        """Return rows of at most `length` ids, and whether everything fits into one. Raises ValueError if a
        word has no ids."""

    @abstractmethod
    def decode(
        self, example: Example, rows: Sequence[TaskRow], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        """Return the prediction for an example, given the head's answers to each of its rows
        (`Head.answers`)."""

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        """Return the score of each of `metrics` by name. Raises ValueError if a metric is undefined for this
        gold."""
        return {metric.name: metric.score(gold, predicted) for metric in self.metrics if metric.score}

    def submission(
        self, language: str, examples: Iterable[Example], predictions: Sequence[Answer], units: Units = WORDS
    ) -> tuple[str, str]:
        """Return the name and the content of a language's file in an XTREME submission."""
        folder = TAGS if units == XTREME else self.xtreme or self.name
        ending, text = self.submitted(examples, predictions)
        return f"{folder}/test-{language}.{ending}", text

    def submitted(self, examples: Iterable[Example], predictions: Sequence[Answer]) -> tuple[str, str]:
        """Return such a file's extension and content: one label per line."""
        return "tsv", "".join(f"{label}\n" for answer in predictions for label in answer)
