"""Questions about facts that a corpus states: the answer is a word of a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from derive.errors import BadInput
from derive.sentence import QUESTIONS, Sentence
from derive.transform import Transform
from derive.vocabulary import Vocabulary


@dataclass(frozen=True)
class Cloze:
    """A sentence, and the place of the answer in it."""

    sentence: Sentence
    place: int


@dataclass(frozen=True)
class Question:
    """A fact: its `answer` is one of the `candidates`, which are the same for all questions of a `relation`.

    Each of the `clozes` states the fact. `shared`: corpora of derived languages state it too, not the source's alone.
    """

    relation: str
    subject: str
    answer: str
    candidates: tuple[str, ...]
    clozes: tuple[Cloze, ...]
    shared: bool


def image_of_question(question: Question, transform: Transform, number: int) -> Question:
    """Question `number` in a derived language: the source's words in the order of the transform.

    Raises:
        BadInput: none of its clozes has an image.
    """
    clozes = []
    for place, cloze in enumerate(question.clozes):
        own = QUESTIONS.number(number, place)
        if not transform.leaves_out(cloze.sentence, own):
            image = transform(cloze.sentence, own)
            clozes.append(Cloze(image, image.origin.index(cloze.place)))
    if not clozes:
        raise BadInput(f"{transform.name} has no image of a sentence with the fact about {question.subject}")
    return replace(question, clozes=tuple(clozes))


def check_answers(questions: Iterable[Question], vocabulary: Vocabulary) -> None:
    """Refuse a vocabulary in which an answer is several sub-words: candidates are compared at one masked place."""
    words = sorted({word for question in questions for word in question.candidates})
    if cut := [word for word in words if len(vocabulary.encode(word)) > 1]:
        raise BadInput(
            f"{len(cut)} of {len(words)} answers are several sub-words, such as {cut[0]!r}; expected a vocabulary of "
            f"more than {vocabulary.size:,} types, or more mentions of each fact"
        )
