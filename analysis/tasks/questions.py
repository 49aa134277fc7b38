"""Tasks in which a question is answered by a span of its context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import ClassVar

import numpy as np

from analysis.baselines.baseline import Baseline
from analysis.baselines.known_answer import KnownAnswer
from analysis.tasks.head import Head
from analysis.tasks.rows import UNLABELLED, Pieces, Reader, Row
from analysis.tasks.score import Answer, Metric, Score
from analysis.tasks.span_head import SpanHead
from analysis.tasks.squad import EXACT, F1, answer_scores
from analysis.tasks.task import Task
from derive.example import Example
from derive.sentence import Sentence

QUESTION = 64
"""Sub-words of a question that a row has room for; of a longer one the end is left out."""
STRIDE = 128
"""Sub-words from the begin of a context's window to that of the next."""
BEST, LONGEST = 20, 30
"""Of how many begins and ends the best pair is looked for, and how many sub-words an answer has at most."""
NOWHERE = -1
"""What an id stands for that is not the context's."""


@dataclass(frozen=True, slots=True)
class SpanRow(Row):
    """A question with a window of its context.

    `starts` and `ends` (L,) are the characters of the context that an id stands for, NOWHERE at others than its own,
    and `most` (L,) says whether no other window shows the id with more around it.
    """

    starts: np.ndarray
    ends: np.ndarray
    most: np.ndarray

    @property
    def context(self) -> np.ndarray:
        """Which ids are the context's, (L,) bool."""
        return self.starts != NOWHERE

    @property
    def inside(self) -> np.ndarray:
        """Which ids stand for some of the context, (L,) bool: a mark of a space, as some tokenizers have, does not."""
        return self.starts < self.ends


class Questions(Task):
    """The answer to a question is a span of its context; scored as SQuAD v1.1 is, unless a task does it otherwise.

    The first text is the question, the second the context, in which spans are right answers: several where annotators
    gave several, or where another word order tore one apart, of which each piece is right then and the longest is
    learnt. An answer without sub-words is not learnt. A context that is too long for a row stands
    in several, which begin `STRIDE` sub-words after each other. One that lacks the answer has its first id for begin
    and end (Devlin et al. 2019).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (F1, EXACT)
    printed: ClassVar[str] = "f1"
    head: ClassVar[Head] = SpanHead()
    of_pairs: ClassVar[bool] = True
    baselines: ClassVar[tuple[Baseline, ...]] = (KnownAnswer(),)

    @property
    def data(self) -> str:
        return "qa"

    def gold(self, example: Example) -> Answer:
        text, answers = _context(example)
        return tuple(dict.fromkeys(text[start:end] for start, end in answers))

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        return ()

    def said(self, gold: Answer) -> Answer:
        return gold[:1]

    def rows(
        self, example: Example, gold: Answer, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[Row], bool]:
        question, context = example.texts
        asked, pieces = reader.ids(question), reader.of_text(1).read(context)
        answer = _learnt(pieces, _answers(context))
        shown = asked[: min(QUESTION, length // 2 - 2)]
        first_place = len(reader.pairs.before) + len(shown) + len(reader.pairs.between)
        windows = windows_of(len(pieces), length - first_place - len(reader.pairs.after))
        rows: list[Row] = []
        for window, most in zip(windows, most_around(windows, len(pieces)), strict=True):
            here, shift = slice(window.start, window.stop), first_place - window.start
            target = [UNLABELLED] * 2
            if answer:
                first, last = answer
                target = [first + shift, last + shift] if window.start <= first and last < window.stop else [0, 0]
            row = reader.row_of_texts([shown, pieces.ids[here]], target)
            columns = (np.full(len(row.ids), NOWHERE), np.full(len(row.ids), NOWHERE), np.zeros(len(row.ids), bool))
            for column, values in zip(columns, (pieces.starts[here], pieces.ends[here], most), strict=True):
                column[first_place : first_place + len(window)] = values
            rows.append(SpanRow(row.ids, row.targets, *columns, languages=row.languages, types=row.types))
        return rows, len(rows) == 1 and len(shown) == len(asked)

    def decode(
        self, example: Example, rows: Sequence[Row], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        text, _ = _context(example)
        for most in (BEST, None):
            found = [
                (score, int(row.starts[begin]), int(row.ends[end]))
                for row, logits in zip(rows, answers, strict=True)
                if isinstance(row, SpanRow)
                for score, begin, end in spans(row, logits, most)
            ]
            if found:
                _, start, stop = max(found, key=itemgetter(0))  # of equals the first
                return (text[start:stop].strip(),)  # a mark of a space at its end includes the space before it
        raise AssertionError("every place of a context is one that some window shows best")

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        return answer_scores(gold, predicted)


def _context(example: Example) -> tuple[str, list[tuple[int, int]]]:
    """The text of an example's context, and the characters of the right answers: of each the first, and below which."""
    if len(example.texts) != 2:
        raise ValueError(f"expected a question and a context, found {len(example.texts)} texts")
    question, context = example.texts
    if not any(map(len, question)):
        raise ValueError("the question has no words")
    if not (answers := _answers(context)):
        raise ValueError("the context has no answer")
    return " ".join(sentence.text for sentence in context), answers


def _learnt(pieces: Pieces, answers: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The sub-words of the longest answer; None if no answer has any."""
    longest_first = sorted(answers, key=lambda answer: answer[0] - answer[1])
    return next((found for answer in longest_first if (found := pieces.between(*answer))), None)


def _answers(context: Sequence[Sentence]) -> list[tuple[int, int]]:
    """The characters of the right answers in the text of a context."""
    answers: list[tuple[int, int]] = []
    begin = 0
    for sentence in context:
        for span in sentence.spans:
            start = begin + sentence.length(span.start + 1) - len(sentence.words[span.start])
            answers.append((start, begin + sentence.length(span.end)))
        begin += sentence.length(len(sentence)) + 1
    return answers


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


def spans(row: SpanRow, logits: np.ndarray, most: int | None = BEST) -> list[tuple[float, int, int]]:
    """The score, begin and end of the answers that a row may give, from its logits (2, at least L).

    The begin is a place that the row shows best, the end is at most `LONGEST` sub-words on, both are the context's, and
    each is among the `most` best of the row (None: whichever). Either may be a mark of a space, but some letter
    has to be between them.
    """
    starts, ends = logits[:, : len(row.ids)]
    context, letters_before = row.context, np.append(0, np.cumsum(row.inside))
    begins, stops = (np.argsort(-of, kind="stable")[:most] for of in (starts, ends))
    begins, stops = begins[(context & row.most)[begins]], stops[context[stops]]
    length, letters = stops[None] - begins[:, None], letters_before[stops + 1][None] - letters_before[begins][:, None]
    found = np.argwhere((length >= 0) & (length < LONGEST) & (letters > 0))
    pairs = ((int(begins[i]), int(stops[j])) for i, j in found)
    return [(float(starts[begin] + ends[end]), begin, end) for begin, end in pairs]
