"""The interface of a task (rows of its examples, the head, decoding and scores), and the heads that are
trained on an encoder. Shapes: B rows, L ids, K targets per row, C answers to choose from."""

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

if TYPE_CHECKING:  # torch takes long to load, and a task's title does not need it
    from torch import Tensor

BARRED = -1e4  # the logit of padding, where no answer starts or ends
TAGS = "udpos"  # XTREME's name for POS; tags of syntactic words do not fit its label files, and have our name


class Head(ABC):
    """A head of transformers (the Auto class `auto`), trained by cross-entropy: each target of a row is a
    choice among C."""

    format: ClassVar[int] = 1
    auto: ClassVar[str]

    @property
    def kind(self) -> Any:
        import transformers

        return getattr(transformers, self.auto)

    def output(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Any:
        """The model's output under the head, for ids and token types (B, L); `real` is False at padding."""
        return model(input_ids=ids, attention_mask=real.long(), token_type_ids=types)

    @abstractmethod
    def logits(self, output: Any, real: Tensor) -> Tensor:
        """(B, K, C), from the model's output; `real` (B, L) is False at padding."""

    def answers(self, logits: Tensor) -> Tensor:
        """The head's answers to each row: the number of the most likely choice of each target, (B, K)."""
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
        """Logits (B, C): the head reads the first position alone, so nothing else of the last layer is
        computed."""
        from calque.pretrain.architecture import architecture_of
        from calque.pretrain.batch import Rows
        from calque.pretrain.model import encode_first

        rows = Rows(ids, ids, types, padded=not real.all(), segments=types if types.any() else None)
        return architecture_of(model.config).text_logits(model, encode_first(model, rows))

    def logits(self, output: Tensor, real: Tensor) -> Tensor:
        return output[:, None]


class SpanHead(Head):
    """Two choices among the ids of a row, its start and its end: K is 2, C is L (Devlin et al. 2019, section
    4.2)."""

    format = 3  # 2 had no answer that starts or ends with the mark of a space
    auto = "AutoModelForQuestionAnswering"

    def logits(self, output: Any, real: Tensor) -> Tensor:
        import torch

        return torch.stack([output.start_logits, output.end_logits], dim=1).masked_fill(~real[:, None], BARRED)

    def answers(self, logits: Tensor) -> Tensor:
        """The logits themselves, (B, 2, L): the task pairs starts with ends."""
        return logits.float()


@dataclass(frozen=True)
class Task(ABC):
    """A task: its data, metrics, head, decoding and baselines."""

    name: ClassVar[str]  # the folder of its data, and its name in records and settings
    title: ClassVar[str]  # its name for people
    summary: ClassVar[str] = ""  # one sentence about it, for glossaries and the documentation
    data: ClassVar[str]  # the kind of its data, as sources and readers name it
    metrics: ClassVar[tuple[Metric, ...]]  # models are compared by the first
    printed: ClassVar[str] = ""  # the metric in published tables, if not the first
    head: ClassVar[Head]  # the layer trained on top of an encoder
    baselines: ClassVar[tuple[Baseline, ...]] = ()  # model-free baselines that its scores are compared with
    of_pairs: ClassVar[bool] = False  # whether its examples have two texts
    xtreme: ClassVar[str] = ""  # its name in XTREME, if different

    @property
    def primary(self) -> str:
        return self.metrics[0].name

    def in_language(self, name: str) -> Self:
        """The task as scored in a natural language. Raises BadInput if it cannot be scored there."""
        return self

    @abstractmethod
    def gold(self, example: Example) -> Answer:
        """The correct answer of an example, or all for questions. Raises ValueError if it has none, or other
        texts."""

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        """The labels that a model may predict, from the gold of its training data; empty if it points into
        its text."""
        return tuple(sorted({label for labels in gold for label in labels}))

    def perfect(self, gold: Answer) -> Answer:
        """The prediction of a model without error: one of several correct answers."""
        return gold

    @abstractmethod
    def rows(self, example: Example, labels: Sequence[str], reader: Reader, length: int) -> tuple[list[TaskRow], bool]:
        """Rows of at most `length` ids, and whether one row fits all. Raises ValueError if a word has no
        ids."""

    @abstractmethod
    def decode(
        self, example: Example, rows: Sequence[TaskRow], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        """The prediction for an example, from the head's answers to each of its rows (`Head.answers`)."""

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        """The score of each of `metrics` by its name. Raises ValueError if a metric is not defined for this
        gold."""
        return {metric.name: metric.score(gold, predicted) for metric in self.metrics if metric.score}

    def submission(
        self, language: str, examples: Iterable[Example], predictions: Sequence[Answer], units: Units = WORDS
    ) -> tuple[str, str]:
        """The name and text of a language's file in XTREME's submissions."""
        folder = TAGS if units == XTREME else self.xtreme or self.name
        ending, text = self.submitted(examples, predictions)
        return f"{folder}/test-{language}.{ending}", text

    def submitted(self, examples: Iterable[Example], predictions: Sequence[Answer]) -> tuple[str, str]:
        """The ending and the text of such a file: one label per line."""
        return "tsv", "".join(f"{label}\n" for answer in predictions for label in answer)
