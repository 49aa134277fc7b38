"""Composition, and what holds of every transform."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.order import Invert, Permute
from derive.script import Transliterate
from derive.sentence import Sentence
from derive.transform import Compose, Transform, compose, draw
from tests.derive.strategies import law, sentences, transforms


@law
@given(sentences(), transforms(), transforms(), st.integers(0, 2**40))
def test_composition_is_one_after_the_other(
    sentence: Sentence, outer: Transform, inner: Transform, number: int
) -> None:
    both = compose(outer, inner)
    assert both(sentence, number) == outer(inner(sentence, number), number)
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
    # A composition may tear a span and then bring its words together again: a torn span stays torn.
    assert labelled(sentence.reorder(image.origin)) == labelled(image)
    if not isinstance(transform, Compose):
        assert sentence.reorder(image.origin).spans == image.spans


def test_transliteration_after_inversion() -> None:
    both = compose(Transliterate(), Invert())
    assert both.name == "trans.inv"
    assert np.array_equal(both.image(300), Transliterate().image(300))
    assert both(Sentence(("Sara", "ate", "."))).words == ("ate", "Sara", ".")
    assert np.array_equal(compose(Invert(), Permute()).image(300), np.arange(300))


def test_compose_of_one_is_itself_and_of_none_an_error() -> None:
    assert compose(Invert()) == Invert()
    with pytest.raises(ValueError, match="nothing to compose"):
        compose()


def test_two_new_scripts_do_not_fit_one_table() -> None:
    with pytest.raises(ValueError, match="changes the script twice"):
        compose(Transliterate(), Transliterate(0.5)).image(300)


def test_draws_depend_on_seed_and_number_alone() -> None:
    assert draw(1, 2).random() == draw(1, 2).random()
    assert len({draw(seed, number).random() for seed in range(30) for number in range(30)}) == 900
