"""A set of a task's examples: read, checked, and made into rows, an example at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from sys import intern

import numpy as np

from analysis.tasks.rows import UNLABELLED, Reader, Row
from analysis.tasks.score import Answer
from analysis.tasks.task import Task
from derive.errors import BadInput
from derive.example import Example, read_examples


@dataclass(frozen=True)
class Split:
    """A file of derived task data. It is read anew each time: examples take far more memory than their rows.

    `read_from` are the files that it was made of, as far as they are known, for messages.
    """

    path: Path
    task: Task
    read_from: tuple[Path, ...] = ()

    def __iter__(self) -> Iterator[tuple[Example, Answer]]:
        """Each example and what is right for it; line i + 1 of the file holds example i.

        Raises:
            BadInput: the file is missing or empty, or a row is no example of the task.
        """
        if not self.path.is_file():
            raise BadInput(f"there are no such examples for the task {self.task.name}", self.path)
        rows = read_examples(self.path)
        line = 0
        while True:
            line += 1
            try:
                example = next(rows)
                gold = tuple(map(intern, self.task.gold(example)))
            except StopIteration:
                break
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise BadInput(f"no example of the task {self.task.name}: {error}", self.path, line) from error
            yield example, gold
        if line == 1:
            raise BadInput(f"no example of the task {self.task.name} in an empty file", self.path)

    @property
    def gold(self) -> list[Answer]:
        """What is right for each example.

        Raises:
            BadInput: as when they are read.
        """
        return [gold for _, gold in self]

    @property
    def diagnostics(self) -> list[str]:
        """What each example tries, empty where it does not say.

        Raises:
            BadInput: as when they are read.
        """
        return [intern(example.diagnostic) for example, _ in self]

    def check(self, labels: Sequence[str]) -> None:
        """Find what would stop an evaluation after hours of training: unreadable examples, labels that are not among
        `labels`, and a metric that is not defined on this set.

        Raises:
            BadInput: with file and line.
        """
        right = []
        for line, (_, gold) in enumerate(self, start=1):
            right.append(gold)
            if unknown := sorted(set(self.task.labels([gold])) - set(labels)):
                message = f"unknown label {unknown[0]!r}; the training data have {', '.join(labels)}"
                if self.read_from:
                    message += f". These examples are from {', '.join(map(str, self.read_from))}"
                raise BadInput(message, self.path, line)
        try:
            self.task.scores(right, [self.task.said(answer) for answer in right])
        except ValueError as error:
            raise BadInput(str(error), self.path) from error

    def encode(self, labels: Sequence[str], reader: Reader, length: int) -> Encoded:
        """All examples as rows of at most `length` ids.

        Raises:
            BadInput: with file and line; as when they are read, or a word has no sub-words.
        """
        rows: list[Row] = []
        counts: list[int] = []
        cut = 0
        for line, (example, gold) in enumerate(self, start=1):
            try:
                made, whole = self.task.rows(example, gold, labels, reader, length)
            except ValueError as error:
                raise BadInput(str(error), self.path, line) from None
            rows += made
            counts.append(len(made))
            cut += not whole
        return Encoded(tuple(rows), np.array(counts), cut)

    def decode(self, encoded: Encoded, answers: Sequence[np.ndarray], labels: Sequence[str]) -> list[Answer]:
        """What a model says of each example, from what its head answered to each of the rows of `encode`."""
        said, first = [], 0
        for (example, _), count in zip(self, encoded.counts, strict=True):
            own = slice(first, first + count)
            said.append(self.task.decode(example, encoded.rows[own], answers[own], labels))
            first += count
        return said


def check(train: Split, splits: Iterable[Split]) -> tuple[str, ...]:
    """The labels that models may say, those of `train`, once all sets were found to be of use with them.

    Raises:
        BadInput: as `Split.check`.
    """
    labels = train.task.labels(gold for _, gold in train)
    for split in splits:
        split.check(labels)
    return labels


@dataclass(frozen=True)
class Encoded:
    """The rows of N examples in their order, of which example i has `counts[i]`.

    `cut` counts the examples that did not fit: tagged ones stand in several rows with every word, of a pair's longer
    text the end is left out. Rows with the same number in `units` (R,) are learnt from in one batch; without them each
    is for itself.
    """

    rows: tuple[Row, ...]
    counts: np.ndarray
    cut: int
    units: np.ndarray | None = None

    @property
    def unit_of(self) -> np.ndarray:
        """The unit of each row, (R,), in rising order."""
        return np.arange(len(self)) if self.units is None else self.units

    @property
    def unlabelled(self) -> np.ndarray:
        """Which examples have no target, (N,) bool: their answers have no sub-words."""
        silent = [bool((row.targets == UNLABELLED).all()) for row in self.rows]
        return np.logical_and.reduceat(silent, np.cumsum(self.counts) - self.counts)

    def labelled(self) -> Encoded:
        """The examples that have a target. `cut` stays that of all."""
        return self._only(~self.unlabelled)

    def sample(self, many: int) -> Encoded:
        """So many of the examples, in their order; fewer are part of more. `cut` stays that of all.

        Raises:
            ValueError: there are not so many.
        """
        if many > len(self.counts):
            raise ValueError(f"{many:,} examples of {len(self.counts):,}")
        return self._only(np.random.default_rng(0).permutation(len(self.counts)) < many)

    def _only(self, chosen: np.ndarray) -> Encoded:
        """The examples that are `chosen`, (N,) bool."""
        kept = np.flatnonzero(np.repeat(chosen, self.counts))
        units = None if self.units is None else self.units[kept]
        return Encoded(tuple(self.rows[i] for i in kept), self.counts[chosen], self.cut, units)

    @property
    def lengths(self) -> np.ndarray:
        """How many ids each row has, (R,)."""
        return np.array([len(row.ids) for row in self.rows])

    def __len__(self) -> int:
        return len(self.rows)
