"""Transforms: compositions, their names, numbers and accounts; images hold a sentence's words and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.order import Invert, Permute
from calque.derive.pocket.facts import Facts
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sentence import PARTS, Sentence
from calque.derive.sources.pocket import PocketEnglish
from calque.derive.transform import (
    Compose,
    Transform,
    compose,
    image_of_question,
)
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
