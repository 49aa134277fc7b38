"""Questions in derived languages, and answers that a vocabulary can name at one place."""

from collections import Counter

import pytest

from derive.bpe import learn_of_words
from derive.build import check_answers
from derive.errors import BadInput
from derive.order import Invert, Permute
from derive.pocket.facts import Facts
from derive.pocket.language import Pocket
from derive.script import Transliterate
from derive.sources.pocket import PocketEnglish
from derive.transform import Transform, compose, image_of_question

SOURCE = PocketEnglish(Pocket(types=300), 200, facts=Facts(subjects=6, values=3, mentions=2))


ORDERS = Transliterate(), compose(Transliterate(), Invert()), Permute()


@pytest.mark.parametrize("transform", ORDERS, ids=lambda transform: transform.name)
def test_the_place_follows_the_word(transform: Transform) -> None:
    moved = False
    for number, question in enumerate(SOURCE.questions()):
        image = image_of_question(question, transform, number)
        assert (image.answer, image.subject, image.shared) == (question.answer, question.subject, question.shared)
        for before, after in zip(question.clozes, image.clozes, strict=True):
            assert after.sentence.words[after.place] == question.answer
            assert sorted(after.sentence.words) == sorted(before.sentence.words)
            moved |= after.place != before.place
    assert moved is (transform != Transliterate())


def test_an_answer_of_several_sub_words_is_refused_and_named() -> None:
    words = Counter(word for chunk in SOURCE.chunks() for s in SOURCE.sentences(chunk)[0] for word in s.words)
    questions = SOURCE.questions()
    answers = Counter({word: 10**6 for question in questions for word in question.candidates})
    check_answers(questions, learn_of_words(words + answers, 500))
    with pytest.raises(BadInput, match=r"of 12 answers are several sub-words, such as .* more than 300 types"):
        check_answers(questions, learn_of_words(words, 300))
    check_answers((), learn_of_words(words, 300))
