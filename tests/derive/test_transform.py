"""Transforms: compositions, their names, numbers and accounts; images hold a sentence's words and no others."""

from collections import Counter
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.build import check_answers
from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.grammar.model import Grammar
from calque.derive.order import Invert, Permute
from calque.derive.pocket.facts import Facts
from calque.derive.pocket.language import Pocket
from calque.derive.reorder import PocketTreebank, Reorder
from calque.derive.script import Transliterate
from calque.derive.sentence import PARTS, Sentence, Span
from calque.derive.sources.pocket import PocketEnglish
from calque.derive.transform import (
    Account,
    Compose,
    Transform,
    compose,
    image_of,
    image_of_example,
    image_of_question,
)
from calque.derive.vocabulary import learn_of_words
from tests.derive.strategies import law, sentences, transforms


def beyond(inner: Transform, number: int) -> int:
    """The number that the first part after `inner` draws from."""
    return PARTS.number(len(inner.parts) if isinstance(inner, Compose) else 1, number)


@law
@given(sentences(), transforms(), transforms(), st.integers(0, 2**40))
def test_composition_is_one_after_the_other(
    sentence: Sentence, outer: Transform, inner: Transform, number: int
) -> None:
    both = compose(outer, inner)
    assert both(sentence, number) == outer(inner(sentence, number), beyond(inner, number))
    assert both.name == f"{outer.name}.{inner.name}"
    assert both.spell("Sara") == outer.spell(inner.spell("Sara"))


@dataclass(frozen=True)
class Sort(Transform):
    """A transform of no trees that says how many words it met."""

    name = "sort"

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return sentence.reorder(sorted(range(len(sentence)), key=sentence.words.__getitem__))

    def account(self, sentence: Sentence, number: int = 0) -> Counter[str]:
        return Counter({f"words before {sentence.words[0]}": len(sentence)})


VERBFINAL = Reorder(
    PocketTreebank("verbfinal"), PocketTreebank("english"), grammar=Grammar.train(Pocket(types=300).sentences(40), "x")
)
EVERY = (
    Transliterate(0.25),
    Invert(),
    Invert(0.5),
    Permute(1),
    Sort(),
    VERBFINAL,
    replace(VERBFINAL, p=0.5),
    compose(Invert(0.5), Sort()),
)
TREES = [*Pocket(types=300).sentences(60), Sentence(tuple("abcdefgh"), ("VERB",) * 8, (-1, *[0] * 7), ("root",) * 8)]


@law
@given(st.sampled_from(EVERY), st.sampled_from(EVERY), st.sampled_from(TREES), st.integers(0, 2**40))
def test_a_pair_of_transforms_has_the_account_of_both(
    outer: Transform, inner: Transform, sentence: Sentence, number: int
) -> None:
    both, between, after = compose(outer, inner), inner(sentence, number), beyond(inner, number)
    assert both.account(sentence, number) == inner.account(sentence, number) + outer.account(between, after)
    assert ("trees" in both.needs) == ("trees" in outer.needs or "trees" in inner.needs)
    image_of(both, sentence, number, Account())


def labelled(sentence: Sentence) -> dict[int, str]:
    """What each word of an entity is a part of."""
    return {place: span.label for span in sentence.spans for place in range(span.start, span.end)}


@law
@given(sentences(), transforms(), st.integers(0, 2**40))
def test_every_transform_keeps_words_and_what_belongs_to_them(
    sentence: Sentence, transform: Transform, number: int
) -> None:
    image = transform(sentence, number)
    assert image == transform(sentence, number)
    assert sorted(image.origin) == list(range(len(sentence)))
    # Applying the order that the image reports to the source gives all of the image, labels included.
    assert sentence.reorder(image.origin).words == image.words
    assert sentence.reorder(image.origin).tags == image.tags
    assert sentence.reorder(image.origin).heads == image.heads
    assert sentence.reorder(image.origin).relations == image.relations
    # a composition may tear a span and then bring its words together again: a torn span stays torn.
    assert labelled(sentence.reorder(image.origin)) == labelled(image)
    if not isinstance(transform, Compose):
        assert sentence.reorder(image.origin).spans == image.spans


def test_two_new_scripts_do_not_fit_one_table() -> None:
    with pytest.raises(ValueError, match="changes the script twice"):
        compose(Transliterate(), Transliterate(0.5)).image(300)


@law
@given(transforms(), st.integers(0, 9))
def test_a_redrawn_transform_is_the_same_difference(transform: Transform, by: int) -> None:
    redrawn = transform.redrawn(by)
    assert (redrawn.name, redrawn.title) == (transform.name, transform.title)
    assert transform.redrawn(0) == transform and redrawn.redrawn(1) == transform.redrawn(by + 1)


SMALL = Sentence(("a", "b"), ("VERB", "NOUN"), (-1, 0), ("root", "obj"))


def test_torn_spans_are_counted() -> None:
    account = Account()
    torn = Sentence(("New", "York", "."), spans=(Span(1, 3, "LOC"),))
    image_of(Invert(), torn, 0, account)
    assert account.split_spans == 1
    account.add(account)
    assert account == Account(split_spans=2)


def test_an_example_of_more_sentences_than_are_told_apart_is_refused() -> None:
    many = Example(((SMALL,) * 65_537,))
    with pytest.raises(BadInput, match="an example of 65,537 sentences; expected 65,536 at most"):
        image_of_example(Permute(), many, 0, Account())


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
    with pytest.raises(BadInput, match=r"of 12 answers are split into sub-words, such as .* more than 300 types"):
        check_answers(questions, learn_of_words(words, 300))
    check_answers((), learn_of_words(words, 300))
