"""Read, check and encode a set of a task's examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from sys import intern

import numpy as np

from calque.analysis.tasks.baselines import Answer
from calque.analysis.tasks.rows import UNLABELLED, Reader, TaskRow
from calque.analysis.tasks.task import Task
from calque.derive.errors import BadInput
from calque.derive.example import Example, read_examples


@dataclass(frozen=True)
class EncodedSet:
    """The rows that encode N examples, in order: example i has `counts[i]` of them. `cut` is the number of
    examples that do not fit into one row."""

    rows: tuple[TaskRow, ...]
    counts: np.ndarray
    cut: int

    @cached_property
    def firsts(self) -> np.ndarray:
        """The index of each example's first row, (N,)."""
        return np.cumsum(self.counts) - self.counts

    @property
    def unlabelled(self) -> np.ndarray:
        """Which examples have no target because their answers have no sub-words, (N,) bool."""
        empty = [bool((row.targets == UNLABELLED).all()) for row in self.rows]
        return np.logical_and.reduceat(empty, self.firsts)

    def labelled(self) -> EncodedSet:
        chosen = ~self.unlabelled
        kept = np.flatnonzero(np.repeat(chosen, self.counts))
        return EncodedSet(tuple(self.rows[i] for i in kept), self.counts[chosen], self.cut)

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(row.ids) for row in self.rows])


@dataclass(frozen=True)
class Split:
    """A file of a task's examples, read in each iteration. Errors name the files it was derived from,
    `read_from`, if known."""

    path: Path
    task: Task
    read_from: tuple[Path, ...] = ()

    def __iter__(self) -> Iterator[tuple[Example, Answer]]:
        if not self.path.is_file():
            raise BadInput(f"no examples for the task {self.task.name}", self.path)
        rows = read_examples(self.path)
        what = f"not an example of the task {self.task.name}"
        for line in count(1):
            try:
                example = next(rows)
            except StopIteration:
                break
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise BadInput(f"{what}: {error}", self.path, line) from error
            try:
                gold = tuple(map(intern, self.task.gold(example)))
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise self._fault(f"{what}: {error}", line) from error
            yield example, gold
        if line == 1:
            raise BadInput(f"the file is empty; expected examples of the task {self.task.name}", self.path)

    def _fault(self, message: str, example: int | None = None) -> BadInput:
        if not self.read_from:
            return BadInput(message, self.path, example)
        of = f"example {example} of " if example else ""
        files = ", ".join(map(str, self.read_from))
        return BadInput(f"{message} ({of}the {self.path.name.partition('.')[0]} set)", files)

    @property
    def gold(self) -> list[Answer]:
        return [gold for _, gold in self]

    def check(self, labels: Sequence[str]) -> None:
        """Raise BadInput, before hours of training, for unreadable examples, unknown labels or an undefined
        metric."""
        answers = self.gold
        for line, gold in enumerate(answers, start=1):
            if unknown := sorted(set(self.task.labels([gold])) - set(labels)):
                message = f"unknown label {unknown[0]!r}; the training data contain {', '.join(labels)}"
                raise self._fault(message, line)
        try:
            self.task.scores(answers, [self.task.perfect(answer) for answer in answers])
        except ValueError as error:
            raise self._fault(str(error)) from error

    def encode(self, labels: Sequence[str], reader: Reader, length: int) -> EncodedSet:
        """Encode all examples as rows of at most `length` ids."""
        rows, counts, cut = list[TaskRow](), list[int](), 0
        for number, (example, _) in enumerate(self, start=1):
            try:
                own, whole = self.task.rows(example, labels, reader, length)
            except ValueError as error:
                raise self._fault(str(error), number) from None
            rows += own
            counts.append(len(own))
            cut += not whole
        return EncodedSet(tuple(rows), np.array(counts), cut)

    def decode(
        self, encoded: EncodedSet, answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> list[Answer]:
        """Return the prediction for each example, given the head's answers for the rows from `encode`."""
        predictions = []
        for (example, _), first, size in zip(self, encoded.firsts, encoded.counts, strict=True):
            own = slice(first, first + size)
            predictions.append(self.task.decode(example, encoded.rows[own], answers[own], labels))
        return predictions


def check(train: Split, splits: Iterable[Split]) -> tuple[str, ...]:
    """Return the labels in `train`, the only ones that models can predict. Raises BadInput if one of `splits`
    is unusable or contains any other label."""
    labels = train.task.labels(train.gold)
    for split in splits:
        split.check(labels)
    return labels
