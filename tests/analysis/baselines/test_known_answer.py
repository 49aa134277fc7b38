"""The baseline of questions: by hand, and on those that were made so that it should not do."""

from __future__ import annotations

from analysis.baselines.known_answer import KnownAnswer
from analysis.tasks.qa import QA
from derive.example import Example
from derive.pocket.language import Pocket
from derive.sentence import Sentence, Span
from tests.analysis.baselines.made import as_is, foreign


def asked(question: str, context: str, answer: tuple[int, int, int] = (0, 0, 1)) -> Example:
    """Sentences of the context end with a full stop; the answer is of a sentence from a word to below another."""
    sentences = [Sentence(tuple(f"{part}.".replace(".", " .").split())) for part in context.split(" . ")]
    place, start, end = answer
    spans = (Span(start, end, "answer"),)
    sentences[place] = Sentence(sentences[place].words, spans=spans)
    return Example(((Sentence(tuple(question.split())),), tuple(sentences)))


TRAIN = [
    (asked("who saw tom ?", "the dog saw tom . eve ran", (0, 0, 2)), ("the dog",)),
    (asked("who ran ?", "the dog saw tom . eve ran", (1, 0, 1)), ("eve",)),
]


def said(question: str, context: str) -> str:
    learnt = KnownAnswer().learn(TRAIN, as_is)
    ((answer,),) = learnt([asked(question, context)], as_is)
    return answer


def test_a_known_answer_of_the_sentence_that_is_most_like_the_question() -> None:
    assert said("who saw the man ?", "eve ran . eve saw a man . the dog saw the man") == "eve"  # `the` is asked with
    assert said("who saw tom ?", "eve ran . the dog saw tom") == "the dog"
    assert said("who saw eve ?", "tom saw eve . the dog ran") == "the dog"  # eve is in the question


def test_without_a_known_answer_any_word_that_is_not_asked_with() -> None:
    assert said("who saw tom ?", "ann saw tom . tom ran") == "ann"
    assert said("tom .", "tom") == "tom"


def test_words_of_another_script_are_not_known_and_answers_are_words_of_the_context() -> None:
    learnt = KnownAnswer().learn(TRAIN, as_is)
    example = asked("who saw tom ?", "red men ran . the dog saw tom")
    assert learnt([example], foreign) == [("the",)]  # of the sentence with most of the question; `the dog` is unknown
    assert KnownAnswer().learn([], as_is)([example], as_is) == [("the",)]


def test_where_an_answer_ends_within_a_word_is_not_known_to_who_is_asked() -> None:
    """A text that stays as it is written is cut there: `eve's` into an answer and the rest."""
    cut = Sentence(("eve", "'s", "dog"), spans=(Span(0, 1, "answer"),), glued=(False, True, False))
    example = Example(((Sentence(("who", "?")),), (cut,)))
    assert KnownAnswer().learn(TRAIN, as_is)([example], as_is) == [("eve's",)]


def test_it_does_not_answer_questions_of_pocket_english() -> None:
    task = QA()
    examples = list(Pocket(300).questions(1_500))
    right = [(example, task.gold(example)) for example in examples]
    answers = KnownAnswer().learn(right[:1_000], as_is)(examples[1_000:], as_is)
    scores = task.scores([gold for _, gold in right[1_000:]], answers)
    assert 0.1 < scores["exact"].value <= 0.4
