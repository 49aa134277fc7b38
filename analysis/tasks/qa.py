"""Extractive question answering."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from analysis.baselines.baseline import Baseline
from analysis.baselines.known_answer import KnownAnswer
from analysis.tasks.head import Head
from analysis.tasks.rows import Reader, Row
from analysis.tasks.score import Answer, Metric, Score
from analysis.tasks.span_head import SpanHead
from analysis.tasks.squad import EXACT, F1, squad_scores
from analysis.tasks.task import Task
from derive.example import Example
from derive.sentence import Span

QUESTION = 64
"""Sub-words of a question that a row has room for; of a longer one the end is left out."""
STRIDE = 128
"""Sub-words from the begin of a context's window to that of the next."""
BEST, LONGEST = 20, 30
"""Of how many begins and ends the best pair is looked for, and how many sub-words an answer has at most."""
NOWHERE = -1
"""The word at an id that is not the context's."""


@dataclass(frozen=True, slots=True)
class SpanRow(Row):
    """A question with a window of its context.

    `words` (L,) is the number of the context's word at each id, NOWHERE at others, and `most` (L,) whether no other
    window shows the id with more around it.
    """

    words: np.ndarray
    most: np.ndarray


@dataclass(frozen=True)
class QA(Task):
    """The answer to a question is a span of words of its context; scored as SQuAD v1.1 is.

    The first text is the question, the second the context, in which spans are right answers: several where annotators
    gave several, or where another word order tore one apart, of which each piece is right then and the longest is
    learnt. A context that is too long for a row stands in several, which begin `STRIDE` sub-words after each other. One
    that lacks the answer has its first id for begin and end (Devlin et al. 2019).
    """

    name: ClassVar[str] = "qa"
    title: ClassVar[str] = "QA"
    metrics: ClassVar[tuple[Metric, ...]] = (F1, EXACT)
    printed: ClassVar[str] = "f1"
    head: ClassVar[Head] = SpanHead()
    baselines: ClassVar[tuple[Baseline, ...]] = (KnownAnswer(),)

    def gold(self, example: Example) -> Answer:
        context = _Context(example)
        return tuple(dict.fromkeys(context.text(span.start, span.end) for span in context.answers))

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        return ()

    def rows(
        self, example: Example, gold: Answer, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[Row], bool]:
        context, marks = _Context(example), reader.specials
        asked = [piece for sentence in example.texts[0] for word in sentence.words for piece in reader.pieces(word)]
        before = [marks.start, *asked[: min(QUESTION, length // 2 - 2)], marks.end, marks.end]
        pieces = [reader.pieces(word) for word in context.words]
        words = np.repeat(np.arange(len(pieces)), [len(of) for of in pieces])
        flat = np.concatenate([np.asarray(of) for of in pieces])
        answer = max(context.answers, key=lambda span: span.end - span.start)
        first, last = np.searchsorted(words, (answer.start, answer.end))
        rows: list[Row] = []
        windows = windows_of(len(flat), length - len(before) - 1)
        for shown, most in zip(windows, most_around(windows, len(flat)), strict=True):
            shift = len(before) - shown.start
            inside = shown.start <= first and last <= shown.stop
            target = [first + shift, last - 1 + shift] if inside else [0, 0]
            row = reader.row([*before, *flat[shown.start : shown.stop], marks.end], target)
            own = np.full(len(row.ids), NOWHERE), np.zeros(len(row.ids), bool)
            for column, values in zip(own, (words[shown.start : shown.stop], most), strict=True):
                column[len(before) : -1] = values
            rows.append(SpanRow(row.ids, row.targets, *own))
        return rows, len(rows) == 1 and len(before) == len(asked) + 3

    def decode(
        self, example: Example, rows: Sequence[Row], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        best, words = -np.inf, (0, 0)
        for row, logits in zip(rows, answers, strict=True):
            assert isinstance(row, SpanRow)
            for score, begin, end in spans(row, logits):
                if score > best:
                    best, words = score, (int(row.words[begin]), int(row.words[end]) + 1)
        return (_Context(example).text(*words),)

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        return squad_scores(gold, predicted)


class _Context:
    """The context of an example as one text, and the right answers in it."""

    def __init__(self, example: Example) -> None:
        if len(example.texts) != 2:
            raise ValueError(f"expected a question and a context, found {len(example.texts)} texts")
        question, self._context = example.texts
        if not any(map(len, question)):
            raise ValueError("the question has no words")
        if not self.answers:
            raise ValueError("the context has no answer")

    @cached_property
    def words(self) -> list[str]:
        return [word for sentence in self._context for word in sentence.words]

    @cached_property
    def answers(self) -> list[Span]:
        """The right answers, in words of the context, in their order."""
        found, first = list[Span](), 0
        for sentence in self._context:
            found += [Span(first + span.start, first + span.end, span.label) for span in sentence.spans]
            first += len(sentence)
        return found

    def text(self, start: int, end: int) -> str:
        return " ".join(self.words[start:end])


def windows_of(size: int, room: int) -> list[range]:
    """Windows of `room` places over `size`, `STRIDE` apart (half of the room where that is less), the last at the end.

    Raises:
        ValueError: there is no room.
    """
    if room < 1:
        raise ValueError("a row has no room for a context beside its question")
    step = max(1, min(STRIDE, room // 2))
    starts = range(0, max(1, size - room + step), step)
    return [range(start, min(start + room, size)) for start in starts]


def most_around(windows: Sequence[range], size: int) -> list[np.ndarray]:
    """For each window, which of its places no other shows with more around them (the first of equals), (W,) bool.

    What is around a place is the less of what stands before and after it in a window, and a hundredth of the window's
    length (Devlin et al.'s code).
    """
    best, of = np.full(size, -np.inf), np.zeros(size, int)
    for number, window in enumerate(windows):
        places = np.arange(len(window))
        around = np.minimum(places, len(window) - 1 - places) + 0.01 * len(window)
        better = around > best[window.start : window.stop]
        of[window.start : window.stop][better] = number
        best[window.start : window.stop][better] = around[better]
    return [of[window.start : window.stop] == number for number, window in enumerate(windows)]


def spans(row: SpanRow, logits: np.ndarray) -> list[tuple[float, int, int]]:
    """The score, begin and end of the answers that a row may give, from its logits (2, at least L).

    The begin is a place that the row shows best, the end is at most `LONGEST` sub-words on, both are the context's, and
    each is among the `BEST` of the row. Where that leaves nothing, all begins and ends are asked.
    """
    starts, ends = logits[:, : len(row.words)]
    inside = row.words != NOWHERE
    for most in (BEST, len(starts)):
        begins, stops = (np.argsort(-of, kind="stable")[:most] for of in (starts, ends))
        begins, stops = begins[(inside & row.most)[begins]], stops[inside[stops]]
        length = stops[None] - begins[:, None]
        found = np.argwhere((length >= 0) & (length < LONGEST))
        if len(found):
            break
    pairs = ((int(begins[i]), int(stops[j])) for i, j in found)
    return [(float(starts[begin] + ends[end]), begin, end) for begin, end in pairs]
