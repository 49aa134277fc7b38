"""Question answering tasks, whose answers are spans in a context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from calque.analysis.tasks.baselines import Answer, KnownAnswer
from calque.analysis.tasks.score import ARTICLES, EXACT, F1, Score, answer_scores, mlqa_words
from calque.analysis.tasks.task import Reader, SpanHead, Task, TaskRow
from calque.derive.errors import BadInput
from calque.derive.sentence import Example, Sentence

QUESTION = 64  # maximum number of sub-words in a question; longer questions are truncated
STRIDE = 128  # number of sub-words between the starts of consecutive windows
BEST = 20  # number of best starts, and of best ends, that are paired
LONGEST = 30  # maximum number of sub-words in an answer
NOWHERE = -1  # the character position of ids that are not in the context


@dataclass(frozen=True, slots=True)
class SpanRow(TaskRow):
    """A question with a window of its context. `starts` and `ends` (L,) are each id's character offsets in
    the context, or NOWHERE; `best` (L,) says whether no other window shows more context around the id."""

    starts: np.ndarray
    ends: np.ndarray
    best: np.ndarray


class Questions(Task):
    """A task whose answers are spans in a context, scored as in SQuAD v1.1. In rows without the answer, both
    targets are the first id (Devlin et al. 2019)."""

    data = "qa"
    metrics = (F1, EXACT)
    head = SpanHead()
    baselines = (KnownAnswer(),)

    def gold(self, example: Example) -> Answer:
        text, answers = _context(example)
        return tuple(dict.fromkeys(text[start:end] for start, end in answers))

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        return ()

    def rows(
        self, example: Example, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[TaskRow], bool]:
        question, context = reader.read(example.texts[0]).ids, reader.read(example.texts[1])
        longest_first = sorted(_answers(example.texts[1]), key=lambda answer: answer[0] - answer[1])
        answer = next(filter(None, (context.between(*offsets) for offsets in longest_first)), None)
        if not answer:
            raise ValueError("the answer has no sub-words")
        truncated = question[: min(QUESTION, length // 2 - 2)]
        first_place = len(reader.row_of_texts([truncated, truncated[:0]], ()).ids) - 1
        windows = windows_of(len(context), length - first_place - 1)
        rows: list[TaskRow] = []
        for window, best in zip(windows, best_places(windows, len(context)), strict=True):
            section, target = slice(window.start, window.stop), [0, 0]
            if window.start <= answer[0] and answer[1] < window.stop:
                target = [place + first_place - window.start for place in answer]
            row = reader.row_of_texts([truncated, context.ids[section]], target)
            around = first_place, len(row.ids) - first_place - len(window)
            starts = np.pad(context.starts[section], around, constant_values=NOWHERE)
            ends = np.pad(context.ends[section], around, constant_values=NOWHERE)
            columns = row.ids, row.targets, starts, ends, np.pad(best, around)
            rows.append(SpanRow(*columns, language=row.language, types=row.types))
        return rows, len(rows) == 1 and len(truncated) == len(question)

    def decode(
        self, example: Example, rows: Sequence[TaskRow], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        text, _ = _context(example)
        pairs = [(row, logits) for row, logits in zip(rows, answers, strict=True) if isinstance(row, SpanRow)]
        for limit in (BEST, None):
            if candidates := [(*span, row) for row, logits in pairs for span in spans(row, logits, limit)]:
                _, start, end, row = max(candidates, key=lambda span: span[0])  # the first in case of a tie
                answer = text[row.starts[start] : row.ends[end]]
                return (answer.strip(),)  # a sub-word that is only a space marker covers a space
        raise AssertionError("every position of a context has a best window")

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        return answer_scores(gold, predicted)


class QA(Questions):
    name = "qa"
    title = "QA"
    summary = "QA finds the answer to a question in a passage."


class XQuAD(Questions):
    """XQuAD (Artetxe et al. 2020)."""

    name = "xquad"
    title = "XQuAD"
    summary = "XQuAD is QA on translations of SQuAD."


class TyDiQA(Questions):
    """TyDiQA-GoldP (Clark et al. 2020)."""

    name = "tydiqa"
    title = "TyDiQA"
    summary = "TyDiQA is QA on questions written by speakers of each language."


@dataclass(frozen=True)
class MLQA(Questions):
    """MLQA (Lewis et al. 2020)."""

    language: str = "en"

    name = "mlqa"
    title = "MLQA"
    summary = "MLQA is QA with language-specific rules for comparing answers."

    def in_language(self, name: str) -> MLQA:
        if name not in ARTICLES:
            raise BadInput(f"MLQA has no scoring rules for {name}, only for {', '.join(ARTICLES)}")
        return MLQA(name)

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        return answer_scores(gold, predicted, partial(mlqa_words, language=self.language))


def _context(example: Example) -> tuple[str, list[tuple[int, int]]]:
    """Return a question's context and the character offsets of its answers."""
    if len(example.texts) != 2:
        raise ValueError(f"an example should have a question and a context, not {len(example.texts)} texts")
    question, context = example.texts
    if not any(map(len, question)):
        raise ValueError("the question has no words")
    if not (answers := _answers(context)):
        raise ValueError("the context has no answer")
    return " ".join(sentence.text for sentence in context), answers


def _answers(context: Sequence[Sentence]) -> list[tuple[int, int]]:
    """Return the start and end of each answer, in characters of the context."""
    answers, first = list[tuple[int, int]](), 0
    for sentence in context:
        for span in sentence.spans:
            start = first + sentence.length(span.start + 1) - len(sentence.words[span.start])
            answers.append((start, first + sentence.length(span.end)))
        first += sentence.length(len(sentence)) + 1
    return answers


def windows_of(size: int, room: int) -> list[range]:
    """Return windows of `room` positions over `size` positions; they start STRIDE or `room` / 2 apart,
    whichever is less."""
    if room < 1:
        raise ValueError("the question leaves no room for a context in the row")
    step = max(1, min(STRIDE, room // 2))
    starts = range(0, max(1, size - room + step), step)
    return [range(start, min(start + room, size)) for start in starts]


def best_places(windows: Sequence[range], size: int) -> list[np.ndarray]:
    """For each window, return whether each position has more context there than in any other window (ties go
    to the first). Context is the smaller number of positions on either side, plus a hundredth of the window's
    length, as in Devlin et al.'s code."""
    context = np.full((len(windows), size), -np.inf)
    for number, window in enumerate(windows):
        places = np.arange(len(window))
        context[number, window.start : window.stop] = np.minimum(places, places[::-1]) + 0.01 * len(window)
    best = context.argmax(0)
    return [best[window.start : window.stop] == number for number, window in enumerate(windows)]


def spans(row: SpanRow, logits: np.ndarray, limit: int | None = BEST) -> list[tuple[float, int, int]]:
    """Return the score, start and end of each possible answer in a row, given `logits` (2, at least L).
    Starts and ends are restricted to the `limit` best positions each (None: unrestricted)."""
    starts, ends = logits[:, : len(row.ids)]
    context = row.starts != NOWHERE
    firsts, lasts = (np.argsort(-scores, kind="stable")[:limit] for scores in (starts, ends))
    firsts, lasts = firsts[(context & row.best)[firsts]], lasts[context[lasts]]
    length, letters = lasts[None] - firsts[:, None], row.ends[lasts][None] - row.starts[firsts][:, None]
    indices = np.argwhere((length >= 0) & (length < LONGEST) & (letters > 0))
    pairs = ((int(firsts[i]), int(lasts[j])) for i, j in indices)
    return [(float(starts[first] + ends[last]), first, last) for first, last in pairs]
