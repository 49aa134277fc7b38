"""Questions with their contexts and answers, in the JSON of SQuAD: SQuAD, XQuAD, MLQA, TyDiQA-GoldP; or a row each.

An answer is given by its text and where it begins in the context, in characters (Unicode code points) from 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from derive import strict_json
from derive.errors import BadInput
from derive.example import Example
from derive.readers.compressed import opened
from derive.readers.english import split_sentences
from derive.readers.lines import decode
from derive.sentence import Sentence, Span

LARGEST = 1 << 30
"""Bytes of the largest file, decompressed."""
ANSWER = "answer"
"""The label of an answer's span."""
UNANSWERABLE = "questions without an answer"
REMOVED = "questions whose answers were removed from their file"
WIDENED = "answers widened to whole words"
PARTED = "answers that reach over the end of a sentence"
NOT_ASKED = "questions left out: every answer reaches over the end of a sentence"
_ROW, _WHOLE = re.compile(r'\{\s*(?:".*)?"context"\s*:'), re.compile(r'"(?:data|paragraphs)"\s*:')
"""A line that is a row with a question, and a key that only a whole file has."""
Chars = tuple[int, int]
"""The first character, and the one after the last."""


@dataclass(frozen=True)
class _Asked:
    """A question as it stands in its file."""

    line: int | None
    id: str
    question: str
    context: str
    answers: tuple[Chars, ...]


def read_questions(path: Path, counts: Counter[str] | None = None) -> Iterator[Example]:
    """The questions of a file with their contexts cut into sentences and words by rules for English.

    An answer that begins or ends inside a word is widened to all of it; where the only answers reach over the end of a
    sentence the question is left out. Both are counted in `counts`, and so are questions without an answer, as SQuAD 2
    has them, and with empty answers, as published test sets have them, which are left out. Rows with `context`,
    `question` and `answers`, as data sets are exported, are read from JSON lines or from `data`.

    Raises:
        BadInput: no such file, no JSON of this form, a text without words, an answer that does not stand where it
            should, or no question that has one. With the line in JSON lines.
    """
    counts = Counter() if counts is None else counts
    for asked in _asked(path, counts):
        question = tuple(Sentence(tuple(words)) for words in split_sentences(asked.question))
        context = [Sentence(tuple(words)) for words in split_sentences(asked.context)]
        _check_words(path, asked, question, context)
        spans = [_in_words(asked, answer, context, counts) for answer in asked.answers]
        if kept := [span for span in spans if span]:
            for place, span in kept:
                own = context[place]
                context[place] = Sentence(own.words, spans=(*own.spans, span))
            yield Example((question, tuple(context)), id=asked.id)
        else:
            counts[NOT_ASKED] += 1


def read_questions_as_written(path: Path, counts: Counter[str] | None = None) -> Iterator[Example]:
    """The questions of a file in any language, each text one sentence as it is written.

    Words end at white space, and where an answer begins or ends, so that answers are what annotators marked, to the
    character. A run of white space is one space.

    Raises:
        BadInput: as `read_questions`.
    """
    counts = Counter() if counts is None else counts
    for asked in _asked(path, counts):
        question, context = Sentence(tuple(asked.question.split())), _as_written(asked.context, asked.answers)
        _check_words(path, asked, (question,), (context,))
        yield Example(((question,), (context,)), id=asked.id)


def _check_words(path: Path, asked: _Asked, question: Sequence[Sentence], context: Sequence[Sentence]) -> None:
    for what, text in (("question", question), ("context", context)):
        if not any(map(len, text)):
            raise BadInput(f"question {asked.id!r}: the {what} has no words", path, asked.line)


def _in_words(
    asked: _Asked, answer: Chars, context: Sequence[Sentence], counts: Counter[str]
) -> tuple[int, Span] | None:
    """An answer as words of a sentence, and which sentence; None where it is of several.

    Words are the text without its white space, so letters are counted without it.
    """
    first, last = (_letters(asked.context[:place]) for place in answer)
    begin = 0
    for place, sentence in enumerate(context):
        ends = [begin + end for end in accumulate(map(_letters, sentence.words))]
        if first < ends[-1]:
            start = next(i for i, end in enumerate(ends) if end > first)
            if last > ends[-1]:
                counts[PARTED] += 1
                return None
            stop = next(i for i, end in enumerate(ends) if end >= last)
            if (ends[start - 1] if start else begin) != first or ends[stop] != last:
                counts[WIDENED] += 1
            return place, Span(start, stop + 1, ANSWER)
        begin = ends[-1]
    return None


def _letters(text: str) -> int:
    """How many characters are no white space."""
    return len("".join(text.split()))


def _as_written(text: str, answers: Sequence[Chars]) -> Sentence:
    """A text as one sentence, with its answers as spans."""
    bounds = sorted({place for answer in answers for place in answer})
    words, glued, starts = [], [], []
    place = 0
    for word in text.split():
        place = text.index(word, place)
        end = place + len(word)
        cuts = [place, *(bound for bound in bounds if place < bound < end), end]
        for a, b in pairwise(cuts):
            words.append(text[a:b])
            glued.append(a > place)
            starts.append(a)
        place = end
    spans = {
        Span(
            sum(start + len(word) <= first for start, word in zip(starts, words, strict=True)),
            sum(start < last for start in starts),
            ANSWER,
        ): None
        for first, last in answers
    }
    return Sentence(tuple(words), spans=tuple(spans), glued=tuple(glued) if any(glued) else ())


def _asked(path: Path, counts: Counter[str]) -> Iterator[_Asked]:
    """Each question that has an answer, every answer checked."""
    questions = answered = 0
    for line, context, row in _rows(path, counts):
        question = _Question.of(path, line, row)
        questions += 1
        answers = [answer for answer in question.answers if answer[0].strip()]
        if not answers:
            counts[REMOVED if question.answers else UNANSWERABLE] += 1
            continue
        answered += 1
        if empty := len(question.answers) - len(answers):
            counts["empty answers of questions that have others"] += empty
        places = (_place(path, line, question.id, context, answer) for answer in answers)
        yield _Asked(line, question.id, question.text, context, tuple(dict.fromkeys(places)))
    if not questions:
        raise BadInput("no question; expected the JSON of SQuAD: data, paragraphs, qas", path)
    if not answered:
        raise BadInput(f"none of {questions:,} questions has an answer; expected labelled data", path)


def _place(path: Path, line: int | None, id_: str, context: str, answer: tuple[str, int]) -> Chars:
    """Where an answer stands, without white space around it."""
    text, start = answer
    if not 0 <= start <= len(context) or not context.startswith(text, start):
        near = context.find(text, max(0, start - 2), start + 2 + len(text))
        told = f"; it begins at {near}: the offset is off by {abs(near - start)}" if near >= 0 else ""
        there = "" if near >= 0 or text in context else ", nor anywhere in it"
        fault = f"question {id_!r}: the answer {text!r} is not at {start} of its context{there}{told}"
        raise BadInput(fault, path, line)
    bare = text.strip()
    start += text.index(bare)
    return start, start + len(bare)


@dataclass(frozen=True)
class _Question:
    """A question with its answers, each its text and the character at which it begins."""

    id: str
    text: str
    answers: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, path: Path, line: int | None, row: Mapping[str, Any]) -> _Question:
        id_ = row.get("id")
        if not isinstance(id_, str | int) or isinstance(id_, bool) or id_ == "":
            raise BadInput(f"a question with the id {id_!r}; expected some text", path, line)
        if isinstance(id_, str):
            _string(path, line, row, "id", "a question")
        text = _string(path, line, row, "question", f"question {id_!r}")
        answers = row.get("answers")
        impossible = row.get("is_impossible")
        if not (impossible is None or isinstance(impossible, bool)):
            raise BadInput(f"question {id_!r}: is_impossible is {impossible!r}; expected true or false", path, line)
        if impossible:
            answers = []
        elif isinstance(answers, dict):  # a column each, as data sets are exported
            texts, starts = answers.get("text"), answers.get("answer_start")
            if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
                fault = f"question {id_!r}: expected lists `text` and `answer_start` in answers, as long as each other"
                raise BadInput(fault, path, line)
            answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]
        else:
            answers = _list(path, line, row, "answers", f"question {id_!r}")
        found = []
        for answer in answers:
            of = f"an answer to {id_!r}"
            start = answer.get("answer_start")
            if not isinstance(start, int) or isinstance(start, bool):
                raise BadInput(f"{of}: answer_start is {start!r}; expected a number of characters", path, line)
            found.append((_string(path, line, answer, "text", of), start))
        return cls(str(id_), text, tuple(found))


def _rows(path: Path, counts: Counter[str]) -> Iterator[tuple[int | None, str, Mapping[str, Any]]]:
    """Each context with a question of it; their line where it is a line of JSON lines."""
    with opened(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise BadInput(f"more than {LARGEST >> 20:,} MiB, which are read at once; expected less", path)
    text = decode(data, path, 1, counts)
    lines = text.split("\n")
    if _ROW.match(lines[0]) and not _WHOLE.search(lines[0]):
        for number, line in enumerate(lines[: len(lines) - (not lines[-1])], start=1):
            one = strict_json.line(line, path, number)
            yield number, _string(path, number, one, "context", "a row"), one
        return
    try:
        made = strict_json.loads(text)
    except ValueError as error:
        raise BadInput(f"not JSON: {error}; expected that of SQuAD", path) from None
    if not isinstance(made, dict):
        raise BadInput(f"a JSON {type(made).__name__}; expected that of SQuAD, an object with data", path)
    for article in _list(path, None, made, "data", "the file"):
        if "context" in article:
            yield None, _string(path, None, article, "context", "a row"), article
            continue
        for paragraph in _list(path, None, article, "paragraphs", "an article"):
            context = _string(path, None, paragraph, "context", "a paragraph")
            for row in _list(path, None, paragraph, "qas", "a paragraph"):
                yield None, context, row


def _list(path: Path, line: int | None, row: Mapping[str, Any], key: str, of: str) -> list[Mapping[str, Any]]:
    value = row.get(key)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise BadInput(f"{of}: {key} is {_told(value)}; expected a list of objects", path, line)
    return value


def _string(path: Path, line: int | None, row: Mapping[str, Any], key: str, of: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise BadInput(f"{of}: {key} is {_told(value)}; expected text", path, line)
    if not strict_json.is_text(value):
        raise BadInput(f"{of}: {key} holds half of a surrogate pair or a NUL; expected text", path, line)
    return value


def _told(value: Any) -> str:
    return "missing" if value is None else repr(value)
