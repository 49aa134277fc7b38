"""Read questions with contexts and answers at character offsets, in SQuAD's JSON."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from calque.derive import strict_json
from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.readers.lines import Place, decode, open_bytes
from calque.derive.sentence import Sentence, Span

ANSWER = "answer"  # the label of an answer's span
Json = Mapping[str, Any]
Chars = tuple[int, int]  # the offsets of the first character and of the one after the last


def read_questions(path: Path, counts: Counter[str] | None = None) -> Iterator[Example]:
    """Stream a file's questions in any language; those without an answer are left out. Each text is one
    sentence, split into words at white space and at the boundaries of answers, so that answers are exactly as
    annotated."""
    place, counts = Place(path), Counter() if counts is None else counts
    questions = answered = 0
    for context, row in _rows(place, counts):
        questions += 1
        id_ = place.text(str(row["id"]) if row.get("id") else None, "a question's id")
        question = place.text(row.get("question"), f"question {id_!r}: question")
        answers = (
            [] if row.get("is_impossible") else _list(place, row.get("answers"), f"question {id_!r}: answers")
        )
        chars = [_chars(place, id_, context, answer) for answer in answers if answer.get("text") != ""]
        if not chars:
            counts["questions without an answer"] += 1
            continue
        if not question.split():
            raise place.fault(f"question {id_!r} has no words")
        answered += 1
        texts = Sentence(tuple(question.split())), _as_written(context, list(dict.fromkeys(chars)))
        yield Example(tuple((text,) for text in texts), id=id_)
    if not answered:
        raise BadInput(f"none of {questions:,} questions has an answer; the data must be labelled", path)


def _chars(place: Place, question: str, context: str, answer: Json) -> Chars:
    text, start = (
        place.text(answer.get("text"), f"question {question!r}: an answer"),
        answer.get("answer_start"),
    )
    bare = text.strip()
    if not bare or type(start) is not int or start < 0 or not context.startswith(text, start):
        near = f"; it starts at {context.find(text)}" if text in context else ""
        raise place.fault(
            f"question {question!r}: the answer {text!r} is not at {start!r} of its context{near}"
        )
    start += text.index(bare)
    return start, start + len(bare)


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


def _rows(place: Place, counts: Counter[str]) -> Iterator[tuple[str, Json]]:
    """Yield each question's context and row."""
    with open_bytes(place.path) as file:
        text = decode(file.read(), place.path, 1, counts)
    try:
        data = strict_json.loads(text)
    except ValueError as error:
        raise place.fault(f"not JSON: {error}") from None
    for article in _list(place, data.get("data") if isinstance(data, dict) else None, "data, as in SQuAD"):
        for paragraph in _list(place, article.get("paragraphs"), "an article's paragraphs"):
            context = place.text(paragraph.get("context"), "a paragraph's context")
            for question in _list(place, paragraph.get("qas"), "a paragraph's qas"):
                yield context, question


def _list(place: Place, value: Any, what: str) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise place.fault(f"{what}: expected a list of objects")
    return value
