"""Define a task's interface, the heads trained on top of an encoder, and sets of examples. Shapes: B rows, L
ids, K targets per row, C choices per target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from sys import intern
from typing import Any, ClassVar, Self

import numpy as np

from calque.analysis.tasks.baselines import Answer, Baseline
from calque.analysis.tasks.rows import UNLABELLED, Reader, TaskRow
from calque.analysis.tasks.score import Metric, Score
from calque.derive.errors import BadInput
from calque.derive.sentence import Example, read_examples
from calque.pretrain.batch import Rows
from calque.pretrain.lazy import Tensor, torch
from calque.pretrain.model import encode_first, text_logits

BARRED = -1e4  # the logit at padding, so that no answer starts or ends there


class Head(ABC):
    """A head from transformers (the Auto class `auto`): each target in a row is one of C choices."""

    format: ClassVar[int] = 1
    auto: ClassVar[str]

    @property
    def kind(self) -> Any:
        import transformers

        return getattr(transformers, self.auto)

    @abstractmethod
    def logits(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Tensor:
        """Return logits (B, K, C) for ids and token types (B, L); `real` (B, L) is False at padding."""

    def answers(self, logits: Tensor) -> Tensor:
        """The most likely choice for each target, (B, K)."""
        return logits.argmax(-1)


class WordHead(Head):
    """Predicts a label for each id: K is L."""

    auto = "AutoModelForTokenClassification"

    def logits(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Tensor:
        return model(input_ids=ids, attention_mask=real.long(), token_type_ids=types).logits


class TextHead(Head):
    """Predicts a label for the whole row: K is 1. The last layer is computed only at the first position."""

    format = 2
    auto = "AutoModelForSequenceClassification"

    def logits(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Tensor:
        rows = Rows(ids, ids, types, padded=not real.all(), segments=types if types.any() else None)
        return text_logits(model, encode_first(model, rows))[:, None]


class SpanHead(Head):
    """Chooses an answer's start and end: K is 2, C is L (Devlin et al. 2019, section 4.2)."""

    format = 3  # format 2 did not allow answers that start or end with a space marker
    auto = "AutoModelForQuestionAnswering"

    def logits(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Tensor:
        output = model(input_ids=ids, attention_mask=real.long(), token_type_ids=types)
        logits = torch.stack([output.start_logits, output.end_logits], dim=1)
        return logits.masked_fill(~real[:, None], BARRED)

    def answers(self, logits: Tensor) -> Tensor:
        """The logits themselves, (B, 2, L); the task chooses a span."""
        return logits.float()


@dataclass(frozen=True)
class Task(ABC):
    """A task, with its data, metrics, head, decoding and baselines."""

    name: ClassVar[str]  # name of the task in records and settings, and of its data folder
    title: ClassVar[str]  # display name
    summary: ClassVar[str] = ""  # a sentence about the task, for glossaries and the documentation
    data: ClassVar[str]  # the kind of data, as sources and readers call it
    metrics: ClassVar[tuple[Metric, ...]]  # the first one is used to compare models
    printed: ClassVar[str] = ""  # the metric used in published tables, if it is not the first
    head: ClassVar[Head]  # the head trained on top of an encoder
    baselines: ClassVar[tuple[Baseline, ...]] = ()  # model-free baselines to compare scores with

    @property
    def primary(self) -> str:
        return self.metrics[0].name

    def in_language(self, name: str) -> Self:
        """Return the task with a natural language's scoring rules. Raises BadInput if there are none."""
        return self

    @abstractmethod
    def gold(self, example: Example) -> Answer:
        """Return an example's answer or, for questions, all of its answers. Raises ValueError if there is
        none."""

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        """Return the labels that a model can predict, given the training answers; spans have none."""
        return tuple(sorted({label for labels in gold for label in labels}))

    def perfect(self, gold: Answer) -> Answer:
        """A perfect model's prediction."""
        return gold

    @abstractmethod
    def rows(
        self, example: Example, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[TaskRow], bool]:
        """Encode an example as rows of at most `length` ids, and return whether it fits into one. Raises
        ValueError if a word has no ids."""

    @abstractmethod
    def decode(
        self, example: Example, rows: Sequence[TaskRow], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        """Return the prediction for an example, given the head's answers for its rows."""

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        """Return a score for each metric. Raises ValueError if a score is undefined."""
        return {metric.name: metric.score(gold, predicted) for metric in self.metrics if metric.score}


DAMAGED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class EncodedSet:
    """The rows that encode each example; `cut` examples do not fit into one row."""

    examples: Sequence[Sequence[TaskRow]]
    cut: int

    @property
    def rows(self) -> list[TaskRow]:
        return list(chain.from_iterable(self.examples))

    def labelled(self) -> EncodedSet:
        """Leave out examples without a target, because their answers have no sub-words."""
        labelled = [rows for rows in self.examples if any((row.targets != UNLABELLED).any() for row in rows)]
        return EncodedSet(labelled, self.cut)


@dataclass(frozen=True)
class Split:
    """A file of a task's examples, whose words `reader` encodes. Each iteration over them reads the file
    again. Errors name the files in `read_from`, if known."""

    path: Path
    task: Task
    read_from: tuple[Path, ...] = ()
    reader: Reader | None = None

    def __iter__(self) -> Iterator[tuple[Example, Answer]]:
        if not self.path.is_file():
            raise BadInput(f"no examples for the task {self.task.name}", self.path)
        examples, line, task = read_examples(self.path), 0, f"the task {self.task.name}"
        while True:
            line += 1
            try:
                example = next(examples, None)
            except DAMAGED as error:
                raise BadInput(f"not an example of {task}: {error}", self.path, line) from error
            if example is None:
                break
            try:
                gold = tuple(map(intern, self.task.gold(example)))
            except DAMAGED as error:
                raise self._fault(f"not an example of {task}: {error}", line) from error
            yield example, gold
        if line == 1:
            raise BadInput(f"the file is empty; expected examples of {task}", self.path)

    def _fault(self, message: str, example: int | None = None) -> BadInput:
        if not self.read_from:
            return BadInput(message, self.path, example)
        place = f"example {example} of " if example else ""
        files = ", ".join(map(str, self.read_from))
        return BadInput(f"{message} ({place}the {self.path.name.partition('.')[0]} set)", files)

    @property
    def gold(self) -> list[Answer]:
        return [gold for _, gold in self]

    def check(self, labels: Sequence[str]) -> None:
        """Raise BadInput if the split is unusable or contains a label that is not in `labels`."""
        answers = self.gold
        for line, gold in enumerate(answers, start=1):
            if unknown := sorted(set(self.task.labels([gold])) - set(labels)):
                message = f"unknown label {unknown[0]!r}; the training data contain {', '.join(labels)}"
                raise self._fault(message, line)
        try:
            self.task.scores(answers, [self.task.perfect(answer) for answer in answers])
        except ValueError as error:
            raise self._fault(str(error)) from error

    def encode(self, labels: Sequence[str], length: int) -> EncodedSet:
        assert self.reader
        examples, cut = list[list[TaskRow]](), 0
        for number, (example, _) in enumerate(self, start=1):
            try:
                rows, fits = self.task.rows(example, labels, self.reader, length)
            except ValueError as error:
                raise self._fault(str(error), number) from None
            examples.append(rows)
            cut += not fits
        return EncodedSet(examples, cut)

    def decode(
        self, encoded: EncodedSet, answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> list[Answer]:
        """Return each example's prediction, given the head's answers for its rows."""
        predictions, remaining = [], iter(answers)
        for (example, _), rows in zip(self, encoded.examples, strict=True):
            predictions.append(self.task.decode(example, rows, list(islice(remaining, len(rows))), labels))
        return predictions


def check(train: Split, splits: Iterable[Split]) -> tuple[str, ...]:
    """Return the labels in `train`. Raises BadInput if one of `splits` is unusable or contains a label that
    `train` lacks."""
    labels = train.task.labels(train.gold)
    for split in splits:
        split.check(labels)
    return labels
