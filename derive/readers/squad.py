"""Read questions with contexts and answers at character offsets, in SQuAD's JSON or one question per row."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from calque.derive import strict_json
from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.readers.english import split_sentences
from calque.derive.readers.lines import FORMAT_RUN, Place, decode, open_bytes
from calque.derive.sentence import Sentence, Span

LARGEST = 1 << 30  # maximum size of a file in bytes, after decompression
ANSWER = "answer"  # the label of an answer's span
UNANSWERABLE = "questions without an answer"
REMOVED = "questions whose answers were removed from their file"
WIDENED = "answers widened to whole words"
PARTED = "answers that cross a sentence boundary"
NOT_ASKED = "questions left out: every answer crosses a sentence boundary"
_ROW, _WHOLE = re.compile(r'\{\s*(?:".*)?"context"\s*:'), re.compile(r'"(?:data|paragraphs)"\s*:')
"""Patterns for a row with a question, and for a key that only SQuAD's format has."""
Json = Mapping[str, Any]
Chars = tuple[int, int]  # the offsets of the first character and of the one after the last


@dataclass(frozen=True)
class _Question:
    place: Place
    id: str
    question: str
    context: str
    answers: tuple[Chars, ...]

    def example(self, question: Sequence[Sentence], context: Sequence[Sentence]) -> Example:
        for what, text in (("question", question), ("context", context)):
            if not any(map(len, text)):
                raise self.place.fault(f"question {self.id!r}: the {what} has no words")
        return Example((tuple(question), tuple(context)), id=self.id)


def read_questions(path: Path, counts: Counter[str] | None = None) -> Iterator[Example]:
    """Stream a file's questions, split into sentences by rules for English. Answers are extended to whole
    words. Questions are left out if no answer lies within a sentence."""
    counts = Counter() if counts is None else counts
    for item in _questions(path, counts):
        question, context = _sentences(item.question, counts), _sentences(item.context, counts)
        example = item.example(question, context)
        spans = [_in_words(item.context, answer, context, counts) for answer in item.answers]
        for place, span in filter(None, spans):
            context[place] = replace(context[place], spans=(*context[place].spans, span))
        if any(spans):
            yield replace(example, texts=(example.texts[0], tuple(context)))
        else:
            counts[NOT_ASKED] += 1


def read_questions_as_written(path: Path, counts: Counter[str] | None = None) -> Iterator[Example]:
    """Stream a file's questions in any language. Each text is one sentence, split into words at white space
    and at the boundaries of answers, so that answers are exactly as annotated."""
    for item in _questions(path, Counter() if counts is None else counts):
        question = Sentence(tuple(item.question.split()))
        yield item.example([question], [_as_written(item.context, item.answers)])


def _sentences(text: str, counts: Counter[str]) -> list[Sentence]:
    return [Sentence(tuple(words)) for words in split_sentences(text, counts)]


def _in_words(
    text: str, answer: Chars, context: Sequence[Sentence], counts: Counter[str]
) -> tuple[int, Span] | None:
    """Return the index of an answer's sentence and its span, found by counting characters; None if it crosses
    a sentence boundary."""
    first, last = (_letters(text[:place]) for place in answer)
    begin = 0
    for place, sentence in enumerate(context):
        bounds = list(accumulate(map(_letters, sentence.words), initial=begin))
        if last > bounds[-1] > first:
            counts[PARTED] += 1
            return None
        if bounds[-1] > first:
            start, end = bisect_right(bounds, first) - 1, bisect_left(bounds, last, 1)
            if (bounds[start], bounds[end]) != (first, last):
                counts[WIDENED] += 1
            return place, Span(start, end, ANSWER)
        begin = bounds[-1]
    return None


def _letters(text: str) -> int:
    return len("".join(FORMAT_RUN.sub("", text).split()))  # words may lack format characters


def _as_written(text: str, answers: Sequence[Chars]) -> Sentence:
    bounds = sorted({place for answer in answers for place in answer})
    places, glued, end = list[Chars](), list[bool](), 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        parts = list(pairwise([start, *(bound for bound in bounds if start < bound < end), end]))
        places += parts
        glued += [False] + [True] * (len(parts) - 1)
    spans = []
    for first, last in answers:
        start, end = sum(b <= first for _, b in places), sum(a < last for a, _ in places)
        spans.append(Span(start, end, ANSWER))
    words = tuple(text[a:b] for a, b in places)
    return Sentence(words, spans=tuple(dict.fromkeys(spans)), glued=tuple(glued) if any(glued) else ())


def _questions(path: Path, counts: Counter[str]) -> Iterator[_Question]:
    questions = answered = 0
    for place, context, row in _rows(path, counts):
        id_ = _id_of(place, row)
        name = f"question {id_!r}"
        question = place.text(row.get("question"), f"{name}: question")
        given = _answers(place, row, name)
        answers = [(text, start) for text, start in given if text.strip()]
        questions += 1
        if not answers:
            counts[REMOVED if given else UNANSWERABLE] += 1
            continue
        answered += 1
        if empty := len(given) - len(answers):
            counts["empty answers to questions with other answers"] += empty
        chars = [_chars(place, name, context, *answer) for answer in answers]
        yield _Question(place, id_, question, context, tuple(dict.fromkeys(chars)))
    if not questions:
        raise BadInput(
            "this file contains no questions; SQuAD's JSON has the keys data, paragraphs and qas", path
        )
    if not answered:
        raise BadInput(f"none of {questions:,} questions has an answer; the data must be labelled", path)


def _id_of(place: Place, row: Json) -> str:
    id_ = row.get("id")
    if isinstance(id_, int) and not isinstance(id_, bool):
        return str(id_)
    return place.text(id_ or None, "a question: id")


def _answers(place: Place, row: Json, question: str) -> list[tuple[str, int]]:
    impossible, answers = row.get("is_impossible") or False, row.get("answers")
    if not isinstance(impossible, bool):
        raise place.fault(f"{question}: is_impossible is {impossible!r}; expected true or false")
    if impossible:
        return []
    if isinstance(answers, dict):  # stored as columns, as in exports of Hugging Face data sets
        texts, starts = answers.get("text"), answers.get("answer_start")
        if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
            raise place.fault(f"{question}: `text` and `answer_start` must be lists of equal length")
        answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]
    found = []
    for answer in _list(place, {"answers": answers}, "answers", question):
        of, start = f"an answer to {question}", answer.get("answer_start")
        if not isinstance(start, int) or isinstance(start, bool):
            raise place.fault(f"{of}: answer_start is {start!r}; expected a number of characters")
        found.append((place.text(answer.get("text"), f"{of}: text"), start))
    return found


def _chars(place: Place, question: str, context: str, text: str, start: int) -> Chars:
    if not 0 <= start <= len(context) or not context.startswith(text, start):
        near = context.find(text, max(0, start - 2), start + 2 + len(text))
        hint = f"; it starts at {near}" if near >= 0 else ""
        raise place.fault(f"{question}: the answer {text!r} is not at {start} of its context{hint}")
    bare = text.strip()
    start += text.index(bare)
    return start, start + len(bare)


def _rows(path: Path, counts: Counter[str]) -> Iterator[tuple[Place, str, Json]]:
    """Yield each question's location (with a line number only in JSON lines), context and row."""
    with open_bytes(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise BadInput(f"this file is larger than {LARGEST >> 20:,} MiB, too large to be read at once", path)
    text = decode(data, path, 1, counts)
    lines = text.removesuffix("\n").split("\n")
    place = Place(path)
    rows: list[tuple[Place, Json]]
    if _ROW.match(lines[0]) and not _WHOLE.search(lines[0]):
        numbered = [(Place(path, number), line) for number, line in enumerate(lines, start=1)]
        rows = [(at, at.json(line)) for at, line in numbered]
    else:
        try:
            whole = strict_json.loads(text)
        except ValueError as error:
            raise BadInput(f"this is not JSON: {error}", path) from None
        if not isinstance(whole, dict):
            raise BadInput(f"a JSON {type(whole).__name__}, not an object with `data` as in SQuAD", path)
        rows = [(place, article) for article in _list(place, whole, "data", "the file")]
    for place, row in rows:
        if place.line or "context" in row:
            yield place, place.text(row.get("context"), "a row: context"), row
            continue
        for paragraph in _list(place, row, "paragraphs", "an article"):
            context = place.text(paragraph.get("context"), "a paragraph: context")
            for question in _list(place, paragraph, "qas", "a paragraph"):
                yield place, context, question


def _list(place: Place, row: Json, key: str, of: str) -> list[Json]:
    value = row.get(key)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        found = "missing" if value is None else repr(value)
        raise place.fault(f"{of}: {key} is {found}; expected a list of objects")
    return value
